import { randomBytes } from 'node:crypto';
import { SERVICE_COOKIE } from '../../process/index.ts';
import type { Home } from '../state/home.ts';

/**
 * The environment variable by which the processes of a service are known, whoever started them and whenever. All
 * descendants inherit it, also those that leave the session.
 */
export const COOKIE = SERVICE_COOKIE;

/** A value that no other start has. Its beginning names the home, so that two homes never touch each other's. */
export function newCookie(home: Home): string {
  return `${home.hash}.${randomBytes(16).toString('hex')}`;
}
