import { silentLogger } from '../../src/shared/log.ts';
import type { UpstreamContext } from '../../src/upstream/index.ts';

/** Remembers nothing. */
export const NO_MEMORY: UpstreamContext['cache'] = {
  about: undefined,
  framing: undefined,
  list: () => undefined,
  learn: () => undefined,
  learnList: () => undefined,
};

/** Surroundings in which a server may do as it likes, and nobody keeps or hears anything of it. */
export function quietSurroundings(
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
    cache: NO_MEMORY,
    stateChanged: () => undefined,
    listed: () => undefined,
    ...more,
  };
}
