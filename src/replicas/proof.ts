import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** A request that one replica passes on to another. */
export interface PassedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** The session it belongs to; empty for none. */
  readonly session: string;
}

/** Who passes on a request, and on whose behalf. */
export interface ProofContent {
  readonly from: string;
  readonly to: string;
  /** The sender of the request, as identified by the first replica: any text. */
  readonly caller: string;
}

/** How far the clocks of two replicas may differ, in milliseconds. */
const CLOCK_MS = 30_000;
const VERSION = '1';
/** All headers of a request share 16 kB. */
const LONGEST = 12_288;

/** Proves to a replica that a request comes from another one. Each proof is valid for one request, once. */
export function writeProof(key: Buffer, content: ProofContent, request: PassedRequest): string {
  const { from, to, caller } = content;
  const nonce = randomBytes(12).toString('base64url');
  const signed = [VERSION, from, to, String(Date.now()), nonce, Buffer.from(caller).toString('base64url')];
  return [...signed, signatureOf(key, signed, request)].join('.');
}

/** Checks proofs, and remembers them for as long as they could be sent again. */
export class ProofReader {
  readonly #self: string;
  #seen = new Set<string>();
  #seenBefore = new Set<string>();
  #since = Date.now();

  /** `self` is the replica that the proofs must be for. */
  constructor(self: string) {
    this.#self = self;
  }

  /** The sender of a proven request; otherwise undefined. */
  read(proof: string, keys: readonly Buffer[], request: PassedRequest): string | undefined {
    if (proof.length > LONGEST) return undefined;
    const parts = proof.split('.');
    if (parts.length !== 7) return undefined;
    const [version, , to, time, nonce, caller, signature] = parts as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const signed = parts.slice(0, -1);
    const isSigned = keys.some((key) => isSame(signature, signatureOf(key, signed, request)));
    if (!isSigned || version !== VERSION || to !== this.#self) return undefined;
    if (Math.abs(Date.now() - Number(time)) > CLOCK_MS || !this.#isFirst(nonce)) return undefined;
    return Buffer.from(caller, 'base64url').toString();
  }

  #isFirst(nonce: string): boolean {
    // A proof is valid for less than two of these intervals.
    if (Date.now() - this.#since > 2 * CLOCK_MS) {
      this.#seenBefore = this.#seen;
      this.#seen = new Set();
      this.#since = Date.now();
    }
    if (this.#seen.has(nonce) || this.#seenBefore.has(nonce)) return false;
    this.#seen.add(nonce);
    return true;
  }
}

function signatureOf(
  key: Buffer,
  signed: readonly string[],
  { method, url, session }: PassedRequest,
): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([...signed, method, url, session]))
    .digest('base64url');
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
