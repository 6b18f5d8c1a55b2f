import type { AuthorizeOptions } from './authorize.ts';
import type { LoggedIn, LoginKeychain, LoginOptions } from './credentials.ts';
import { createLogin } from './login.ts';
import type { LoggedOut } from './logout.ts';
import type { Login } from '../login.ts';

export type { AuthorizeOptions, LoggedIn, LoggedOut, LoginKeychain, LoginOptions };
export { createAddressGuard } from './addresses.ts';
export { createGuardedFetch, UnreachableError } from './fetch.ts';
export { listLogins, type StoredLogin } from './list-logins.ts';
export { loginState } from './login.ts';

/** Opens the login to a server: a person's, which is stored, or a service's. */
export async function openLogin(options: LoginOptions): Promise<Login> {
  if (options.oauth.grant === undefined) return createLogin(options);
  return (await import('./service-login.ts')).createServiceLogin(options);
}

// These load the SDK, which is large and not needed for a stored login.

/** See authorize.ts. */
export async function login(options: AuthorizeOptions): Promise<LoggedIn> {
  return (await import('./authorize.ts')).login(options);
}

/** See logout.ts. */
export async function logout(options: LoginOptions, signal: AbortSignal): Promise<LoggedOut> {
  return (await import('./logout.ts')).logout(options, signal);
}
