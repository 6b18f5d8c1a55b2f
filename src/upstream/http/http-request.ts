import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SwitchboardError } from '../../shared/errors.ts';
import { badRedirect, loginNeeded, unsendable } from './failures.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

export interface HttpRequestOptions {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Default none. */
  readonly accept?: string;
  /** Default none. */
  readonly body?: readonly Buffer[];
  /** Where to go instead of the site's own address; of the same origin. */
  readonly url?: URL;
  /** Beside those that every request has; stronger than those. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Where an event stream goes on. Default at its beginning. */
  readonly lastEventId?: string | undefined;
  /** The most that may pass until the answer begins, in milliseconds. Default any time. */
  readonly timeoutMs?: number;
  /** Asked where no connection was made: whether to try again after a while. Default no. */
  readonly again?: () => boolean;
}

/** How an exchange came out. */
export type HttpOutcome =
  /** The server answered; the body is still to be read. */
  | { readonly kind: 'answered'; readonly response: IncomingMessage; readonly status: number }
  /** No connection: the server has seen nothing of it. */
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The connection broke after that. */
  | { readonly kind: 'broken'; readonly cause: unknown }
  /** Turned away at the door: it was not carried out. */
  | { readonly kind: 'refused'; readonly error: SwitchboardError }
  | { readonly kind: 'dropped' };

/** In milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;
/** How long a server may read nothing of a body that we send, in milliseconds. */
const SEND_TIMEOUT_MS = 30_000;
/** How long a server may take to read what the network holds for it, in milliseconds. */
const READ_TIMEOUT_MS = 200;
const REDIRECTS = 3;
/** How long to wait before each further try to connect, in milliseconds. */
const RECONNECT_PAUSES = [500, 2000];
const DISCARD_BYTES = 64 * 1024;
/** In milliseconds. */
const DISCARD_TIMEOUT_MS = 1000;

/**
 * One request over HTTP and the beginning of its answer. It follows redirects within the origin and tries once more
 * with a new login; both mean that the server has not carried it out.
 */
export class HttpRequest {
  readonly outcome: Promise<HttpOutcome>;
  /** Resolves when the whole request is with the network, or nothing more comes of it. */
  readonly sent: Promise<void>;
  /** True once the server can have seen something of it. */
  connected = false;
  readonly #site: RemoteEndpoint;
  readonly #asked: HttpRequestOptions;
  #request: ClientRequest | undefined;
  #dropped = false;
  #markSent!: () => void;
  #cutShort!: (outcome: HttpOutcome) => void;

  constructor(endpoint: RemoteEndpoint, asked: HttpRequestOptions) {
    this.#site = endpoint;
    this.#asked = asked;
    this.sent = new Promise((resolve) => {
      this.#markSent = resolve;
    });
    const cut = new Promise<HttpOutcome>((resolve) => {
      this.#cutShort = resolve;
    });
    this.outcome = Promise.race([this.#run(), cut]);
  }

  /** Resolves when the server has answered, or has had a while to read the whole request. */
  async taken(): Promise<void> {
    await this.sent;
    let timer: NodeJS.Timeout | undefined;
    const aWhile = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, READ_TIMEOUT_MS);
    });
    await Promise.race([this.outcome, aWhile]);
    clearTimeout(timer);
  }

  /** Ends it wherever it is; what was answered so far breaks off. */
  drop(): void {
    this.#end({ kind: 'dropped' });
  }

  #end(outcome: HttpOutcome): void {
    this.#dropped = true;
    this.#markSent();
    this.#cutShort(outcome);
    this.#request?.destroy();
  }

  async #run(): Promise<HttpOutcome> {
    const timer = this.#limit();
    try {
      return await this.#attempts();
    } finally {
      clearTimeout(timer);
      this.#markSent();
    }
  }

  #limit(): NodeJS.Timeout | undefined {
    const { timeoutMs } = this.#asked;
    if (timeoutMs === undefined) return undefined;
    return setTimeout(() => this.#end({ kind: 'broken', cause: new Error('response timed out') }), timeoutMs);
  }

  async #attempts(): Promise<HttpOutcome> {
    const endpoint = this.#site;
    const { login } = endpoint;
    let authorization = login === undefined ? undefined : await login.authorization();
    let renewed = false;
    let lasting = true;
    let tries = 0;
    let url = this.#asked.url ?? endpoint.url;
    for (let redirects = 0; ;) {
      if (this.#dropped) return { kind: 'dropped' };
      endpoint.authorization = authorization;
      const outcome = await this.#once(url, authorization);
      const pause = outcome.kind === 'unreachable' ? RECONNECT_PAUSES[tries++] : undefined;
      if (pause !== undefined && this.#asked.again?.() === true) {
        await sleep(pause, undefined, { ref: false });
        continue;
      }
      if (outcome.kind !== 'answered') return outcome;
      const { response, status } = outcome;
      if (status >= 300 && status < 400 && status !== 304) {
        discard(response);
        const target = locationOf(response, url);
        const follows = this.#follows(status) && target?.origin === url.origin && ++redirects <= REDIRECTS;
        if (!follows) return { kind: 'refused', error: badRedirect(endpoint, status, target) };
        url = target;
        // The next request need not take the same detour, unless the server has called it one.
        lasting &&= status === 308;
        if (lasting && this.#asked.url === undefined && this.#asked.method === 'POST') endpoint.url = target;
      } else if (asksForLogin(response, status)) {
        discard(response);
        const challenge = response.headers['www-authenticate'];
        const sent = authorization !== undefined;
        // A login that was new a moment ago is not renewed again; it may still have too few rights.
        const next = renewed && status === 401 ? undefined : await login?.renewed(authorization, challenge);
        if (next?.kind !== 'renewed')
          return { kind: 'refused', error: loginNeeded(endpoint, status, sent, next) };
        if (renewed || next.authorization === authorization)
          return { kind: 'refused', error: loginNeeded(endpoint, status, sent, undefined) };
        renewed = true;
        authorization = next.authorization;
      } else return outcome;
    }
  }

  #follows(status: number): boolean {
    return (
      status === 307 ||
      status === 308 ||
      (this.#asked.method === 'GET' && (status === 301 || status === 302 || status === 303))
    );
  }

  #once(url: URL, authorization: string | undefined): Promise<HttpOutcome> {
    return new Promise((resolve) => {
      let request: ClientRequest;
      try {
        request = (this.#site.secure ? https : http).request(url, {
          method: this.#asked.method,
          agent: this.#site.agent,
          headers: this.#headers(authorization),
        });
      } catch (cause) {
        resolve({ kind: 'refused', error: unsendable(this.#site, cause) });
        return;
      }
      this.#request = request;
      let reached = false;
      const connecting = setTimeout(
        () => request.destroy(new Error('connection timed out')),
        CONNECT_TIMEOUT_MS,
      );
      const stalled = (): void => void request.destroy(new Error('it does not read the request'));
      request.once('socket', (socket: Socket) => {
        const connect = (): void => {
          clearTimeout(connecting);
          reached = this.connected = true;
          socket.setTimeout(SEND_TIMEOUT_MS);
          socket.once('timeout', stalled);
        };
        const sent = (): void => {
          socket.off('timeout', stalled);
          socket.setTimeout(0);
        };
        request.once('finish', sent);
        request.once('close', sent);
        if (request.reusedSocket) connect();
        else socket.once(this.#site.secure ? 'secureConnect' : 'connect', connect);
      });
      request.once('finish', () => this.#markSent());
      request.once('response', (response) => {
        // Nobody may be reading any more when it breaks.
        response.on('error', () => undefined);
        resolve({ kind: 'answered', response, status: response.statusCode! });
      });
      request.on('error', (cause) => resolve({ kind: reached ? 'broken' : 'unreachable', cause }));
      request.once('close', () => {
        clearTimeout(connecting);
        resolve({ kind: reached ? 'broken' : 'unreachable', cause: { code: 'ECONNRESET' } });
      });
      for (const piece of this.#asked.body ?? []) request.write(piece);
      request.end();
    });
  }

  #headers(authorization: string | undefined): Record<string, string> {
    const { accept, body, lastEventId, headers } = this.#asked;
    return {
      ...this.#site.headers(),
      ...headers,
      ...(authorization === undefined ? {} : { authorization }),
      ...(accept === undefined ? {} : { accept }),
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      ...(body === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'content-length': String(body.reduce((sum, piece) => sum + piece.length, 0)),
          }),
    };
  }
}

/** Reads a body to its end and drops it, so that its connection can be used again; not for long. */
export function discard(response: IncomingMessage): void {
  let read = 0;
  const timer = setTimeout(() => response.destroy(), DISCARD_TIMEOUT_MS);
  response.on('error', () => undefined);
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > DISCARD_BYTES) response.destroy();
  });
  response.once('close', () => clearTimeout(timer));
}

/** The media type of an answer, without parameters, in small letters; empty where it says none. */
export function typeOf(response: IncomingMessage): string {
  return (response.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

function asksForLogin(response: IncomingMessage, status: number): boolean {
  if (status === 401) return true;
  return status === 403 && /insufficient_scope/i.test(response.headers['www-authenticate'] ?? '');
}

function locationOf({ headers }: IncomingMessage, base: URL): URL | undefined {
  if (headers.location === undefined || !URL.canParse(headers.location, base.href)) return undefined;
  const target = new URL(headers.location, base.href);
  target.username = target.password = target.hash = '';
  return target;
}
