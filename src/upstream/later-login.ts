import type { Login } from './login.ts';
import type { LoginOptions } from './auth/index.ts';

/** The code for logins, which few runs of the program need. */
export const loadAuth = () => import('./auth/index.ts');

/** A login whose code is loaded when it is first asked: servers that take no login never need it. */
export function laterLogin(options: LoginOptions): Login {
  let made: Promise<Login> | undefined;
  const get = (): Promise<Login> => (made ??= loadAuth().then(({ createLogin }) => createLogin(options)));
  return {
    authorization: async () => (await get()).authorization(),
    renewed: async (refused, challenge) => (await get()).renewed(refused, challenge),
  };
}
