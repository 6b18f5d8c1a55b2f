import type { LoginKeychain, LoginOptions } from './auth/index.ts';

export type { LoginKeychain };

/** What gets us past the door of a remote server, where no header of its configuration does. */
export interface Login {
  /** The value of the Authorization header to send now; undefined where nobody has logged in. Never rejects. */
  authorization(): Promise<string | undefined>;
  /**
   * The DPoP header of one request, for an Authorization header of that type (RFC 9449): a proof that we have the key of
   * the token. Undefined where we have it no more. Never rejects.
   */
  proof(request: ProvenRequest): Promise<string | undefined>;
  /**
   * The server did not accept what was sent (`refused`, undefined where nothing was). All who ask at one time share one
   * answer. Never rejects.
   */
  renewed(refused: string | undefined, challenge: string | undefined): Promise<Renewed>;
}

export interface ProvenRequest {
  readonly authorization: string;
  readonly method: string;
  readonly url: URL;
  /** What the server wants to see in the proof. Default nothing. */
  readonly nonce: string | undefined;
}

/** What there is in the place of a login that was refused. */
export type Renewed =
  /** Another value, worth one more try. */
  { readonly kind: 'renewed'; readonly authorization: string } | NotRenewed;

export type NotRenewed =
  /** Nothing, until a person logs in. */
  | { readonly kind: 'person' }
  /**
   * The server wants more rights than the login has: `scope` where it names them. A person can get them by logging in
   * again; where `configured`, only after changing the configuration, which says what to ask for.
   */
  | { readonly kind: 'rights'; readonly scope: string | undefined; readonly configured: boolean }
  /** Nothing now, and logging in would not help. The reason is the end of a sentence, without its full stop. */
  | { readonly kind: 'unavailable'; readonly reason: string };

/** The code for logins, which few runs of the program need. */
export const loadAuth = () => import('./auth/index.ts');

/** A login whose code is loaded when it is first asked: servers that take no login never need it. */
export function lazyLogin(options: LoginOptions): Login {
  let made: Promise<Login> | undefined;
  const get = (): Promise<Login> => (made ??= loadAuth().then(({ openLogin }) => openLogin(options)));
  return {
    authorization: async () => (await get()).authorization(),
    proof: async (request) => (await get()).proof(request),
    renewed: async (refused, challenge) => (await get()).renewed(refused, challenge),
  };
}
