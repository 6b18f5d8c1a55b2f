import type { ServerResponse } from 'node:http';
import { Client } from '../../protocol/index.ts';
import { idKey, type Message, type SerializedMessage } from '../../wire/index.ts';
import { beginEvents, type EventStream } from './event-stream.ts';
import { HttpExchange } from './exchange.ts';
import { isDisconnected, replyError } from './reply.ts';
import type { UnsentData } from './unsent-data.ts';

export interface SessionExchangeOptions {
  readonly unsent: UnsentData;
  /** Opens the stream for the answer. Undefined: it is always answered with JSON. */
  readonly openStream: (() => EventStream) | undefined;
  /** Shared by the requests of one POST. Default: the POST has one request. */
  readonly batch?: BatchedExchange | undefined;
}

/** A POST with several requests: one stream that ends when all are answered. */
export interface BatchedExchange {
  readonly stream: EventStream;
  /** How many are not answered yet. */
  open: number;
}

/** A POST in a session. A client that disconnects has not cancelled its request: it may resume the stream. */
export class SessionExchange extends HttpExchange {
  /** The id and the token in canonical form. */
  readonly id: string;
  readonly token: string | undefined;
  /** A newer one with the same id, which the protocol forbids. */
  next: SessionExchange | undefined = undefined;
  readonly #idText: string;
  readonly #openStream: (() => EventStream) | undefined;
  readonly #batch: BatchedExchange | undefined;

  constructor(
    request: Message,
    response: ServerResponse,
    { unsent, openStream, batch }: SessionExchangeOptions,
  ) {
    super(response, unsent, batch?.stream);
    this.#idText = request.text(Client.id)!;
    this.id = idKey(this.#idText);
    const token = request.text(Client.progressToken);
    this.token = token === undefined ? undefined : idKey(token);
    this.#openStream = openStream;
    this.#batch = batch;
  }

  /** Whether other messages than the answer can reach the client on it. */
  get carries(): boolean {
    const { stream } = this;
    return stream ? stream.attached : this.#openStream !== undefined && !isDisconnected(this.response);
  }

  /** Sends the answer, which ends it. */
  answer(answer: SerializedMessage, headers?: Readonly<Record<string, string>>): void {
    this.finish(answer, this.#idText, 200, headers);
  }

  /** The client has cancelled the request: it ends without an answer. */
  withdraw(): void {
    const { response, stream } = this;
    if (stream) this.endStream(stream);
    else if (!isDisconnected(response)) {
      beginEvents(response);
      response.end();
    }
  }

  /** The session ends before the answer. */
  abandon(): void {
    const { response, stream } = this;
    if (stream) this.endStream(stream);
    else if (!isDisconnected(response))
      replyError(response, { status: 404, id: this.#idText, message: SESSION_ENDED });
  }

  protected override openStream(): EventStream | undefined {
    return this.#openStream?.();
  }

  protected override endStream(stream: EventStream): void {
    if (this.#batch === undefined || --this.#batch.open === 0) stream.end();
  }
}

const SESSION_ENDED = 'Not found: the session has ended. Start a new one with initialize.';
