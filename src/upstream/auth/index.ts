import type { AuthorizeOptions } from './authorize.ts';
import type { LoggedIn, LoginOptions } from './credentials.ts';
import type { LoggedOut } from './logout.ts';

export type { AuthorizeOptions, LoggedIn, LoggedOut, LoginOptions };
export { createAddressGuard } from './addresses.ts';
export { createGuardedFetch, UnreachableError } from './fetch.ts';
export { createLogin, loginState } from './login.ts';

// These bring the SDK along, which is large and which a stored login does not need.

/** See authorize.ts. */
export async function login(options: AuthorizeOptions): Promise<LoggedIn> {
  return (await import('./authorize.ts')).login(options);
}

/** See logout.ts. */
export async function logout(options: LoginOptions, signal: AbortSignal): Promise<LoggedOut> {
  return (await import('./logout.ts')).logout(options, signal);
}
