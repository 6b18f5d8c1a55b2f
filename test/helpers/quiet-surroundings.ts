import { silentLogger } from '../../src/shared/log.ts';
import type { Surroundings } from '../../src/upstream/index.ts';

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
    inTurn: (_server, start) => start(),
    recall: () => undefined,
    remember: () => undefined,
    stateChanged: () => undefined,
    listed: () => undefined,
    ...more,
  };
}
