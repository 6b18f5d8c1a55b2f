import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { Waiters } from '../../shared/waiters.ts';
import type { Caller } from './caller.ts';
import { EVENTS_TYPE } from './media.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { isDisconnected, replyError, type ErrorReply } from './reply.ts';

/** The parts of a request that its proof covers; it is passed on unchanged. */
interface PassedRequestLine {
  readonly method: string;
  readonly url: string;
  readonly session: string;
}

/** The other gateways that serve the same clients. */
export interface HttpReplicas {
  /** Turns random text into an id that every replica recognizes as ours. */
  ownedId(random: string): string;
  /** The other replica that created an id; undefined if we did, or no replica. */
  ownerOf(id: string): string | undefined;
  /** Finds a replica: its address, `gone` if it has ended, or `unknown` if that cannot be told now. */
  find(id: string): Promise<{ readonly address: string } | 'gone' | 'unknown'>;
  /** A replica accepts no connections. */
  forget(id: string): void;
  /** Calls back with each replica that ends, until the returned function is called. */
  whenLost(listener: (id: string) => void): () => void;
  /**
   * Proves that a request comes from this replica, and who sent it. Undefined until the store has been reached for the
   * first time.
   */
  proofFor(to: string, caller: string, request: PassedRequestLine): string | undefined;
  /** The sender of a request that another replica passes on; undefined if the proof is invalid. */
  callerIn(proof: string, request: PassedRequestLine): string | undefined;
}

/** A request for another replica. */
export interface RequestToPass {
  readonly owner: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly caller: Caller;
  /** Default: no body. */
  readonly body?: readonly Buffer[];
  /** The ids of the requests in its body, as JSON text. Default: none. */
  readonly ids?: readonly string[];
  /** The answer if the owner has ended. */
  readonly gone: ErrorReply;
}

/** The header with which a replica proves to another that it passes a request on. */
const PROOF_HEADER = 'switchboard-replica';
/** How many requests may be passed on at the same time; a listening client counts as one. */
const MOST_PASSED = 2048;
const CONNECT_MS = 2000;
/** Shorter than our doors keep idle connections open, in milliseconds. */
const IDLE_MS = 30_000;
/** Headers that apply to a single connection or are set again on the next one. The proof replaces the token. */
const NOT_PASSED = new Set(
  (
    'connection keep-alive proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade ' +
    `host content-length expect authorization date ${PROOF_HEADER}`
  ).split(' '),
);

/**
 * Passes requests on to the replicas that own their sessions or states, and returns the responses; both stay unchanged.
 * Nothing is sent twice: if the owner is lost, the client decides whether to retry.
 */
export class PassedRequests {
  readonly #replicas: HttpReplicas;
  readonly #log: Logger;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #running = new Set<PassedExchange>();
  /** The number of requests whose owner is being looked up. */
  #finding = 0;
  readonly #came = new WeakSet<IncomingMessage>();
  readonly #idle = new Waiters();
  readonly #unwatch: () => void;

  constructor(replicas: HttpReplicas, log: Logger) {
    this.#replicas = replicas;
    this.#log = log;
    this.#unwatch = replicas.whenLost((id) => {
      for (const exchange of this.#running) if (exchange.owner === id) exchange.lose();
    });
  }

  /** The sender of a request that another replica passes on; undefined if it was not passed on. */
  callerOf(request: IncomingMessage): Caller | ErrorReply | undefined {
    const proof = request.headers[PROOF_HEADER];
    if (proof === undefined) return undefined;
    const text = typeof proof === 'string' ? this.#replicas.callerIn(proof, lineOf(request)) : undefined;
    if (text === undefined) return HTTP_REFUSALS.badProof;
    this.#came.add(request);
    // Written by another replica, as its proof shows.
    return JSON.parse(text) as Caller;
  }

  /** The replica to pass a request on to: the one that created this id. A request is passed on only once. */
  ownerOf(request: IncomingMessage, id: string | undefined): string | undefined {
    return id === undefined || this.#came.has(request) ? undefined : this.#replicas.ownerOf(id);
  }

  pass(passed: RequestToPass): void {
    const { response, ids = [] } = passed;
    const refuse = (reply: ErrorReply): void => {
      if (isDisconnected(response)) return;
      if (response.headersSent) response.destroy();
      else replyError(response, { ...reply, id: ids.length === 1 ? ids[0] : undefined });
    };
    if (this.#running.size + this.#finding >= MOST_PASSED) {
      refuse(HTTP_REFUSALS.tooManyPassed);
      return;
    }
    this.#pass(passed, refuse).catch((error: unknown) => {
      this.#log.error('a request was not passed on', { cause: messageOf(error) });
      refuse(HTTP_REFUSALS.failed);
    });
  }

  async #pass(passed: RequestToPass, refuse: (reply: ErrorReply) => void): Promise<void> {
    const { body, ...rest } = passed;
    const { owner, request, response, caller, gone } = rest;
    this.#finding++;
    const place = await this.#replicas.find(owner).finally(() => this.#finding--);
    const proof = this.#replicas.proofFor(owner, JSON.stringify(caller), lineOf(request));
    if (place === 'gone') refuse(gone);
    else if (place === 'unknown' || proof === undefined) refuse(HTTP_REFUSALS.storeAway);
    else if (!isDisconnected(response)) {
      const exchange = new PassedExchange(rest, {
        address: place.address,
        proof,
        agent: this.#agent,
        refuse,
        unreachable: (error) => {
          const isGone = nodeErrorCode(error) === 'ECONNREFUSED';
          if (isGone) this.#replicas.forget(owner);
          else this.#log.warn('cannot reach a replica', { address: place.address, reason: messageOf(error) });
          // A replica that does not answer in time may be busy: its session continues.
          refuse(isGone ? gone : HTTP_REFUSALS.replicaUnreachable);
        },
        ended: () => {
          this.#running.delete(exchange);
          if (this.#isIdle) this.#idle.tell();
        },
      });
      this.#running.add(exchange);
      exchange.send(body);
    }
  }

  /** Resolves when no request is waiting for its answer. */
  async idle(): Promise<void> {
    if (!this.#isIdle) await this.#idle.wait();
  }

  /** Ends all remaining requests. */
  close(): void {
    this.#unwatch();
    for (const exchange of this.#running) exchange.lose();
    this.#agent.destroy();
  }

  get #isIdle(): boolean {
    return ![...this.#running].some(({ waits }) => waits);
  }
}

function lineOf({ method = '', url = '', headers }: IncomingMessage): PassedRequestLine {
  const session = headers['mcp-session-id'];
  return { method, url, session: typeof session === 'string' ? session : '' };
}

interface PassedExchangeOptions {
  readonly address: string;
  readonly proof: string;
  readonly agent: Agent;
  readonly refuse: (reply: ErrorReply) => void;
  /** There was no connection, so nothing was sent. */
  readonly unreachable: (error: Error) => void;
  readonly ended: () => void;
}

/** One request that is passed on to its owner, until its response has been returned. */
class PassedExchange {
  /** Excludes the body, which is not kept for the duration of a call. */
  readonly #passed: Omit<RequestToPass, 'body'>;
  readonly #options: PassedExchangeOptions;
  #outgoing!: ClientRequest;
  /** Whether part of the request may have arrived. */
  #sent = false;
  #ended = false;
  /** The last bytes returned of an event stream; undefined for any other response. */
  #tail: string | undefined;

  constructor(passed: Omit<RequestToPass, 'body'>, options: PassedExchangeOptions) {
    this.#passed = passed;
    this.#options = options;
  }

  get owner(): string {
    return this.#passed.owner;
  }

  /** Whether its client waits for an answer and is not just listening. */
  get waits(): boolean {
    return this.#passed.request.method !== 'GET';
  }

  send(body: readonly Buffer[] = []): void {
    const { request, response } = this.#passed;
    const { address, proof, agent } = this.#options;
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const { hostname, port } = new URL(address);
    const outgoing = httpRequest({
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      path: request.url ?? '/',
      method: request.method ?? 'GET',
      agent,
      headers: {
        ...passedHeaders(request.headers),
        [PROOF_HEADER]: proof,
        ...(request.method === 'POST' ? { 'content-length': length } : {}),
      },
    });
    this.#outgoing = outgoing;
    outgoing.on('socket', (socket) => {
      if (!socket.connecting) {
        this.#sent = true;
        return;
      }
      const timer = setTimeout(() => outgoing.destroy(new Error('connecting took too long')), CONNECT_MS);
      const stop = (): void => clearTimeout(timer);
      socket.once('close', stop).once('connect', () => {
        stop();
        this.#sent = true;
      });
    });
    outgoing.on('response', (answer) => this.#passBack(answer));
    outgoing.on('error', (error) => this.#failed(error));
    // The client has left: to the owner it looks as if the client had left there.
    response.on('close', () => {
      this.#end();
      outgoing.destroy();
    });
    for (const piece of body) outgoing.write(piece);
    outgoing.end();
  }

  /** The owner has ended, or this replica is ending. */
  lose(): void {
    this.#outgoing.destroy(new Error('the replica has ended'));
    // Needed even if the response has started to arrive.
    this.#cut();
  }

  #passBack(answer: IncomingMessage): void {
    const { response } = this.#passed;
    answer.on('error', () => undefined);
    answer.on('close', () => {
      if (!answer.complete) this.#cut();
    });
    if (isDisconnected(response)) return;
    response.writeHead(answer.statusCode ?? 502, passedHeaders(answer.headers, answer));
    if (answer.headers['content-type']?.startsWith(EVENTS_TYPE) !== true) {
      answer.pipe(response);
      return;
    }
    response.flushHeaders();
    this.#tail = '';
    answer.on('data', (chunk: Buffer) => {
      this.#tail = `${this.#tail ?? ''}${chunk.subarray(-2).toString('latin1')}`.slice(-2);
    });
    // We end the response ourselves, because an error may have to be added first.
    answer.pipe(response, { end: false });
    answer.on('end', () => response.end());
  }

  #failed(error: Error): void {
    if (this.#ended) return;
    if (this.#sent) this.#cut();
    else {
      this.#end();
      this.#options.unreachable(error);
    }
  }

  /** Ends the response here, with an error if that is still possible. */
  #cut(): void {
    if (this.#ended) return;
    this.#end();
    const { response, ids = [] } = this.#passed;
    if (!response.headersSent) this.#options.refuse(HTTP_REFUSALS.replicaLost);
    else if (this.#tail === '' || this.#tail === '\n\n') response.end(ids.map(lostEvent).join(''));
    else response.destroy();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.ended();
  }
}

function passedHeaders(headers: IncomingMessage['headers'], answer?: IncomingMessage): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(([name]) => !NOT_PASSED.has(name));
  const length = answer?.headers['content-length'];
  return { ...Object.fromEntries(passed), ...(length === undefined ? {} : { 'content-length': length }) };
}

function lostEvent(id: string): string {
  const { code, message } = HTTP_REFUSALS.replicaLost;
  const error = JSON.stringify({ code, message });
  return `event: message\ndata: {"jsonrpc":"2.0","id":${id},"error":${error}}\n\n`;
}
