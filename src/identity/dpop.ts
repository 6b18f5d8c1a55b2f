import { createHash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from 'jose';
import { TokenRejected, type Claims } from './access-token.ts';

/** A request with a token that is bound to a key of its client. */
export interface BoundRequest {
  readonly token: string;
  /** The DPoP header. */
  readonly proof: string | undefined;
  readonly method: string;
  /** The URL as the client sees it, without the query. */
  readonly url: string;
}

/** How old a proof may be, in milliseconds, and how far in the future. */
const PROOF_MS = 60_000;
/** How many proofs are remembered. While there are more, none is accepted until old ones expire. */
const MOST_PROOFS = 100_000;
/** The longest accepted id of a proof, in characters. */
const MAX_ID_CHARS = 256;

/** Whether no gateway has seen a proof; it is remembered for so many milliseconds. Never rejects. */
export type FirstUse = (id: string, ms: number) => Promise<boolean>;

/** A proof of possession is not accepted. The message is the end of a sentence. */
export class ProofRejected extends TokenRejected {}

/** Checks that the sender of a token has the key it is bound to (RFC 9449). Each proof is accepted once. */
export class ProofChecker {
  readonly #algorithms: readonly string[];
  readonly #toleranceMs: number;
  readonly #isNew: FirstUse | undefined;
  /** The proofs seen so far, with their expiry; the oldest first. */
  readonly #seen = new Map<string, number>();

  /** `isNew` asks gateways that act as one. Default: this is the only one. */
  constructor(algorithms: readonly string[], toleranceMs: number, isNew?: FirstUse) {
    this.#algorithms = algorithms;
    this.#toleranceMs = toleranceMs;
    this.#isNew = isNew;
  }

  /** Throws ProofRejected. */
  async check(request: BoundRequest, { cnf }: Claims): Promise<void> {
    const bound = (cnf as { readonly jkt?: unknown } | undefined)?.jkt;
    if (request.proof === undefined) throw new ProofRejected('the request has no DPoP proof');
    const { thumbprint, claims } = await this.#verify(request.proof);
    if (thumbprint !== bound) throw new ProofRejected('the DPoP proof is made with another key');
    const { htm, htu, iat, jti, ath } = claims;
    if (htm !== request.method) throw new ProofRejected('the DPoP proof is for another method');
    if (typeof htu !== 'string' || !isSameAddress(htu, request.url))
      throw new ProofRejected('the DPoP proof is for another address');
    if (ath !== createHash('sha256').update(request.token).digest('base64url'))
      throw new ProofRejected('the DPoP proof is for another token');
    const madeAt = typeof iat === 'number' ? iat * 1000 : NaN;
    const window = PROOF_MS + this.#toleranceMs;
    if (!(Math.abs(Date.now() - madeAt) <= window))
      throw new ProofRejected('the DPoP proof is too old, or from the future');
    if (typeof jti !== 'string' || jti === '' || jti.length > MAX_ID_CHARS)
      throw new ProofRejected('the DPoP proof has no usable jti');
    const id = `${thumbprint} ${jti}`;
    this.#remember(id, madeAt + window);
    if ((await this.#isNew?.(id, madeAt + window - Date.now())) === false) throw usedBefore();
  }

  async #verify(proof: string): Promise<{ readonly thumbprint: string; readonly claims: Claims }> {
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        algorithms: [...this.#algorithms],
        typ: 'dpop+jwt',
      });
      const { jwk } = protectedHeader;
      if (jwk === undefined) throw new ProofRejected('the DPoP proof has no key');
      return { thumbprint: await calculateJwkThumbprint(jwk, 'sha256'), claims: payload };
    } catch (error) {
      if (error instanceof errors.JOSEError) throw new ProofRejected('the DPoP proof is not valid');
      throw error;
    }
  }

  /** Rejects a proof that is used a second time before it expires. */
  #remember(id: string, endsAt: number): void {
    const now = Date.now();
    // They expire roughly in the order in which they arrive.
    for (const [seen, end] of this.#seen) {
      if (end > now) break;
      this.#seen.delete(seen);
    }
    if (this.#seen.has(id)) throw usedBefore();
    if (this.#seen.size >= MOST_PROOFS) throw new ProofRejected('too many DPoP proofs arrive at once');
    this.#seen.set(id, endsAt);
  }
}

function usedBefore(): ProofRejected {
  return new ProofRejected('the DPoP proof was used before');
}

function isSameAddress(one: string, other: string): boolean {
  if (!URL.canParse(one)) return false;
  const [a, b] = [new URL(one), new URL(other)];
  return a.origin === b.origin && a.pathname === b.pathname;
}
