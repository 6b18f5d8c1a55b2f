import { randomBytes } from 'node:crypto';
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
  return `${home.hash}.${randomBytes(16).toString('hex')}`;
}
