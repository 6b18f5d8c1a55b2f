// Tokens that are bound to a key (RFC 9449): every request proves that its sender has the key.

import {
  createECDH,
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  randomUUID,
  sign,
  type KeyObject,
} from 'node:crypto';
import { SwitchboardError } from '../../shared/errors.ts';
import { nonceIn } from '../dpop-nonce.ts';
import type { OAuthOptions } from './credentials.ts';
import type { Fetch } from './fetch.ts';

/** The request that a proof is for. */
export interface Proven {
  readonly method: string;
  readonly url: URL;
  /** The token that is sent with it. Default: none, because one is being requested. */
  readonly token?: string | undefined;
  /** The nonce that the receiver requires. Default: none. */
  readonly nonce?: string | undefined;
}

/** The only algorithm we use, which every issuer with DPoP should support. */
const ALGORITHM = 'ES256';

/** The key of one login, and its issuer's latest nonce. */
export class ProofKey {
  readonly #secret: string;
  readonly #key: KeyObject;
  readonly #header: string;
  #nonce: { readonly origin: string; readonly value: string } | undefined;

  static create(): ProofKey {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return new ProofKey(privateKey.export({ format: 'jwk' }).d ?? '');
  }

  constructor(secret: string) {
    this.#secret = secret;
    const curve = createECDH('prime256v1');
    curve.setPrivateKey(secret, 'base64url');
    // The first byte says that both coordinates follow.
    const point = curve.getPublicKey();
    const jwk = {
      kty: 'EC',
      crv: 'P-256',
      x: base64url(point.subarray(1, 33)),
      y: base64url(point.subarray(33)),
    };
    this.#key = createPrivateKey({ key: { ...jwk, d: secret }, format: 'jwk' });
    this.#header = encoded({ typ: 'dpop+jwt', alg: ALGORITHM, jwk });
  }

  /** The private key in the form stored with the tokens: the number `d` of a P-256 key. */
  get secret(): string {
    return this.#secret;
  }

  /** The DPoP header of one request. */
  proof({ method, url, token, nonce }: Proven): string {
    const claims = encoded({
      jti: randomUUID(),
      htm: method,
      htu: url.origin + url.pathname,
      iat: Math.floor(Date.now() / 1000),
      ath: token === undefined ? undefined : createHash('sha256').update(token).digest('base64url'),
      nonce,
    });
    const signed = `${this.#header}.${claims}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${base64url(signature)}`;
  }

  /** Returns a fetch function that adds a proof to token requests. */
  fetch(fetch: Fetch): Fetch {
    return (address, init = {}) => this.send(fetch, new URL(address), () => init);
  }

  /** Sends a token request with a proof, and repeats it once if the issuer requires its nonce. */
  async send(fetch: Fetch, url: URL, init: () => RequestInit | Promise<RequestInit>): Promise<Response> {
    const first = await this.#sendOnce(fetch, url, init);
    return (await wantsNonce(first)) ? this.#sendOnce(fetch, url, init) : first;
  }

  async #sendOnce(fetch: Fetch, url: URL, init: () => RequestInit | Promise<RequestInit>): Promise<Response> {
    const given = await init();
    const { method = 'GET' } = given;
    const nonce = this.#nonce?.origin === url.origin ? this.#nonce.value : undefined;
    const headers = new Headers(given.headers);
    headers.set('dpop', this.proof({ method, url, nonce }));
    const response = await fetch(url, { ...given, headers });
    const value = nonceIn(response.headers.get('dpop-nonce'));
    if (value !== undefined) this.#nonce = { origin: url.origin, value };
    return response;
  }
}

async function wantsNonce(response: Response): Promise<boolean> {
  if (response.ok || nonceIn(response.headers.get('dpop-nonce')) === undefined) return false;
  const body = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { error?: unknown } | undefined;
  return body?.error === 'use_dpop_nonce';
}

/** The parties of a login whose tokens are to be bound to a key. */
export interface Parties {
  /** The server's name. */
  readonly server: string;
  /** The server's WWW-Authenticate header. */
  readonly challenge: string | null | undefined;
  /** What the server publishes about its logins. */
  readonly about: object | undefined;
  readonly issuer: string;
  /** What the issuer publishes. */
  readonly metadata: object | undefined;
}

/**
 * Whether the tokens of a login are to be bound to a key. Many issuers support that for servers that accept only bearer
 * tokens, so it is done only if the server asks for it, unless the configuration says otherwise. Throws AUTH_FAILED if
 * it is required but not possible.
 */
export function usesDpop(
  { dpop }: OAuthOptions,
  { server, challenge, about, issuer, metadata }: Parties,
): boolean {
  if (dpop === 'off') return false;
  const possible = knowsAlgorithm(metadata);
  if (dpop !== 'required') return possible && (isAskedFor(challenge) || acceptsDpop(about));
  if (possible) return true;
  throw new SwitchboardError(
    'AUTH_FAILED',
    `Cannot log in to server ${JSON.stringify(server)} with DPoP: its issuer ${issuer} does not support it (${ALGORITHM}).`,
    { hint: 'To allow tokens that are not bound to a key, remove "dpop" from "oauth" in its entry.' },
  );
}

function knowsAlgorithm(metadata: object | undefined): boolean {
  const { dpop_signing_alg_values_supported: algorithms } = (metadata ?? {}) as Record<string, unknown>;
  return Array.isArray(algorithms) && algorithms.includes(ALGORITHM);
}

function isAskedFor(challenge: string | null | undefined): boolean {
  return /(?:^|,)\s*dpop(?:\s|,|$)/i.test(challenge ?? '');
}

function acceptsDpop(about: object | undefined): boolean {
  const { dpop_bound_access_tokens_required: required } = (about ?? {}) as Record<string, unknown>;
  return required === true || knowsAlgorithm(about);
}

function encoded(value: object): string {
  return base64url(Buffer.from(JSON.stringify(value)));
}

function base64url(bytes: Buffer): string {
  return bytes.toString('base64url');
}
