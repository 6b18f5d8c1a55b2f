import { closeSync, openSync, readSync } from 'node:fs';
import { SERVICE_COOKIE } from '../../process/index.ts';
import type { Home } from '../state/home.ts';

/**
 * The environment variable that marks the processes of a service, no matter which process started them or when. All
 * descendants inherit it, including those that leave the session.
 */
export const COOKIE = SERVICE_COOKIE;

/**
 * A unique value for each start. Its prefix identifies the home, so that two homes never touch each other's processes.
 */
export function newCookie(home: Home): string {
  return `${home.hash}.${random(16).toString('hex')}`;
}

/** Random bytes. Reading them from a system file is much faster than loading Node's crypto module. */
function random(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  // On Windows, any user could create a file with this name.
  if (process.platform === 'win32') return crypto.getRandomValues(bytes);
  let file: number | undefined;
  try {
    file = openSync('/dev/urandom', 'r');
    if (readSync(file, bytes, 0, length, null) === length) return bytes;
  } catch {
    // Not every container has it.
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return crypto.getRandomValues(bytes);
}
