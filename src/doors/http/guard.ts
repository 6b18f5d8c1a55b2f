import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { sha256 } from '../../shared/sha256.ts';
import { GUARD_REFUSALS, MAX_HEADERS, type GuardRefusal } from './refusals.ts';

/** A token that lets requests in, as `Authorization: Bearer …`. */
export interface AccessToken {
  /** Identifies the sender. Two principals never share a server process, unless the server is a shared one. */
  readonly principal: string;
  readonly hash: Buffer;
}

/** The tokens that let requests in. They may change at any time. */
export interface AccessTokens {
  /** Another list after every change. */
  readonly current: readonly AccessToken[];
  /** Looks for changes now: a token that is not known may have been created a moment ago. */
  refresh(): void;
  /** Calls back after every change, until the function that it returns is called. */
  watch(changed: () => void): () => void;
}

export interface GuardOptions {
  readonly tokens: AccessTokens;
  /** Names in the Host header beside the loopback ones, with or without a port. */
  readonly allowedHosts: readonly string[];
  /**
   * Values of the Origin header that are let in, such as `https://example.com`. For clients outside a browser that send
   * one: a page in a browser would need CORS as well, which is not supported.
   */
  readonly allowedOrigins: readonly string[];
}

/**
 * Decides whether a request is let in, by its headers alone. A web page can make a browser send requests here, so a
 * foreign name for this address (DNS rebinding) and a foreign origin are refused even with the right token.
 */
export class Guard {
  readonly #tokens: AccessTokens;
  readonly #hosts: ReadonlySet<string>;
  readonly #origins: ReadonlySet<string>;
  /** The accepted header of each connection: clients repeat it, and a hash is expensive. */
  readonly #accepted = new WeakMap<Socket, AcceptedHeader>();
  /** The Host header that was admitted last: mostly all clients use the same. */
  #lastHost: string | undefined;

  constructor({ tokens, allowedHosts, allowedOrigins }: GuardOptions) {
    this.#tokens = tokens;
    this.#hosts = new Set(allowedHosts.map((host) => host.toLowerCase()));
    this.#origins = new Set(allowedOrigins);
  }

  /** The principal that has sent a request, or why it is refused. */
  check(request: IncomingMessage): string | GuardRefusal {
    // An absolute target would override the Host header; only proxies get one.
    if (!request.url?.startsWith('/')) return GUARD_REFUSALS.badTarget;
    if (request.rawHeaders.length > 2 * MAX_HEADERS) return GUARD_REFUSALS.tooManyHeaders;
    // With duplicates, we might check one and another component use the other.
    if (hasDoubled(request.rawHeaders)) return GUARD_REFUSALS.doubled;
    const { host, origin, authorization } = request.headers;
    if (host === undefined || !this.#admitsHost(host)) return GUARD_REFUSALS.badHost;
    if (origin !== undefined && !this.#origins.has(origin)) return GUARD_REFUSALS.badOrigin;
    if (authorization === undefined) return GUARD_REFUSALS.noToken;
    if (!BEARER.test(authorization)) return GUARD_REFUSALS.noBearer;
    return this.#principalOf(authorization, request.socket) ?? GUARD_REFUSALS.badToken;
  }

  #admitsHost(host: string): boolean {
    if (host === this.#lastHost) return true;
    const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
    const ours = isLoopbackName(name) || this.#hosts.has(name) || this.#hosts.has(host.toLowerCase());
    if (ours) this.#lastHost = host;
    return ours;
  }

  #principalOf(authorization: string, socket: Socket): string | undefined {
    if (authorization.length > LONGEST_HEADER) return undefined;
    const header = Buffer.from(authorization);
    const accepted = this.#accepted.get(socket);
    if (
      accepted !== undefined &&
      accepted.tokens === this.#tokens.current &&
      accepted.header.length === header.length &&
      timingSafeEqual(accepted.header, header)
    )
      return accepted.principal;
    const hash = Buffer.from(sha256(authorization.replace(BEARER, '').trim()), 'hex');
    const principal = this.#find(hash) ?? this.#findAgain(hash);
    if (principal !== undefined)
      this.#accepted.set(socket, { header, principal, tokens: this.#tokens.current });
    return principal;
  }

  /** Hashes have one length whatever was sent. All are compared, in constant time, wherever the right one is. */
  #find(hash: Buffer): string | undefined {
    let found: string | undefined;
    for (const token of this.#tokens.current) if (timingSafeEqual(hash, token.hash)) found = token.principal;
    return found;
  }

  #findAgain(hash: Buffer): string | undefined {
    const before = this.#tokens.current;
    this.#tokens.refresh();
    return this.#tokens.current === before ? undefined : this.#find(hash);
  }
}

interface AcceptedHeader {
  readonly header: Buffer;
  readonly principal: string;
  /** The tokens that were valid then. */
  readonly tokens: readonly AccessToken[];
}

const BEARER = /^bearer /i;
const LONGEST_HEADER = 8 * 1024;
const ONCE = new Set(['host', 'origin', 'authorization']);

/** Names that always mean this computer. */
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
    // Most differ in length already.
    if (length !== 4 && length !== 6 && length !== 13) continue;
    const name = header.toLowerCase();
    if (!ONCE.has(name)) continue;
    seen ??= new Set();
    if (seen.has(name)) return true;
    seen.add(name);
  }
  return false;
}

/** Detects that a gateway is its own client, directly or through others: requests list the gateways they came through. */
export interface LoopGuardOptions {
  /** The header with the list, in lower case; the last one sent the request. */
  readonly header: string;
  /** The name of this gateway in the list: random letters, digits and dashes. */
  readonly self: string;
}

/** More than this many gateways count as a loop. */
const MAX_GATEWAYS = 8;

/** The gateways that a request has come through; `loop` if this one is among them, or if they are too many. */
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
