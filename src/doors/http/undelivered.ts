import type { SerializedMessage } from '../../wire/index.ts';

const MAX_MESSAGES = 100;
const MAX_BYTES = 1024 * 1024;

interface UndeliveredMessage {
  readonly message: SerializedMessage;
  /** Whether any stream may carry it, not only the GET stream. */
  readonly anywhere: boolean;
}

/** Messages for a client that has no open stream at the moment. Over the limits, the oldest are dropped. */
export class UndeliveredMessages {
  #messages: UndeliveredMessage[] = [];
  #bytes = 0;

  add({ pieces, length }: SerializedMessage, anywhere: boolean): void {
    // Copied, because a piece may be a slice of a large buffer and would keep it alive.
    this.#messages.push({ message: { pieces: [Buffer.concat(pieces)], length }, anywhere });
    this.#bytes += length;
    while (this.#messages.length > MAX_MESSAGES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#messages.shift()!.message.length;
  }

  /** Takes out all messages, oldest first. */
  takeAll(): SerializedMessage[] {
    const all = this.#messages.map(({ message }) => message);
    this.#messages = [];
    this.#bytes = 0;
    return all;
  }

  /** Takes out the messages that any stream may carry. */
  takeAnywhere(): readonly SerializedMessage[] {
    if (this.#messages.length === 0) return NO_MESSAGES;
    const taken = this.#messages.filter(({ anywhere }) => anywhere).map(({ message }) => message);
    this.#messages = this.#messages.filter(({ anywhere }) => !anywhere);
    for (const { length } of taken) this.#bytes -= length;
    return taken;
  }
}

const NO_MESSAGES: readonly SerializedMessage[] = [];
