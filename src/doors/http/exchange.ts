import type { ServerResponse } from 'node:http';
import { idKey, viewsOf, type Message } from '../../wire/index.ts';
import { beginEvents, type ResumableStream } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import { isDisconnected, replyError } from './reply.ts';

export interface HttpExchangeOptions {
  readonly response: ServerResponse;
  /** The id of the request, as JSON text. */
  readonly id: string;
  /** How large the request is, in bytes. */
  readonly size: number;
  /** Its progress token, as JSON text. */
  readonly token: string | undefined;
  /** Opens the stream for the answer. Undefined: it is always answered with JSON. */
  readonly openStream: (() => ResumableStream) | undefined;
  /** Called after every write. */
  readonly sent: (response: ServerResponse, bytes: number) => void;
  /** Shared by the requests of one POST. Default: the POST has one request. */
  readonly batch?: BatchedExchange | undefined;
}

/** A POST with several requests: one stream that ends when all are answered. */
export interface BatchedExchange {
  readonly stream: ResumableStream;
  /** How many are not answered yet. */
  open: number;
}

/**
 * One POST with a request, until it is answered: with JSON if the answer comes first, else with an event stream that ends
 * with the answer. A client that disconnects has not cancelled its request.
 */
export class HttpExchange {
  /** The id and the token in canonical form. */
  readonly id: string;
  readonly token: string | undefined;
  readonly openedAt = performance.now();
  /** A newer one with the same id, which the protocol forbids. */
  next: HttpExchange | undefined = undefined;
  readonly #options: HttpExchangeOptions;
  #stream: ResumableStream | undefined;

  constructor(options: HttpExchangeOptions) {
    this.id = idKey(options.id);
    this.token = options.token === undefined ? undefined : idKey(options.token);
    this.#options = options;
    this.#stream = options.batch?.stream;
  }

  get size(): number {
    return this.#options.size;
  }

  get stream(): ResumableStream | undefined {
    return this.#stream;
  }

  /** Whether other messages than the answer can reach the client on it. */
  get carries(): boolean {
    if (this.#stream) return this.#stream.attached;
    const { openStream, response } = this.#options;
    return openStream !== undefined && !isDisconnected(response);
  }

  /** Sends a message before the answer. */
  send(message: Message): void {
    this.becomeStream();
    this.#stream?.send(message);
  }

  becomeStream(): void {
    const { openStream, response } = this.#options;
    if (this.#stream !== undefined || openStream === undefined || isDisconnected(response)) return;
    this.#stream = openStream();
    this.#stream.attach(response);
  }

  /** Sends the answer, which ends it. */
  answer(message: Message, headers?: Readonly<Record<string, string>>): void {
    if (this.#stream) {
      this.#stream.send(message, this.#options.id);
      this.#endStream(this.#stream);
      return;
    }
    const { response, sent } = this.#options;
    if (isDisconnected(response)) return;
    const { bytes, length } = message;
    response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': length, ...headers });
    if (bytes.buffer) response.end(bytes.buffer.subarray(bytes.from, bytes.to));
    else {
      response.cork();
      for (const view of viewsOf(bytes, bytes.from, bytes.to)) response.write(view);
      response.end();
      response.uncork();
    }
    sent(response, length);
  }

  /** The client has cancelled the request: it ends without an answer. */
  withdraw(): void {
    const { response } = this.#options;
    if (this.#stream) this.#endStream(this.#stream);
    else if (!isDisconnected(response)) {
      beginEvents(response);
      response.end();
    }
  }

  /** The session ends before the answer. */
  abandon(): void {
    const { response, id } = this.#options;
    if (this.#stream) this.#endStream(this.#stream);
    else if (!isDisconnected(response)) replyError(response, { status: 404, id, message: SESSION_ENDED });
  }

  #endStream(stream: ResumableStream): void {
    const { batch } = this.#options;
    if (batch === undefined || --batch.open === 0) stream.end();
  }
}

const SESSION_ENDED = 'Not found: the session has ended. Start a new one with initialize.';
