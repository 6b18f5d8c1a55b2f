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

/** The login to a server: that of a person, which is stored, or that of a service. */
export async function openLogin(options: LoginOptions): Promise<Login> {
  if (options.oauth.grant === undefined) return createLogin(options);
  return (await import('./service-login.ts')).createServiceLogin(options);
}

// These bring the SDK along, which is large and which a stored login does not need.

/** See authorize.ts. */
export async function login(options: AuthorizeOptions): Promise<LoggedIn> {
  return (await import('./authorize.ts')).login(options);
}

/** See logout.ts. */
export async function logout(options: LoginOptions, signal: AbortSignal): Promise<LoggedOut> {
  return (await import('./logout.ts')).logout(options, signal);
}
