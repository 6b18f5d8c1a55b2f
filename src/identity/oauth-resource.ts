import { sha256 } from '../shared/sha256.ts';
import type { Logger } from '../shared/log.ts';
import { messageOf } from '../shared/errors.ts';
import { SIGNATURE_ALGORITHMS } from '../shared/signature-algorithms.ts';
import { scopesOf, TokenRejected, verifyJwt, type Claims } from './access-token.ts';
import { ProofChecker, ProofRejected, type FirstUse } from './dpop.ts';
import { introspect, type IntrospectionSettings } from './introspection.ts';
import { Issuer, IssuerUnavailable, type BoundedFetch } from './issuer.ts';
import { issuerKeys } from './key-set.ts';

export interface OAuthResourceOptions {
  /** The identity provider's issuer URL, exactly as it is in the metadata. */
  readonly issuer: string;
  /** The address that clients use for this gateway. */
  readonly resource: string;
  /** Accepted values of `aud`. Default: the resource. */
  readonly audience?: readonly string[] | undefined;
  /** Scopes that every token must have. */
  readonly scopes: readonly string[];
  /** Default: `SIGNATURE_ALGORITHMS`. */
  readonly algorithms?: readonly string[] | undefined;
  /** Where the keys are published. Default: as the issuer's metadata says. */
  readonly jwksUri?: string | undefined;
  /** The claim that identifies users. */
  readonly principalClaim: string;
  /** How far clocks may differ, in milliseconds. */
  readonly clockToleranceMs: number;
  /** How to ask the issuer about each token. Default: tokens are JWTs, verified with the issuer's keys. */
  readonly introspection?: IntrospectionSettings | undefined;
  /** Whether tokens must be bound to a key. */
  readonly dpop: 'optional' | 'required';
  /** Whether a proof of possession is new to all gateways that act as one. Default: this is the only one. */
  readonly isNewProof?: FirstUse | undefined;
  /** The claims that roles look at, as text: tokens that differ in them get separate workspaces. */
  readonly roleClaims: (claims: Claims) => string;
  readonly fetch: BoundedFetch;
  readonly log: Logger;
}

/** A caller with a valid token. */
interface Caller {
  readonly principal: string;
  readonly claims: Claims;
  readonly expiresAt: number | undefined;
}

interface Request {
  readonly scheme: string;
  readonly token: string;
  readonly proof: string | undefined;
  readonly method: string;
  readonly path: string;
}

interface Refusal {
  readonly status: 401 | 403 | 503;
  readonly message: string;
  readonly why: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How long a checked token is not checked again, in milliseconds: its key may be withdrawn. */
const CHECKED_MS = 60_000;
/** How many checked tokens are remembered. */
const MOST_CHECKED = 2000;

/** This gateway as a protected resource of an identity provider (OAuth 2.1, RFC 9728). */
export class OAuthResource {
  readonly challenge: string;
  readonly #options: OAuthResourceOptions;
  readonly #metadata: string;
  readonly #metadataUrl: string;
  readonly #path: string;
  readonly #origin: string;
  readonly #checkedMs: number;
  readonly #proofs: ProofChecker;
  readonly #issuer: Issuer;
  readonly #keys: ReturnType<typeof issuerKeys>;
  /** By the hash of the token, the most recent last. */
  readonly #checked = new Map<string, { readonly claims: Claims; readonly until: number }>();

  constructor(options: OAuthResourceOptions) {
    const { issuer, resource, scopes, jwksUri, fetch } = options;
    const { origin, pathname } = new URL(resource);
    this.#options = options;
    this.#origin = origin;
    this.#checkedMs = options.introspection?.cacheMs ?? CHECKED_MS;
    this.#proofs = new ProofChecker(SIGNATURE_ALGORITHMS, options.clockToleranceMs, options.isNewProof);
    this.#path = pathname.replace(/\/$/, '');
    this.#metadataUrl = `${origin}${WELL_KNOWN}${this.#path}`;
    this.#metadata = JSON.stringify({
      resource,
      authorization_servers: [issuer],
      ...(scopes.length === 0 ? {} : { scopes_supported: scopes }),
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: SIGNATURE_ALGORITHMS,
      ...(options.dpop === 'required' ? { dpop_bound_access_tokens_required: true } : {}),
      resource_name: 'Switchboard',
    });
    this.challenge = this.#challenge();
    this.#issuer = new Issuer(issuer, fetch);
    this.#keys = issuerKeys(this.#issuer, jwksUri === undefined ? undefined : new URL(jwksUri), fetch);
  }

  /** The metadata of this resource, at its own well-known path and at that of the host. */
  metadataAt(path: string): string | undefined {
    return path === WELL_KNOWN || path === `${WELL_KNOWN}${this.#path}` ? this.#metadata : undefined;
  }

  async verify(request: Request): Promise<{ caller: Caller; checkedUntil: number } | Refusal> {
    try {
      const { claims, until } = await this.#check(request.token);
      await this.#checkProof(request, claims);
      return this.#missingScopes(claims) ?? { caller: this.#callerOf(claims), checkedUntil: until };
    } catch (error) {
      if (error instanceof ProofRejected) return this.#invalid(error.message, 'invalid_dpop_proof');
      if (error instanceof TokenRejected) return this.#invalid(error.message);
      return this.#unavailable(error);
    }
  }

  async #check(token: string): Promise<{ readonly claims: Claims; readonly until: number }> {
    const key = sha256(token);
    const known = this.#checked.get(key);
    if (known !== undefined && Date.now() < known.until) return known;
    const claims = await this.#claimsOf(token);
    const expiresAt = expiryOf(claims, this.#options.clockToleranceMs) ?? Infinity;
    const checked = { claims, until: Math.min(Date.now() + this.#checkedMs, expiresAt) };
    this.#checked.delete(key);
    this.#checked.set(key, checked);
    const [oldest] = this.#checked.size > MOST_CHECKED ? this.#checked.keys() : [];
    if (oldest !== undefined) this.#checked.delete(oldest);
    return checked;
  }

  /** A token that is bound to a key is useless without that key, whatever scheme it is sent with. */
  async #checkProof({ scheme, token, proof, method, path }: Request, claims: Claims): Promise<void> {
    const isBound = claims.cnf !== undefined;
    if (isBound !== (scheme === 'dpop'))
      throw new TokenRejected(
        isBound
          ? 'it is bound to a key and must be sent with the scheme DPoP'
          : 'it is not bound to a key and must be sent with the scheme Bearer',
      );
    if (isBound) await this.#proofs.check({ token, proof, method, url: this.#origin + path }, claims);
    else if (this.#options.dpop === 'required') throw new TokenRejected('it is not bound to a key (DPoP)');
  }

  #claimsOf(token: string): Promise<Claims> {
    const { issuer, resource, audience = [resource], algorithms = SIGNATURE_ALGORITHMS } = this.#options;
    const { clockToleranceMs, introspection, fetch } = this.#options;
    const rules = { issuer, audience, algorithms, clockTolerance: clockToleranceMs / 1000 };
    if (introspection === undefined) return verifyJwt(token, this.#keys, rules);
    return introspect(token, { settings: introspection, issuer: this.#issuer, rules, fetch });
  }

  #callerOf(claims: Claims): Caller {
    const { issuer, principalClaim, roleClaims, clockToleranceMs } = this.#options;
    const name = claims[principalClaim];
    if (typeof name !== 'string' || name === '')
      throw new TokenRejected(`it has no claim "${principalClaim}" that names its user`);
    const parts = [issuer, encodeURIComponent(name)];
    const differing = roleClaims(claims);
    if (differing !== '') parts.push(sha256(differing).slice(0, 16));
    return { principal: parts.join(' '), claims, expiresAt: expiryOf(claims, clockToleranceMs) };
  }

  #missingScopes(claims: Claims): Refusal | undefined {
    const { scopes } = this.#options;
    const had = scopesOf(claims);
    const missing = scopes.filter((scope) => !had.has(scope));
    if (missing.length === 0) return undefined;
    return {
      status: 403,
      message: `Forbidden: the token lacks the scope ${missing.join(' ')}. Log in again with it.`,
      why: 'insufficient scope',
      headers: { 'WWW-Authenticate': this.#challenge({ error: 'insufficient_scope' }) },
    };
  }

  #invalid(why: string, code = 'invalid_token'): Refusal {
    return {
      status: 401,
      message: `Unauthorized: the token is not accepted, because ${why}. Log in again.`,
      why: `token: ${why}`,
      headers: {
        'WWW-Authenticate': this.#challenge({ error: code, error_description: why }),
      },
    };
  }

  #unavailable(error: unknown): Refusal {
    const { issuer, log } = this.#options;
    const known = error instanceof IssuerUnavailable;
    log.warn('the identity provider cannot be asked', { issuer, reason: messageOf(error) });
    return {
      status: 503,
      message:
        'Service unavailable: the token cannot be checked, because the identity provider ' +
        `${known ? 'is not reachable' : 'could not be asked'}. Try again in a moment.`,
      why: 'the identity provider is not reachable',
      headers: { 'Retry-After': '5' },
    };
  }

  /** Tells a client where to get a token, and what is wrong with the one it sent (RFC 6750, RFC 9728). */
  #challenge(error: Readonly<Record<string, string>> = {}): string {
    const { scopes } = this.#options;
    const members = {
      resource_metadata: this.#metadataUrl,
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      ...error,
    };
    const quoted = Object.entries(members).map(
      ([name, value]) => `${name}="${value.replace(/["\\]/g, "'")}"`,
    );
    const algorithms = `algs="${SIGNATURE_ALGORITHMS.join(' ')}"`;
    if (this.#options.dpop === 'required') return `DPoP ${[...quoted, algorithms].join(', ')}`;
    return `Bearer ${quoted.join(', ')}, DPoP ${algorithms}`;
  }
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** When a token expires, in milliseconds since 1970. */
function expiryOf({ exp }: Claims, toleranceMs: number): number | undefined {
  return typeof exp === 'number' ? exp * 1000 + toleranceMs : undefined;
}
