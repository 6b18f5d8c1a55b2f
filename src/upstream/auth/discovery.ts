import {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  type AuthorizationServerMetadata,
  type OAuthProtectedResourceMetadata,
} from '@modelcontextprotocol/client';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { VERSION } from '../../shared/version.ts';
import { LATEST_LEGACY_VERSION, Meta, MODERN_VERSION } from '../../protocol/index.ts';
import { createAddressGuard, type AddressGuard } from './addresses.ts';
import { createGuardedFetch, type Fetch } from './fetch.ts';

/** Where to log in to a server, and what to request there. */
export interface Discovered {
  readonly issuer: string;
  /** Undefined if the issuer publishes none; the endpoints of older servers are then assumed. */
  readonly metadata: AuthorizationServerMetadata | undefined;
  /** The server's identifier at the issuer. */
  readonly resource: string;
  /** The scopes that the server says are needed; undefined if it does not say. */
  readonly scope: string | undefined;
  /** The server's WWW-Authenticate header; null if there was none. */
  readonly challenge: string | null;
  /** What the server publishes about its logins; undefined if it publishes nothing. */
  readonly about: OAuthProtectedResourceMetadata | undefined;
}

/** The context of a discovery. */
export interface DiscoveryContext {
  /** The server's name. */
  readonly server: string;
  readonly url: URL;
  readonly guard: AddressGuard;
  readonly fetch: Fetch;
  readonly log: Logger;
}

export function discoveryContext(
  { server, url, log }: { readonly server: string; readonly url: string; readonly log: Logger },
  signal?: AbortSignal,
): DiscoveryContext {
  const typed = new URL(url);
  const guard = createAddressGuard(typed);
  return { server, url: typed, guard, fetch: createGuardedFetch(guard, signal), log };
}

/** Asks the server for its issuer, and the issuer for its endpoints. */
export async function discoverIssuer(
  around: DiscoveryContext,
  headers: Readonly<Record<string, string>> = {},
): Promise<Discovered> {
  const { url, server } = around;
  const answer = await challengeOf(around, headers);
  const asked = extractWWWAuthenticateParams(answer);
  const about = await resourceMetadata(around, asked.resourceMetadataUrl);
  const named = about?.authorization_servers?.[0];
  // Servers that predate this metadata are their own issuer.
  const issuer = named ?? url.origin;
  const metadata = await issuerMetadata(around, issuer);
  if (metadata === undefined && named !== undefined) {
    throw failure(server, `its issuer ${issuer} publishes no metadata`);
  }
  if (metadata === undefined && answer.status !== 401) {
    throw new SwitchboardError(
      'AUTH_NOT_ASKED',
      `The server ${JSON.stringify(server)} does not require a login (it responded with status ${answer.status}).`,
      { hint: 'Check its url; if it needs another kind of token, set it under "headers".', cause: answer },
    );
  }
  return {
    issuer: metadata?.issuer ?? issuer,
    metadata,
    resource: about?.resource ?? withoutSecrets(url),
    scope: asked.scope ?? (about?.scopes_supported?.join(' ') || undefined),
    challenge: answer.headers.get('www-authenticate'),
    about,
  };
}

const CLIENT_INFO = { name: 'switchboard', version: VERSION };
const INITIALIZE = {
  protocolVersion: LATEST_LEGACY_VERSION,
  capabilities: {},
  clientInfo: CLIENT_INFO,
};
const MODERN_LIST = {
  _meta: {
    [Meta.protocolVersion]: MODERN_VERSION,
    [Meta.clientCapabilities]: {},
    [Meta.clientInfo]: CLIENT_INFO,
  },
};

/** The server's response to a request without a login. */
async function challengeOf(
  { url, fetch }: DiscoveryContext,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  let id = 0;
  const post = (method: string, params?: object, more: Record<string, string> = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        ...more,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
      headOnly: true,
    });
  const answer = await post('initialize', INITIALIZE);
  if (answer.status === 401) return answer;
  // Some servers answer `initialize` without a login and require one only for other requests.
  const session = answer.headers.get('mcp-session-id');
  const tried = [
    await post('tools/list', undefined, session === null ? {} : { 'mcp-session-id': session }),
    await post('tools/list', MODERN_LIST, {
      'mcp-protocol-version': MODERN_VERSION,
      'mcp-method': 'tools/list',
    }),
  ];
  const refusal = tried.find(({ status }) => status === 401);
  if (refusal) return refusal;
  if (answer.status !== 404 && answer.status !== 405) return answer;
  // Older servers start with a stream, and answer nothing else at this address.
  return fetch(url, { headers: { ...headers, accept: 'text/event-stream' }, headOnly: true });
}

/**
 * What the server publishes about its logins; undefined if it publishes nothing. Throws if the metadata belongs to
 * another server.
 */
export async function resourceMetadata(
  { url, server, guard, fetch, log }: DiscoveryContext,
  named: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  if (named !== undefined) await guard.checkDocument(named);
  const places = named === undefined ? [{}] : [{ resourceMetadataUrl: named }, {}];
  for (const place of places) {
    try {
      const about = await discoverOAuthProtectedResourceMetadata(url, place, fetch);
      if (checkResourceAllowed({ requestedResource: url, configuredResource: about.resource })) return about;
      throw failure(server, 'its login metadata is for another server');
    } catch (error) {
      if (error instanceof SwitchboardError) throw error;
      log.debug('no valid login metadata at this address', {
        server,
        reason: messageOf(error),
      });
    }
  }
  return undefined;
}

/** The issuer's metadata, with its endpoints checked; undefined if it publishes none. */
export async function issuerMetadata(
  { server, guard, fetch }: DiscoveryContext,
  issuer: string,
): Promise<AuthorizationServerMetadata | undefined> {
  if (!URL.canParse(issuer)) throw failure(server, 'its issuer is not a URL');
  await guard.checkDocument(new URL(issuer));
  let metadata: AuthorizationServerMetadata | undefined;
  try {
    metadata = await discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    const why =
      error instanceof IssuerMismatchError
        ? `${issuer} identifies itself as another issuer`
        : `${issuer} publishes no valid metadata`;
    throw failure(server, why, error);
  }
  const endpoints = [
    metadata?.authorization_endpoint ?? new URL('/authorize', issuer).href,
    metadata?.token_endpoint ?? new URL('/token', issuer).href,
    metadata?.registration_endpoint,
    (metadata as { revocation_endpoint?: unknown } | undefined)?.revocation_endpoint,
  ];
  for (const endpoint of endpoints) {
    if (typeof endpoint === 'string') await guard.checkEndpoint(new URL(endpoint));
  }
  return metadata;
}

/** An issuer may be written with or without a trailing slash. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}

function failure(server: string, why: string, cause?: unknown): SwitchboardError {
  return new SwitchboardError(
    'AUTH_DISCOVERY',
    `Cannot log in to the server ${JSON.stringify(server)}: ${why}.`,
    { hint: 'Contact the operator of the server.', cause },
  );
}

/** A name for the server that may be disclosed: its query may contain a key. */
function withoutSecrets({ origin, pathname }: URL): string {
  return pathname === '/' ? origin : `${origin}${pathname}`;
}
