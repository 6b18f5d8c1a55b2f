import { SERVER_SHAPE } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';

const MAX_MESSAGES = 100;
const MAX_BYTES = 1024 * 1024;

interface UndeliveredMessage {
  readonly message: Message;
  /** Whether any stream may carry it, not only the one that the client listens on. */
  readonly anywhere: boolean;
}

/** What is for a client that has nothing open at the moment to send it on. Of too much the oldest is given up. */
export class UndeliveredMessages {
  #messages: UndeliveredMessage[] = [];
  #bytes = 0;

  add(message: Message, anywhere: boolean): void {
    // A copy: the message may be a small piece of a large buffer, which it would keep.
    this.#messages.push({ message: Message.fromText(message.toString(), SERVER_SHAPE), anywhere });
    this.#bytes += message.length;
    while (this.#messages.length > MAX_MESSAGES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#messages.shift()!.message.length;
  }

  /** Everything, oldest first; it is kept no longer. */
  takeAll(): Message[] {
    const all = this.#messages.map(({ message }) => message);
    this.#messages = [];
    this.#bytes = 0;
    return all;
  }

  /** The same of what any stream may carry. */
  takeAnywhere(): Message[] {
    if (this.#messages.length === 0) return NO_MESSAGES;
    const taken = this.#messages.filter(({ anywhere }) => anywhere).map(({ message }) => message);
    this.#messages = this.#messages.filter(({ anywhere }) => !anywhere);
    for (const { length } of taken) this.#bytes -= length;
    return taken;
  }
}

const NO_MESSAGES: Message[] = [];
