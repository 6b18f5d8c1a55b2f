import { silentLogger } from '../../src/shared/log.ts';
import type { SourceInfo } from '../../src/gateway/index.ts';
import type { ChildProcesses } from '../../src/process/index.ts';
import { eraOfVersion } from '../../src/protocol/index.ts';
import type { UpstreamContext } from '../../src/upstream/index.ts';

/** A cache that stores nothing. */
export const NO_CACHE: UpstreamContext['cache'] = {
  about: undefined,
  framing: undefined,
  support: {},
  list: () => undefined,
  learn: () => undefined,
  learnList: () => undefined,
};

/** A cache of facts without a file, which starts with what a server said in an earlier run. */
export function factsCache(recalled?: SourceInfo): UpstreamContext['cache'] {
  let about = recalled;
  let support: UpstreamContext['cache']['support'] =
    recalled === undefined ? {} : { [eraOfVersion(recalled.protocolVersion)]: true };
  return {
    ...NO_CACHE,
    get about() {
      return about;
    },
    get support() {
      return support;
    },
    learn: (facts) => {
      about = facts.about ?? about;
      support = { ...support, ...facts.support };
    },
  };
}

/** A context that allows every start, logs nothing and caches nothing. */
export function testUpstreamContext(
  children: ChildProcesses,
  more: Partial<UpstreamContext> = {},
): UpstreamContext {
  return {
    children: () => Promise.resolve(children),
    log: silentLogger,
    stderr: () => undefined,
    identity: () => ({ clientInfo: { name: 'test', version: '1' }, capabilities: {} }),
    era: () => undefined,
    other: () => undefined,
    startHint: 'Look.',
    mayNotStart: () => undefined,
    inTurn: ({ run }) => run(() => undefined),
    callerMs: Infinity,
    cache: NO_CACHE,
    stateChanged: () => undefined,
    listed: () => undefined,
    ...more,
  };
}
