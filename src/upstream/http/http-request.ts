import http, { type ClientRequest, type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { traceHeaders } from '../../protocol/index.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import { nonceIn } from '../dpop-nonce.ts';
import { badRedirect, loginNeeded, proofRejected, tooManyRedirects, unsendable } from './failures.ts';
import type { Outgoing } from './remote-messages.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

export interface HttpRequestOptions {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** The body. Default: none. */
  readonly message?: Outgoing;
  /** Resolves with the URL to use instead of the endpoint's own; of the same origin. */
  readonly url?: Promise<URL>;
  /** Added to the headers of every request, and takes precedence over them. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The event after which an event stream continues. Default: it starts from the beginning. */
  readonly lastEventId?: string | undefined;
  /** How long the response may take to begin, in milliseconds. Default: no limit. */
  readonly timeoutMs?: number | undefined;
  /** Called when no connection could be made. Returns whether to try again after a pause. Default: no. */
  readonly retries?: () => boolean;
}

export type HttpOutcome =
  /** The server responded; the body has not been read yet. */
  | { readonly kind: 'answered'; readonly response: IncomingMessage; readonly status: number }
  /** There was no connection: the server has not seen any of the request. */
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The connection was lost after the request may have been seen. */
  | { readonly kind: 'broken'; readonly cause: unknown }
  /** The request was rejected without being processed. */
  | { readonly kind: 'refused'; readonly error: SwitchboardError }
  | { readonly kind: 'dropped' };

/** How long the server may take to accept a notification or a response, in milliseconds. */
export const NOTIFICATION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** How long a server may go without reading a request body, in milliseconds. */
const SEND_TIMEOUT_MS = 30_000;
/** A smaller request fits into network buffers, even if the server reads nothing. In bytes. */
const ALWAYS_SENT_BYTES = 16 * 1024;
/** How long a server may take to read what is in network buffers, in milliseconds. */
const READ_TIMEOUT_MS = 200;
const MAX_REDIRECTS = 5;
/** The redirects that keep the method; a GET remains a GET in any case. */
const FOLLOWED = { POST: [307, 308], DELETE: [307, 308], GET: [301, 302, 303, 307, 308] };
/** Pauses before each further attempt to connect, in milliseconds. */
const RECONNECT_PAUSES_MS = [500, 2000];
const DISCARD_BYTES = 64 * 1024;
const DISCARD_TIMEOUT_MS = 1000;

/**
 * One HTTP request, up to the beginning of its response. Follows redirects within the origin, and retries once with a
 * renewed login and once with a nonce. In all these cases, the server has not processed the request.
 */
export class HttpRequest {
  /** True once the server may have seen some of it. */
  connected = false;
  /** Never rejects. */
  readonly outcome: Promise<HttpOutcome>;
  readonly #endpoint: RemoteEndpoint;
  readonly #options: HttpRequestOptions;
  /** Resolves `outcome`; only the first call has an effect. */
  #end!: (outcome: HttpOutcome) => void;
  #ended = false;
  #request: ClientRequest | undefined;
  #url: URL;
  #authorization: string | undefined;
  #renewed = false;
  /** The last nonce that the server sent, and whether the request was repeated because of one. */
  #nonce: string | undefined;
  #sentForNonce = false;
  /** Whether the last attempt had a proof. There is none for a login that has ended meanwhile. */
  #sentProof = false;
  #attempts = 0;
  #redirects = 0;
  /** Whether all redirects so far were permanent. */
  #permanent = true;

  constructor(endpoint: RemoteEndpoint, options: HttpRequestOptions) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#url = endpoint.url;
    const { message, timeoutMs } = options;
    this.outcome = new Promise((resolve) => {
      const timedOut = (): void => this.#abort({ kind: 'broken', cause: new Error('response timed out') });
      const timer = timeoutMs === undefined ? undefined : setTimeout(timedOut, timeoutMs);
      this.#end = (outcome) => {
        this.#ended = true;
        clearTimeout(timer);
        message?.sent();
        resolve(outcome);
      };
    });
    void this.#run().then(this.#end);
  }

  /** True while the server can still answer on an open connection. */
  get served(): boolean {
    return this.connected && this.#request?.destroyed === false;
  }

  /** Resolves when the server has responded, or has had enough time to read the whole request. */
  async taken(): Promise<void> {
    const request = this.#request;
    if (request?.writableFinished !== true)
      await Promise.race([this.outcome, new Promise((resolve) => request?.once('finish', resolve))]);
    await Promise.race([this.outcome, sleep(READ_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /**
   * Ends the request at any point. A response that is being read is cut off after this many milliseconds at the latest.
   */
  drop(lingerMs = 0): void {
    if (lingerMs === 0 || !this.served) this.#abort({ kind: 'dropped' });
    else {
      const timer = setTimeout(() => this.drop(), lingerMs);
      this.#request?.once('close', () => clearTimeout(timer));
    }
  }

  #abort(outcome: HttpOutcome): void {
    this.#end(outcome);
    this.#request?.destroy();
  }

  async #run(): Promise<HttpOutcome> {
    const { login } = this.#endpoint;
    const { url } = this.#options;
    if (url !== undefined) this.#url = await url;
    if (login !== undefined) this.#authorization = await login.authorization();
    while (!this.#ended) {
      const authorization = this.#authorization;
      const outcome = await (isBound(authorization)
        ? this.#attemptWithProof(authorization)
        : this.#attempt());
      const final = await this.#finalOf(outcome);
      if (final !== undefined) return final;
    }
    return { kind: 'dropped' };
  }

  /** A proof is valid for one request: a redirect or a retry requires a new one. */
  async #attemptWithProof(authorization: string): Promise<HttpOutcome> {
    const { login, nonce } = this.#endpoint;
    const { method } = this.#options;
    const request = { authorization, method, url: this.#url, nonce: this.#nonce ?? nonce };
    const proof = await login?.proof(request);
    if (this.#ended) return { kind: 'dropped' };
    const outcome = await this.#attempt(proof);
    if (outcome.kind === 'answered') {
      const sent = nonceIn(outcome.response.headers['dpop-nonce']);
      if (sent !== undefined) this.#endpoint.nonce = this.#nonce = sent;
    }
    return outcome;
  }

  #attempt(proof?: string): Promise<HttpOutcome> {
    const endpoint = this.#endpoint;
    const { method, message } = this.#options;
    endpoint.authorization = this.#authorization;
    let request: ClientRequest;
    try {
      request = (endpoint.secure ? https : http).request(this.#url, {
        method,
        agent: endpoint.agent,
        headers: this.#headers(proof),
      });
    } catch (cause) {
      return Promise.resolve({ kind: 'refused', error: unsendable(endpoint, cause) });
    }
    this.#request = request;
    this.#sentProof = proof !== undefined;
    let reached = false;
    let connecting: NodeJS.Timeout | undefined;
    const connected = (socket: Socket): void => {
      clearTimeout(connecting);
      reached = this.connected = true;
      if ((message?.length ?? 0) > ALWAYS_SENT_BYTES) watchSending(request, socket);
    };
    request.on('socket', (socket: Socket) => {
      if (request.reusedSocket) {
        connected(socket);
        return;
      }
      connecting = setTimeout(() => request.destroy(new Error('connection timed out')), CONNECT_TIMEOUT_MS);
      socket.once(endpoint.secure ? 'secureConnect' : 'connect', () => connected(socket));
    });
    request.on('finish', () => message?.sent());
    for (const piece of message?.pieces ?? []) request.write(piece);
    request.end();
    return new Promise((resolve) => {
      const failed = (cause: unknown): void => {
        clearTimeout(connecting);
        resolve({ kind: reached ? 'broken' : 'unreachable', cause });
      };
      request.on('response', (response) => {
        // The response may fail after we stop reading it.
        response.on('error', () => undefined);
        resolve({ kind: 'answered', response, status: response.statusCode ?? 0 });
      });
      request.on('error', failed);
      request.on('close', () => failed({ code: 'ECONNRESET' }));
    });
  }

  /** The outcome of an attempt; undefined if the request has to be sent again. */
  #finalOf(outcome: HttpOutcome): HttpOutcome | undefined | Promise<HttpOutcome | undefined> {
    if (this.#ended || (outcome.kind !== 'answered' && outcome.kind !== 'unreachable')) return outcome;
    if (outcome.kind === 'unreachable') {
      const pause = RECONNECT_PAUSES_MS[this.#attempts++];
      if (pause === undefined || this.#options.retries?.() !== true) return outcome;
      return sleep(pause, undefined, { ref: false });
    }
    const { response, status } = outcome;
    if (status >= 300 && status < 400 && status !== 304) return this.#redirected(response, status);
    if (!requiresLogin(response, status)) return outcome;
    const challenge = response.headers['www-authenticate'] ?? '';
    const isProofRejected = this.#sentProof && PROOF_REJECTED.test(challenge);
    return isProofRejected ? this.#tryNonce(response, challenge) : this.#renewLogin(response, status);
  }

  #redirected(response: IncomingMessage, status: number): HttpOutcome | undefined {
    const endpoint = this.#endpoint;
    const { method, url } = this.#options;
    discard(response);
    const target = locationOf(response, this.#url);
    const follows = FOLLOWED[method].includes(status) && target?.origin === this.#url.origin;
    if (!follows) return { kind: 'refused', error: badRedirect(endpoint, status, target) };
    if (++this.#redirects > MAX_REDIRECTS)
      return { kind: 'refused', error: tooManyRedirects(endpoint, status, MAX_REDIRECTS) };
    this.#url = target;
    // Later requests skip the redirect if it is permanent.
    this.#permanent &&= status === 308;
    if (this.#permanent && url === undefined && method === 'POST') endpoint.url = target;
    return undefined;
  }

  /**
   * The login is valid but the proof is not. Retries with a new proof if the server has only now sent the nonce it
   * requires.
   */
  #tryNonce(response: IncomingMessage, challenge: string): HttpOutcome | undefined {
    discard(response);
    const wanted = /use_dpop_nonce/i.test(challenge) && nonceIn(response.headers['dpop-nonce']) !== undefined;
    if (!wanted || this.#sentForNonce)
      return { kind: 'refused', error: proofRejected(this.#endpoint, challenge) };
    this.#sentForNonce = true;
    return undefined;
  }

  async #renewLogin(response: IncomingMessage, status: number): Promise<HttpOutcome | undefined> {
    discard(response);
    const endpoint = this.#endpoint;
    const before = this.#authorization;
    const challenge = response.headers['www-authenticate'];
    // A login that was just renewed is not renewed again; its scopes may still be insufficient.
    const next =
      this.#renewed && status === 401 ? undefined : await endpoint.login?.renewed(before, challenge);
    if (next?.kind === 'renewed' && !this.#renewed && next.authorization !== before) {
      this.#renewed = true;
      this.#authorization = next.authorization;
      return undefined;
    }
    const reason = next?.kind === 'renewed' ? undefined : next;
    return { kind: 'refused', error: loginNeeded(endpoint, status, before !== undefined, reason) };
  }

  #headers(proof: string | undefined): Record<string, string> {
    const { method, message, lastEventId, headers } = this.#options;
    const all: Record<string, string> = { ...this.#endpoint.headers(), ...headers };
    if (this.#authorization !== undefined) all.authorization = this.#authorization;
    if (proof !== undefined) all.dpop = proof;
    if (method !== 'DELETE')
      all.accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream';
    if (lastEventId !== undefined) all['last-event-id'] = lastEventId;
    const trace = message?.relayed && traceHeaders.toSend.get(message.relayed.request);
    if (trace !== undefined) {
      all.traceparent = trace.traceparent;
      if (trace.tracestate !== undefined) all.tracestate = trace.tracestate;
    }
    if (message !== undefined) {
      all['content-type'] = 'application/json';
      all['content-length'] = String(message.length);
    }
    return all;
  }
}

/** Ends a request if the server does not read any of it for too long. */
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

/** Reads a body to its end and drops it, so that its connection can be reused. Gives up after a short time. */
export function discard(response: IncomingMessage): void {
  let read = 0;
  destroyAfter(response, DISCARD_TIMEOUT_MS);
  response.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > DISCARD_BYTES) response.destroy();
  });
}

/** Cuts off a response whose body takes longer than this, in milliseconds. */
export function destroyAfter(response: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => response.destroy(), ms);
  response.once('close', () => clearTimeout(timer));
}

/** The media type of a response, in lower case and without parameters; empty if there is none. */
export function typeOf(response: IncomingMessage): string {
  const [type = ''] = response.headers['content-type']?.split(';') ?? [];
  return type.trim().toLowerCase();
}

export function isEventStream(response: IncomingMessage): boolean {
  return typeOf(response) === 'text/event-stream';
}

const PROOF_REJECTED = /\b(?:use_dpop_nonce|invalid_dpop_proof)\b/i;

/** Whether the authorization requires a proof. */
function isBound(authorization: string | undefined): authorization is string {
  return authorization?.startsWith('DPoP ') === true;
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
