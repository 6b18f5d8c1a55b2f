import { closeSync, openSync, readSync } from 'node:fs';
import { SERVICE_COOKIE } from '../../process/index.ts';
import type { Home } from '../state/home.ts';

/**
 * The environment variable that marks the processes of a service, no matter which process started them or when. All
 * descendants inherit it, including those that leave the session.
 */
export const COOKIE = SERVICE_COOKIE;

/** A value that no other start has. Its beginning names the home, so that two homes never touch each other's. */
export function newCookie(home: Home): string {
  return `${home.hash}.${random(16).toString('hex')}`;
}

/** Bytes that nobody can guess. Where the system has a file of them, that is much quicker than to load what Node has. */
function random(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  // There the name would be one that anybody may give to a file.
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
