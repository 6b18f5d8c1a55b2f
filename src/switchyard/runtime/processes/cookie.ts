import { randomBytes } from 'node:crypto';
import type { Home } from '../../records/state/home.ts';

/**
 * A unique value for each start. Its prefix identifies the home, so that two homes never touch each other's processes.
 */
export function newCookie(home: Home): string {
  return `${home.hash}.${randomBytes(16).toString('hex')}`;
}
