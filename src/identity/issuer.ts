import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { Refresher } from './refresher.ts';

/** Fetches what the identity provider publishes, with limits on time and size. */
export type BoundedFetch = (url: URL, init?: BoundedInit) => Promise<Response>;

export interface BoundedInit {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams;
}

/** The part that we use of an authorization server's metadata (RFC 8414, OpenID Connect Discovery). */
export interface IssuerMetadata {
  readonly jwksUri: URL | undefined;
  readonly introspectionEndpoint: URL | undefined;
}

/** The identity provider cannot be reached at the moment. */
export class IssuerUnavailable extends Error {}

/** How long metadata is used, in milliseconds. */
const FRESH_MS = 60 * 60_000;

/** The metadata of an identity provider, fetched on demand. */
export class Issuer {
  readonly url: string;
  readonly #fetch: BoundedFetch;
  readonly #metadata: Refresher<IssuerMetadata>;

  constructor(url: string, fetch: BoundedFetch) {
    this.url = url;
    this.#fetch = fetch;
    this.#metadata = new Refresher({ load: () => this.#load(), freshMs: FRESH_MS });
  }

  /** Throws IssuerUnavailable. */
  metadata(): Promise<IssuerMetadata> {
    return this.#metadata.get();
  }

  async #load(): Promise<IssuerMetadata> {
    let why = 'it publishes no metadata';
    for (const address of metadataAddresses(this.url)) {
      const document = await fetchJson(this.#fetch, address).catch((error: unknown) => {
        why = messageOf(error);
        return undefined;
      });
      if (document === undefined) continue;
      // Accepting another issuer's document would accept that issuer's keys (RFC 8414, section 3.3).
      if (document.issuer === this.url)
        return {
          jwksUri: addressIn(document.jwks_uri),
          introspectionEndpoint: addressIn(document.introspection_endpoint),
        };
      why = `the metadata at ${address.href} is that of another issuer`;
    }
    throw new IssuerUnavailable(why);
  }
}

/** Where an issuer publishes its metadata, with or without a path, in the order in which clients look. */
function metadataAddresses(issuer: string): URL[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const names = ['oauth-authorization-server', 'openid-configuration'];
  return [
    ...names.map((name) => new URL(`${origin}/.well-known/${name}${path}`)),
    ...(path === '' ? [] : [new URL(`${origin}${path}/.well-known/openid-configuration`)]),
  ];
}

function addressIn(value: unknown): URL | undefined {
  return typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
}

/** Fetches a JSON object. Throws IssuerUnavailable. */
export async function fetchJson(
  fetch: BoundedFetch,
  url: URL,
  init?: BoundedInit,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw new IssuerUnavailable(messageOf(error), { cause: error });
  });
  if (response.status !== 200)
    throw new IssuerUnavailable(`${url.origin}${url.pathname} responded with status ${response.status}`);
  const document = await response.json().catch(() => undefined);
  if (isObject(document)) return document;
  throw new IssuerUnavailable(`${url.origin}${url.pathname} did not respond with a JSON object`);
}
