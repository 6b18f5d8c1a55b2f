import type { LoginKeychain, LoginOptions } from './auth/index.ts';

export type { LoginKeychain };

/** What authenticates us to a remote server if its configured headers do not. */
export interface Login {
  /** The value of the Authorization header to send now; undefined if nobody has logged in. Never rejects. */
  authorization(): Promise<string | undefined>;
  /**
   * The DPoP header of one request, for an Authorization header of that type (RFC 9449). It proves that we have the key
   * of the token. Undefined if we no longer have it. Never rejects.
   */
  proof(request: ProvenRequest): Promise<string | undefined>;
  /**
   * Called when the server rejected what was sent (`refused`, undefined if nothing was sent). Simultaneous callers
   * share one result. Never rejects.
   */
  renewed(refused: string | undefined, challenge: string | undefined): Promise<Renewed>;
}

export interface ProvenRequest {
  readonly authorization: string;
  readonly method: string;
  readonly url: URL;
  /** The nonce that the server requires in the proof. Default: none. */
  readonly nonce: string | undefined;
}

/** What replaces a rejected login. */
export type Renewed =
  /** Another value, worth one more attempt. */
  { readonly kind: 'renewed'; readonly authorization: string } | NotRenewed;

export type NotRenewed =
  /** Nothing, until a person logs in. */
  | { readonly kind: 'person' }
  /**
   * The server requires more scopes than the login has: `scope`, if it names them. A person can get them by logging in
   * again or, if `configured`, only after changing the scopes in the configuration.
   */
  | { readonly kind: 'rights'; readonly scope: string | undefined; readonly configured: boolean }
  /** Nothing now, and logging in would not help. The reason is the end of a sentence, without a full stop. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The code for logins, which is rarely needed. */
export const loadAuth = () => import('./auth/index.ts');

/** A login whose code is loaded on first use: servers without logins never need it. */
export function lazyLogin(options: LoginOptions): Login {
  let made: Promise<Login> | undefined;
  const get = (): Promise<Login> => (made ??= loadAuth().then(({ openLogin }) => openLogin(options)));
  return {
    authorization: async () => (await get()).authorization(),
    proof: async (request) => (await get()).proof(request),
    renewed: async (refused, challenge) => (await get()).renewed(refused, challenge),
  };
}
