import { withLock } from '../../process/index.ts';
import type { Home } from '../state/home.ts';

/**
 * Commands of several projects share the forwarder of their home. They take turns, so that no command requests a port
 * while the forwarder exits with its last one. Taken inside the lock of a project, outside that of the state.
 */
export function withForwarder<T>(home: Home, what: string, work: () => Promise<T>): Promise<T> {
  return withLock(home.lockName('forward'), work, { what, timeoutMs: 60_000 });
}
