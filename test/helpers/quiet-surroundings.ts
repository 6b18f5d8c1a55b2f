import { silentLogger } from '../../src/shared/log.ts';
import type { Surroundings } from '../../src/upstream/index.ts';

/** Remembers nothing. */
export const NO_MEMORY: Surroundings['memory'] = {
  about: undefined,
  framing: undefined,
  list: () => undefined,
  learn: () => undefined,
  learnList: () => undefined,
};

/** Surroundings in which a server may do as it likes, and nobody keeps or hears anything of it. */
export function quietSurroundings(
  family: Surroundings['family'],
  more: Partial<Surroundings> = {},
): Surroundings {
  return {
    family,
    log: silentLogger,
    stderr: () => undefined,
    greeting: () => ({ clientInfo: { name: 'test', version: '1' }, capabilities: {} }),
    startHint: 'Look.',
    mayNotStart: () => undefined,
    inTurn: ({ run }) => run(() => undefined),
    callerMs: Infinity,
    memory: NO_MEMORY,
    stateChanged: () => undefined,
    listed: () => undefined,
    ...more,
  };
}
