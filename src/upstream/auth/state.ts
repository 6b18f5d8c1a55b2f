import { endsWithin, isMadeFor } from './credentials.ts';
import type { LoginOptions } from './settings.ts';
import { createStore } from './store.ts';

/** The state of the login to a server, as far as it is known without a request. */
export type LoginState =
  | { readonly kind: 'none' }
  | {
      /** `expired`: the token is over and nothing can renew it. */
      readonly kind: 'logged-in' | 'expired';
      readonly issuer: string;
      readonly scope: string | undefined;
      /** When the token ends, in milliseconds since 1970; undefined where the issuer did not say. */
      readonly expiresAt: number | undefined;
      /** Whether it is renewed without the person. */
      readonly renewable: boolean;
    };

export function loginState(options: LoginOptions): LoginState {
  const stored = createStore(options).read();
  if (stored?.tokens === undefined || !isMadeFor(options.oauth, stored)) return { kind: 'none' };
  const { issuer, tokens } = stored;
  const renewable = tokens.refresh !== undefined;
  const kind = endsWithin(tokens, 0) && !renewable ? 'expired' : 'logged-in';
  return { kind, issuer, scope: tokens.scope, expiresAt: tokens.expiresAt, renewable };
}
