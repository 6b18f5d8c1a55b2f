import type { ServerResponse } from 'node:http';
import { Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import { beginEvents, COMMENT, writeEvent } from './event-stream.ts';
import { HttpSession, versionIn, type HttpSessionHost } from './session.ts';

/** A client of the older HTTP+SSE transport: one stream carries all its messages, and the session ends with it. */
export class SseSession extends HttpSession {
  readonly #response: ServerResponse;
  #sentAt = performance.now();

  constructor(host: HttpSessionHost, gatewayPath: readonly string[], response: ServerResponse) {
    super(host, gatewayPath);
    this.#response = response;
    response.on('close', () => void this.close());
  }

  /** Opens the stream and tells the client where to send its messages. */
  begin(path: string): void {
    beginEvents(this.#response);
    this.#response.write(`event: endpoint\ndata: ${path}?sessionId=${this.id}\n\n`);
  }

  protected override get connected(): boolean {
    return true;
  }

  protected override deliver(message: Message): void {
    this.#sentAt = performance.now();
    // Its first successful answer is that to initialize.
    if (!this.initialized && message.has(Server.result)) {
      this.initialized = true;
      this.version = versionIn(message);
    }
    writeEvent(this.#response, message, this.sent);
  }

  protected override finish(): void {
    this.#response.end();
  }

  protected override attend(now: number): void {
    if (now - this.#sentAt < this.host.timeouts.keepAliveMs || this.#response.writableLength > 0) return;
    this.#sentAt = now;
    this.#response.write(COMMENT);
  }
}
