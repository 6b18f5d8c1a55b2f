/** Who has sent a request. */
export interface Caller {
  /** Tells callers apart: what belongs to one principal, no other one sees. */
  readonly principal: string;
  /** The name of its access token; undefined for a caller that an identity provider knows. */
  readonly token?: string | undefined;
  /** What the identity provider says of it. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** When its access ends, in milliseconds since 1970. Default: when its token is revoked. */
  readonly expiresAt?: number | undefined;
}

/** Access as an identity provider grants it: what checks its tokens, and where clients learn of it. */
export interface ProtectedResource {
  /** The metadata that leads clients to their identity provider, if the request is for that. */
  metadataAt(path: string): string | undefined;
  /** Decides whether a token lets its sender in. Never rejects. */
  verify(request: TokenRequest): Promise<VerifiedToken | TokenRefusal>;
  /** The `WWW-Authenticate` header for a request without a token. */
  readonly challenge: string;
}

/** A request with a token. */
export interface TokenRequest {
  /** Of the Authorization header: `bearer` or `dpop`. */
  readonly scheme: string;
  readonly token: string;
  /** The DPoP header: proof that the sender has the key that the token is bound to. */
  readonly proof: string | undefined;
  readonly method: string;
  /** Of the URL, without the query. */
  readonly path: string;
}

export interface VerifiedToken {
  readonly caller: Caller;
  /** Until when the same header lets in without another check, in milliseconds since 1970. */
  readonly checkedUntil: number;
}

export interface TokenRefusal {
  readonly status: 401 | 403 | 503;
  /** Why, and what to do, as sentences. */
  readonly message: string;
  /** The same in few words, for the log. */
  readonly why: string;
  readonly headers: Readonly<Record<string, string>>;
}
