import type { ServerResponse } from 'node:http';
import type { SerializedMessage } from '../../wire/index.ts';
import { EventStream } from './event-stream.ts';
import type { Caller } from './caller.ts';
import { HttpSession, type HttpSessionHost } from './session.ts';

/**
 * A client of the older HTTP+SSE transport: one stream carries all its messages, and the session ends with that stream.
 */
export class SseSession extends HttpSession {
  readonly #stream: EventStream;
  readonly connected = true;

  constructor(host: HttpSessionHost, caller: Caller, gatewayPath: readonly string[]) {
    super(host, caller, gatewayPath);
    this.#stream = new EventStream(this.unsent);
  }

  /** Opens the stream and tells the client where to POST its messages. */
  begin(path: string, response: ServerResponse): void {
    response.on('close', () => void this.close());
    this.#stream.attach(response);
    this.#stream.write(`event: endpoint\ndata: ${path}?sessionId=${this.id}\n\n`);
  }

  protected override deliverAnswer(_id: string, answer: SerializedMessage, failed: boolean): void {
    // The first successful answer is the one to initialize.
    if (!failed) this.initialized = true;
    this.#stream.send(answer);
  }

  protected override deliver(message: SerializedMessage): void {
    this.#stream.send(message);
  }

  protected override finish(): void {
    this.#stream.end();
  }

  protected override attend(now: number): void {
    this.#stream.keepAlive(now, this.host.timeouts.keepAliveMs);
  }
}
