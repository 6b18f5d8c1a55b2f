import { silentLogger } from '../../src/shared/log.ts';
import type { UpstreamContext } from '../../src/upstream/index.ts';

/** A cache that stores nothing. */
export const NO_CACHE: UpstreamContext['cache'] = {
  about: undefined,
  framing: undefined,
  list: () => undefined,
  learn: () => undefined,
  learnList: () => undefined,
};

/** A context that allows every start, logs nothing and caches nothing. */
export function testUpstreamContext(
  children: UpstreamContext['children'],
  more: Partial<UpstreamContext> = {},
): UpstreamContext {
  return {
    children: children,
    log: silentLogger,
    stderr: () => undefined,
    identity: () => ({ clientInfo: { name: 'test', version: '1' }, capabilities: {} }),
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
