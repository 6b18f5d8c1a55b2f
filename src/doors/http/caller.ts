/** The sender of a request. */
export interface Caller {
  /** Identifies the caller: what belongs to one principal is invisible to all others. */
  readonly principal: string;
  /** The name of its access token; undefined for a caller known through an identity provider. */
  readonly token?: string | undefined;
  /** The identity provider's claims about the caller. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
  /** When its access ends, in milliseconds since 1970. Default: when its token is revoked. */
  readonly expiresAt?: number | undefined;
}

/** Access granted by an identity provider: checks its tokens, and tells clients where to get them. */
export interface ProtectedResource {
  /** The metadata that leads clients to their identity provider; undefined if the request is not for it. */
  metadataAt(path: string): string | undefined;
  /** Decides whether a token grants access. Never rejects. */
  verify(request: TokenRequest): Promise<VerifiedToken | TokenRefusal>;
  /** The `WWW-Authenticate` header for a request without a token. */
  readonly challenge: string;
}

/** A request with a token. */
export interface TokenRequest {
  /** The scheme of the Authorization header: `bearer` or `dpop`. */
  readonly scheme: string;
  readonly token: string;
  /** The DPoP header, which proves that the sender has the key that the token is bound to. */
  readonly proof: string | undefined;
  readonly method: string;
  /** The path of the URL, without the query. */
  readonly path: string;
}

export interface VerifiedToken {
  readonly caller: Caller;
  /** How long the same header is accepted without another check, in milliseconds since 1970. */
  readonly checkedUntil: number;
}

export interface TokenRefusal {
  readonly status: 401 | 403 | 503;
  /** The reason and the next step, as sentences. */
  readonly message: string;
  /** The reason in a few words, for the log. */
  readonly why: string;
  readonly headers: Readonly<Record<string, string>>;
}
