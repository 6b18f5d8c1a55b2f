import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Client } from '../../protocol/index.ts';
import { idKey, type Message, type SerializedMessage } from '../../wire/index.ts';
import { beginEvents, type EventStream } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { isDisconnected, replyError } from './reply.ts';
import type { UnsentData } from './unsent-data.ts';
import type { Linked } from '../../shared/linked-set.ts';

/** Opens a stream for an answer. */
type StreamOpener = (unsent: UnsentData) => EventStream;

/**
 * One POST with a request, until it is answered: with JSON if the answer is the first message, otherwise with an event
 * stream that ends with the answer.
 */
export class HttpExchange {
  readonly openedAt = performance.now();
  protected readonly response: ServerResponse;
  protected readonly unsent: UnsentData;
  protected readonly openStream: StreamOpener | undefined;
  #stream: EventStream | undefined = undefined;

  /** Without `openStream`, it is always answered with JSON. */
  constructor(response: ServerResponse, unsent: UnsentData, openStream: StreamOpener | undefined) {
    this.response = response;
    this.unsent = unsent;
    this.openStream = openStream;
  }

  /** Uses a stream that is already open. */
  join(stream: EventStream): void {
    this.#stream = stream;
  }

  get stream(): EventStream | undefined {
    return this.#stream;
  }

  /** Sends a message before the answer. */
  send(message: SerializedMessage): void {
    this.becomeStream();
    this.#stream?.send(message);
  }

  becomeStream(): void {
    if (this.#stream !== undefined || isDisconnected(this.response)) return;
    this.#stream = this.openStream?.(this.unsent);
    this.#stream?.attach(this.response);
  }

  /**
   * Sends the answer, which ends the exchange. Status and headers apply to JSON. `id` is the id of the request, as JSON
   * text.
   */
  protected finish(
    answer: SerializedMessage,
    status: number,
    headers?: OutgoingHttpHeaders,
    id?: string,
  ): void {
    const { response } = this;
    if (this.#stream) {
      this.#stream.send(answer, id);
      this.#stream.end();
    } else if (!isDisconnected(response)) {
      const { pieces, length } = answer;
      response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': length, ...headers });
      // Node holds the writes back until the end, so that they are sent together.
      const last = pieces.length - 1;
      for (let at = 0; at < last; at++) response.write(pieces[at]);
      response.end(pieces[last]);
      this.unsent.sent(response, length);
    }
  }
}

/** A POST in a session. A client that disconnects has not cancelled its request, because it may resume the stream. */
export class SessionExchange extends HttpExchange implements Linked<SessionExchange> {
  before: SessionExchange | undefined = undefined;
  after: SessionExchange | undefined = undefined;
  /** The canonical text of the id and the token. */
  readonly id: string;
  readonly token: string | undefined;
  readonly #idText: string;

  constructor(
    request: Message,
    response: ServerResponse,
    unsent: UnsentData,
    openStream: StreamOpener | undefined,
  ) {
    super(response, unsent, openStream);
    this.#idText = request.requiredText(Client.id);
    this.id = idKey(this.#idText);
    const token = request.text(Client.progressToken);
    this.token = token === undefined ? undefined : idKey(token);
  }

  /** Whether it can carry messages other than the answer. */
  get carries(): boolean {
    const { stream } = this;
    return stream ? stream.attached : this.openStream !== undefined && !isDisconnected(this.response);
  }

  /** Sends the answer, which ends the exchange. */
  answer(answer: SerializedMessage, headers?: OutgoingHttpHeaders): void {
    this.finish(answer, 200, headers, this.#idText);
  }

  /** The client has cancelled the request: the exchange ends without an answer. */
  withdraw(): void {
    const { response, stream } = this;
    if (stream) stream.end();
    else if (!isDisconnected(response)) {
      beginEvents(response);
      response.end();
    }
  }

  /** The session ends before the request is answered. */
  abandon(): void {
    const { response, stream } = this;
    if (stream) stream.end();
    else if (!isDisconnected(response))
      replyError(response, { ...HTTP_REFUSALS.sessionEnded, id: this.#idText });
  }
}
