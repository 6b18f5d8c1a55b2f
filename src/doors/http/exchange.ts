import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { SerializedMessage } from '../../wire/index.ts';
import type { EventStream } from './event-stream.ts';
import { JSON_TYPE } from './media.ts';
import { isDisconnected } from './reply.ts';
import type { UnsentData } from './unsent-data.ts';

/**
 * One POST with a request, until it is answered: with JSON if the answer comes first, else with an event stream that ends
 * with the answer.
 */
export abstract class HttpExchange {
  readonly openedAt = performance.now();
  protected readonly response: ServerResponse;
  protected readonly unsent: UnsentData;
  #stream: EventStream | undefined;

  /** `stream`: one that is open already. Default: one of its own is opened if need be. */
  constructor(response: ServerResponse, unsent: UnsentData, stream?: EventStream) {
    this.response = response;
    this.unsent = unsent;
    this.#stream = stream;
  }

  /** Opens a stream for the answer; undefined if it must be answered with JSON. */
  protected abstract openStream(): EventStream | undefined;

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
    this.#stream = this.openStream();
    this.#stream?.attach(this.response);
  }

  /** Sends the answer, which ends it. `id` is the id of the request, as JSON text; status and headers are for JSON. */
  protected finish(answer: SerializedMessage, id: string, status = 200, headers?: OutgoingHttpHeaders): void {
    const { response } = this;
    if (this.#stream) {
      this.#stream.send(answer, id);
      this.endStream(this.#stream);
    } else if (!isDisconnected(response)) {
      const { pieces, length } = answer;
      response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': length, ...headers });
      // Node gathers the writes until the end, so that all leave in one.
      const last = pieces.length - 1;
      for (let at = 0; at < last; at++) response.write(pieces[at]);
      response.end(pieces[last]);
      this.unsent.sent(response, length);
    }
  }

  protected endStream(stream: EventStream): void {
    stream.end();
  }
}
