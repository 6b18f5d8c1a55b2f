import type { ServerResponse } from 'node:http';
import { idKey, viewsOf, type Message } from '../../wire/index.ts';
import { beginEvents, type ResumableStream } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import { isGone, replyError } from './reply.ts';

export interface HttpExchangeOptions {
  readonly response: ServerResponse;
  /** The id of the request, as JSON text. */
  readonly id: string;
  /** How large the request is, in bytes. */
  readonly size: number;
  /** The token under which the client wants to hear of progress, as JSON text. */
  readonly token: string | undefined;
  /** Makes the stream that it is answered on. Undefined: it is answered with JSON whatever happens. */
  readonly openStream: (() => ResumableStream) | undefined;
  /** Told of every write. */
  readonly sent: (response: ServerResponse, bytes: number) => void;
  /** What it shares with other requests that came in the same POST. Default: it came alone. */
  readonly batch?: BatchedExchange | undefined;
}

/** A POST with several requests: one stream that ends when all are answered. */
export interface BatchedExchange {
  readonly stream: ResumableStream;
  /** How many are not answered yet. */
  open: number;
}

/**
 * One POST with a request, until it is answered: with JSON if the answer is the first thing to say, else with a stream
 * of events that ends with it. A client that goes away has not cancelled its request.
 */
export class HttpExchange {
  /** The id and the token in one spelling. */
  readonly id: string;
  readonly token: string | undefined;
  readonly openedAt = performance.now();
  /** A younger one with the same id, which the protocol forbids. */
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

  /** Whether something beside the answer would reach the client on it. */
  get carries(): boolean {
    if (this.#stream) return this.#stream.attached;
    const { openStream, response } = this.#options;
    return openStream !== undefined && !isGone(response);
  }

  /** Something on the way to the answer. */
  send(message: Message): void {
    this.becomeStream();
    this.#stream?.send(message);
  }

  becomeStream(): void {
    const { openStream, response } = this.#options;
    if (this.#stream !== undefined || openStream === undefined || isGone(response)) return;
    this.#stream = openStream();
    this.#stream.attach(response);
  }

  /** The answer; nothing comes behind it. */
  answer(message: Message, headers?: Readonly<Record<string, string>>): void {
    if (this.#stream) {
      this.#stream.send(message, this.#options.id);
      this.#endStream(this.#stream);
      return;
    }
    const { response, sent } = this.#options;
    if (isGone(response)) return;
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

  /** The client has taken its request back: nothing more comes, and that is no error. */
  withdraw(): void {
    const { response } = this.#options;
    if (this.#stream) this.#endStream(this.#stream);
    else if (!isGone(response)) {
      beginEvents(response);
      response.end();
    }
  }

  /** There is nobody any more to answer it. */
  abandon(): void {
    const { response, id } = this.#options;
    if (this.#stream) this.#endStream(this.#stream);
    else if (!isGone(response)) replyError(response, { status: 404, id, message: SESSION_ENDED });
  }

  #endStream(stream: ResumableStream): void {
    const { batch } = this.#options;
    if (batch === undefined || --batch.open === 0) stream.end();
  }
}

const SESSION_ENDED = 'Not found: the session has ended. Begin a new one with initialize.';
