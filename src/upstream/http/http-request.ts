import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import type { SwitchboardError } from '../../shared/errors.ts';
import { badRedirect, loginNeeded, unsendable } from './failures.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

export interface HttpRequestOptions {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Default none. */
  readonly body?: { readonly pieces: readonly Buffer[]; readonly length: number };
  /** Used instead of the endpoint's own address; of the same origin. */
  readonly url?: URL;
  /** Added to those of every request, and stronger. Default none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The event after which an event stream continues. Default: it begins. */
  readonly lastEventId?: string | undefined;
  /** How long the response may take to begin, in milliseconds. Default: any time. */
  readonly timeoutMs?: number;
}

export interface HttpRequestEvents {
  /** Called once with the outcome, never before the constructor returns. */
  ended(outcome: HttpOutcome): void;
  /** The network has taken the whole request, or nothing more will be sent. May be called more than once. */
  sent?(): void;
  /** No connection was made. Returns whether to try again after a pause. Default no. */
  retries?(): boolean;
}

export type HttpOutcome =
  /** The server responded; the body is still to be read. */
  | { readonly kind: 'answered'; readonly response: IncomingMessage; readonly status: number }
  /** No connection: the server has seen nothing of the request. */
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The connection was lost after that. */
  | { readonly kind: 'broken'; readonly cause: unknown }
  /** The request was rejected without being processed. */
  | { readonly kind: 'refused'; readonly error: SwitchboardError }
  | { readonly kind: 'dropped' };

const CONNECT_TIMEOUT_MS = 10_000;
/** How long a server may read nothing of a request body, in milliseconds. */
const SEND_TIMEOUT_MS = 30_000;
/** A smaller request fits the buffers of the network, even if the server reads nothing. In bytes. */
const ALWAYS_SENT_BYTES = 16 * 1024;
/** How long a server may take to read what the network holds for it, in milliseconds. */
const READ_TIMEOUT_MS = 200;
const MAX_REDIRECTS = 3;
/** Pauses before each further attempt to connect, in milliseconds. */
const RECONNECT_PAUSES_MS = [500, 2000];
const DISCARD_BYTES = 64 * 1024;
const DISCARD_TIMEOUT_MS = 1000;

/**
 * One HTTP request, up to the beginning of its response. Follows redirects within the origin and tries once more with a
 * renewed login; in both cases the server has not processed the request.
 */
export class HttpRequest {
  /** True once the server may have seen something of it. */
  connected = false;
  readonly #endpoint: RemoteEndpoint;
  readonly #options: HttpRequestOptions;
  readonly #events: HttpRequestEvents;
  readonly #timer: NodeJS.Timeout | undefined;
  /** Calls back when it is sent and when it has ended, for `taken`. */
  #onProgress: (() => void) | undefined;
  #request: ClientRequest | undefined;
  #retry: NodeJS.Timeout | undefined;
  #url: URL;
  #authorization: string | undefined;
  #renewed = false;
  #attempts = 0;
  #redirects = 0;
  /** All redirects so far were permanent. */
  #permanent = true;
  #sent = false;
  #ended = false;

  constructor(endpoint: RemoteEndpoint, options: HttpRequestOptions, events: HttpRequestEvents) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#events = events;
    this.#url = options.url ?? endpoint.url;
    const { timeoutMs } = options;
    if (timeoutMs !== undefined)
      this.#timer = setTimeout(
        () => this.#abort({ kind: 'broken', cause: new Error('response timed out') }),
        timeoutMs,
      );
    if (endpoint.login === undefined) this.#attempt();
    else
      void endpoint.login.authorization().then((authorization) => {
        this.#authorization = authorization;
        this.#attempt();
      });
  }

  /** Resolves when the server has responded, or has had a while to read the whole request. */
  async taken(): Promise<void> {
    const progress = (): Promise<void> => new Promise((resolve) => (this.#onProgress = resolve));
    while (!this.#sent && !this.#ended) await progress();
    if (this.#ended) return;
    const timer = setTimeout(() => this.#onProgress?.(), READ_TIMEOUT_MS);
    await progress();
    clearTimeout(timer);
  }

  /** Ends it at any point; a response that is being read breaks off. */
  drop(): void {
    this.#abort({ kind: 'dropped' });
  }

  #abort(outcome: HttpOutcome): void {
    this.#end(outcome);
    this.#request?.destroy();
  }

  #end(outcome: HttpOutcome): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#retry);
    this.#markSent();
    this.#events.ended(outcome);
  }

  #markSent(): void {
    this.#sent = true;
    this.#events.sent?.();
    this.#onProgress?.();
  }

  #attempt(): void {
    if (this.#ended) return;
    const endpoint = this.#endpoint;
    const { method, body } = this.#options;
    endpoint.authorization = this.#authorization;
    let request: ClientRequest;
    try {
      request = (endpoint.secure ? https : http).request(this.#url, {
        method,
        agent: endpoint.agent,
        headers: this.#headers(),
      });
    } catch (cause) {
      queueMicrotask(() => this.#end({ kind: 'refused', error: unsendable(endpoint, cause) }));
      return;
    }
    this.#request = request;
    let reached = false;
    let over = false;
    let connecting: NodeJS.Timeout | undefined;
    const failed = (cause: unknown): void => {
      clearTimeout(connecting);
      if (!over) this.#failed(reached, cause);
      over = true;
    };
    const connected = (socket: Socket): void => {
      clearTimeout(connecting);
      reached = this.connected = true;
      if ((body?.length ?? 0) > ALWAYS_SENT_BYTES) watchSending(request, socket);
    };
    request.on('socket', (socket: Socket) => {
      if (request.reusedSocket) {
        connected(socket);
        return;
      }
      connecting = setTimeout(() => request.destroy(new Error('connection timed out')), CONNECT_TIMEOUT_MS);
      socket.once(endpoint.secure ? 'secureConnect' : 'connect', () => connected(socket));
    });
    request.on('finish', () => this.#markSent());
    request.on('response', (response) => {
      over = true;
      // The response may break when it is no longer read.
      response.on('error', () => undefined);
      this.#responded(response, response.statusCode!);
    });
    request.on('error', failed);
    request.on('close', () => failed({ code: 'ECONNRESET' }));
    for (const piece of body?.pieces ?? []) request.write(piece);
    request.end();
  }

  #failed(reached: boolean, cause: unknown): void {
    if (this.#ended) return;
    const pause = reached ? undefined : RECONNECT_PAUSES_MS[this.#attempts++];
    if (pause === undefined || this.#events.retries?.() !== true) {
      this.#end({ kind: reached ? 'broken' : 'unreachable', cause });
      return;
    }
    this.#retry = setTimeout(() => this.#attempt(), pause).unref();
  }

  #responded(response: IncomingMessage, status: number): void {
    if (this.#ended) return;
    if (status >= 300 && status < 400 && status !== 304) this.#redirected(response, status);
    else if (requiresLogin(response, status)) void this.#renewLogin(response, status);
    else this.#end({ kind: 'answered', response, status });
  }

  #redirected(response: IncomingMessage, status: number): void {
    const endpoint = this.#endpoint;
    const { method, url } = this.#options;
    discard(response);
    const target = locationOf(response, this.#url);
    const follows =
      this.#mayFollow(status) && target?.origin === this.#url.origin && ++this.#redirects <= MAX_REDIRECTS;
    if (!follows) {
      this.#end({ kind: 'refused', error: badRedirect(endpoint, status, target) });
      return;
    }
    this.#url = target;
    // Later requests skip the redirect if the server has called it permanent.
    this.#permanent &&= status === 308;
    if (this.#permanent && url === undefined && method === 'POST') endpoint.url = target;
    this.#attempt();
  }

  #mayFollow(status: number): boolean {
    return (
      status === 307 ||
      status === 308 ||
      (this.#options.method === 'GET' && (status === 301 || status === 302 || status === 303))
    );
  }

  async #renewLogin(response: IncomingMessage, status: number): Promise<void> {
    discard(response);
    const endpoint = this.#endpoint;
    const before = this.#authorization;
    const challenge = response.headers['www-authenticate'];
    // A login that was just renewed is not renewed again; it may still lack permissions.
    const next =
      this.#renewed && status === 401 ? undefined : await endpoint.login?.renewed(before, challenge);
    const usable = next?.kind === 'renewed' && !this.#renewed && next.authorization !== before;
    if (!usable) {
      const reason = next?.kind === 'renewed' ? undefined : next;
      const error = loginNeeded(endpoint, status, before !== undefined, reason);
      this.#end({ kind: 'refused', error });
      return;
    }
    this.#renewed = true;
    this.#authorization = next.authorization;
    this.#attempt();
  }

  #headers(): Record<string, string> {
    const { method, body, lastEventId, headers } = this.#options;
    const all: Record<string, string> = { ...this.#endpoint.headers(), ...headers };
    if (this.#authorization !== undefined) all.authorization = this.#authorization;
    if (method !== 'DELETE')
      all.accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
    if (lastEventId !== undefined) all['last-event-id'] = lastEventId;
    if (body !== undefined) {
      all['content-type'] = 'application/json';
      all['content-length'] = String(body.length);
    }
    return all;
  }
}

/** Ends a request of which the server reads nothing for too long. */
function watchSending(request: ClientRequest, socket: Socket): void {
  const stalled = (): void => void request.destroy(new Error('the server does not read the request'));
  const sent = (): void => {
    socket.off('timeout', stalled);
    socket.setTimeout(0);
  };
  socket.setTimeout(SEND_TIMEOUT_MS);
  socket.once('timeout', stalled);
  request.once('finish', sent);
  request.once('close', sent);
}

/** Reads a body to its end and drops it, so that its connection can be reused. Gives up soon. */
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

/** The media type of a response, without parameters, in lower case; empty if it names none. */
export function typeOf(response: IncomingMessage): string {
  return (response.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
}

function requiresLogin(response: IncomingMessage, status: number): boolean {
  if (status === 401) return true;
  return status === 403 && /insufficient_scope/i.test(response.headers['www-authenticate'] ?? '');
}

function locationOf({ headers }: IncomingMessage, base: URL): URL | undefined {
  if (headers.location === undefined || !URL.canParse(headers.location, base.href)) return undefined;
  const target = new URL(headers.location, base.href);
  target.username = target.password = target.hash = '';
  return target;
}
