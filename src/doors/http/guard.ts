import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { sha256 } from '../../shared/sha256.ts';
import type { Caller, ProtectedResource, TokenRefusal } from './caller.ts';
import { GUARD_REFUSALS, MAX_HEADERS, type GuardRefusal } from './refusals.ts';

/** A token that grants access, sent as `Authorization: Bearer …`. */
export interface AccessToken {
  /** Identifies the sender. Two principals never share a server process, unless the server is shared explicitly. */
  readonly principal: string;
  /** The name that roles use for it. */
  readonly name: string;
  readonly hash: Buffer;
}

/** The tokens that grant access. They may change at any time. */
export interface AccessTokens {
  /** A new array after every change. */
  readonly current: readonly AccessToken[];
  /** Looks for changes now: an unknown token may have just been created. */
  refresh(): void;
  /** Calls back after every change, until the returned function is called. */
  watch(changed: () => void): () => void;
}

export interface GuardOptions {
  readonly tokens: AccessTokens;
  /** Names allowed in the Host header in addition to the loopback names, with or without a port. */
  readonly allowedHosts: readonly string[];
  /**
   * Allowed values of the Origin header, such as `https://example.com`. They are for clients outside a browser: a page
   * in a browser would also need CORS, which is not supported.
   */
  readonly allowedOrigins: readonly string[];
}

/**
 * Decides by its headers alone whether a request is admitted. A web page can make a browser send requests here, so a
 * foreign name for this address (DNS rebinding) or a foreign origin is refused even with a valid token.
 */
export class Guard {
  readonly #tokens: AccessTokens;
  /** Checks the tokens of an identity provider. Default: only `tokens` grant access. */
  resource: ProtectedResource | undefined;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** The accepted header of each connection: clients repeat it, and hashing is expensive. */
  readonly #accepted = new WeakMap<Socket, AcceptedHeader>();
  /** The Host header that was accepted last: usually all clients send the same one. */
  #lastHost: string | undefined;

  constructor({ tokens, allowedHosts, allowedOrigins }: GuardOptions) {
    this.#tokens = tokens;
    this.#hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
  }

  /** Why a request is refused regardless of its token; undefined if it is not. */
  refusal(request: IncomingMessage): GuardRefusal | undefined {
    // An absolute target would override the Host header, and only proxies receive such targets.
    if (!request.url?.startsWith('/')) return GUARD_REFUSALS.badTarget;
    if (request.rawHeaders.length > 2 * MAX_HEADERS) return GUARD_REFUSALS.tooManyHeaders;
    // With duplicates, we might check one value while other code uses the other.
    if (hasDoubled(request.rawHeaders)) return GUARD_REFUSALS.doubled;
    const { host, origin } = request.headers;
    if (host === undefined || !this.#admitsHost(host)) return GUARD_REFUSALS.badHost;
    if (origin !== undefined && !this.#origins.has(origin)) return GUARD_REFUSALS.badOrigin;
    return undefined;
  }

  /** The sender of a request that is not refused, or why its token grants no access. */
  callerOf(request: IncomingMessage): Caller | AccessRefusal | Promise<Caller | AccessRefusal> {
    const { authorization } = request.headers;
    if (authorization === undefined) return this.#refused(GUARD_REFUSALS.noToken);
    const isDpop = this.resource !== undefined && DPOP.test(authorization);
    if (!isDpop && !BEARER.test(authorization)) return this.#refused(GUARD_REFUSALS.noBearer);
    if (authorization.length > LONGEST_HEADER) return this.#refused(GUARD_REFUSALS.badToken);
    const found = isDpop ? undefined : this.#known(authorization, request.socket);
    if (found !== undefined) return found;
    if (this.resource === undefined) return this.#refused(GUARD_REFUSALS.badToken);
    return this.#verify(this.resource, authorization, request);
  }

  /** Whether the access token of a caller was revoked. Tokens of an identity provider expire on their own. */
  isRevoked({ principal, token }: Caller): boolean {
    return token !== undefined && !this.#tokens.current.some((each) => each.principal === principal);
  }

  #refused(refusal: GuardRefusal): AccessRefusal {
    const challenge = this.resource?.challenge;
    if (refusal.status !== 401 || challenge === undefined)
      return refusal.status === 401 ? { ...refusal, headers: { 'WWW-Authenticate': 'Bearer' } } : refusal;
    return { ...GUARD_REFUSALS.noLogin, headers: { 'WWW-Authenticate': challenge } };
  }

  async #verify(
    resource: ProtectedResource,
    authorization: string,
    request: IncomingMessage,
  ): Promise<Caller | AccessRefusal> {
    const { headers, method = '', url = '', socket } = request;
    const [scheme = '', token = ''] = authorization.trim().split(/ +/);
    const proof = typeof headers.dpop === 'string' ? headers.dpop : undefined;
    const path = url.replace(/\?.*$/s, '');
    const checked = await resource.verify({ scheme: scheme.toLowerCase(), token, proof, method, path });
    if ('status' in checked) return checked;
    const { caller, checkedUntil } = checked;
    // A proof is valid for a single request.
    if (proof === undefined)
      this.#accepted.set(socket, {
        ...{ header: Buffer.from(authorization), caller, until: checkedUntil },
        tokens: this.#tokens.current,
      });
    return caller;
  }

  #admitsHost(host: string): boolean {
    if (host === this.#lastHost) return true;
    const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
    const ours = isLoopbackName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase());
    if (ours) this.#lastHost = host;
    return ours;
  }

  /** The sender of one of our tokens, or of a header that was accepted on this connection before. */
  #known(authorization: string, socket: Socket): Caller | undefined {
    const header = Buffer.from(authorization);
    const accepted = this.#accepted.get(socket);
    if (
      accepted !== undefined &&
      accepted.tokens === this.#tokens.current &&
      accepted.header.length === header.length &&
      timingSafeEqual(accepted.header, header) &&
      Date.now() < accepted.until
    )
      return accepted.caller;
    const hash = Buffer.from(sha256(authorization.replace(BEARER, '').trim()), 'hex');
    const caller = this.#find(hash) ?? this.#findAgain(hash);
    if (caller !== undefined)
      this.#accepted.set(socket, { header, caller, until: Infinity, tokens: this.#tokens.current });
    return caller;
  }

  /**
   * Hashes have the same length whatever was sent. Every one is compared, in constant time, so the time does not reveal
   * the match.
   */
  #find(hash: Buffer): Caller | undefined {
    let found: AccessToken | undefined;
    for (const token of this.#tokens.current) if (timingSafeEqual(hash, token.hash)) found = token;
    return found && { principal: found.principal, token: found.name };
  }

  #findAgain(hash: Buffer): Caller | undefined {
    const before = this.#tokens.current;
    this.#tokens.refresh();
    return this.#tokens.current === before ? undefined : this.#find(hash);
  }
}

/** Why a request is refused, with the headers of the response. */
export type AccessRefusal = GuardRefusal | TokenRefusal;

interface AcceptedHeader {
  readonly header: Buffer;
  readonly caller: Caller;
  /** In milliseconds since 1970. */
  readonly until: number;
  /** The tokens that were valid at that time. */
  readonly tokens: readonly AccessToken[];
}

const BEARER = /^bearer /i;
const DPOP = /^dpop /i;
const LONGEST_HEADER = 8 * 1024;
const ONCE = new Set(['host', 'origin', 'authorization', 'dpop']);

/** Whether the name always refers to this computer. */
function isLoopbackName(name: string): boolean {
  if (name === 'localhost' || name === '[::1]') return true;
  const octets = /^127\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(name);
  return octets !== null && octets.slice(1).every((octet) => Number(octet) <= 255);
}

function hasDoubled(rawHeaders: readonly string[]): boolean {
  let seen: Set<string> | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const header = rawHeaders[at] ?? '';
    const { length } = header;
    // Most names can be skipped because of their length.
    if (length !== 4 && length !== 6 && length !== 13) continue;
    const name = header.toLowerCase();
    if (!ONCE.has(name)) continue;
    seen ??= new Set();
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

/**
 * Detects that a gateway is its own client, directly or through others: requests list the gateways they came through.
 */
export interface LoopGuardOptions {
  /** The header with the list, in lower case. The last gateway in the list sent the request. */
  readonly header: string;
  /** The name of this gateway in the list: random letters, digits and dashes. */
  readonly self: string;
}

/** More than this many gateways count as a loop. */
const MAX_GATEWAYS = 8;

/** The gateways that a request came through; `loop` if this gateway is among them or there are too many. */
export function readGatewayPath(
  { headers }: IncomingMessage,
  options: LoopGuardOptions | undefined,
): readonly string[] | 'loop' {
  const value = options && headers[options.header];
  if (options === undefined || typeof value !== 'string') return [];
  // Invalid names are not forwarded.
  const names = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/.test(name));
  return names.length > MAX_GATEWAYS || names.includes(options.self) ? 'loop' : names;
}
