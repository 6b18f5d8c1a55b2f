import type { SerializedMessage } from '../../wire/index.ts';

const MAX_MESSAGES = 100;
const MAX_BYTES = 1024 * 1024;

/** Messages for a client without an open stream. Above the limits, the oldest are dropped. */
export class UndeliveredMessages {
  #messages: { readonly message: SerializedMessage; readonly related: boolean }[] = [];
  #bytes = 0;

  /** `related`: it may belong to any request, so any stream may carry it, not only the GET stream. */
  add({ pieces, length }: SerializedMessage, related: boolean): void {
    // Copied because a piece may be a slice of a large buffer and would keep that buffer alive.
    this.#messages.push({ message: { pieces: [Buffer.concat(pieces)], length }, related });
    this.#bytes += length;
    while (this.#messages.length > MAX_MESSAGES || this.#bytes > MAX_BYTES)
      this.#bytes -= this.#messages.shift()?.message.length ?? 0;
  }

  /** Removes and returns messages, oldest first. */
  take(which: 'all' | 'related'): readonly SerializedMessage[] {
    if (this.#messages.length === 0) return NO_MESSAGES;
    const taken = this.#messages.filter(({ related }) => related || which === 'all');
    this.#messages = this.#messages.filter((each) => !taken.includes(each));
    for (const { message } of taken) this.#bytes -= message.length;
    return taken.map(({ message }) => message);
  }
}

const NO_MESSAGES: readonly SerializedMessage[] = [];
