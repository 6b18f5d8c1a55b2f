import { withKernelLock } from '../../process/index.ts';
import type { Home } from '../state/home.ts';

/**
 * Commands of several projects share the forwarder of their home: they take turns, so that none of them asks it for a
 * port while it ends with its last one. Inside the lock of a project, outside that of the state.
 */
export function withForwarder<T>(home: Home, what: string, work: () => Promise<T>): Promise<T> {
  return withKernelLock(home.lockName('forward'), work, { what, timeoutMs: 60_000 });
}
