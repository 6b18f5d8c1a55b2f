import type { Edit, Message, SerializedMessage } from '../../wire/index.ts';

/** A request of a client, and the edits with which it is sent. */
export interface RelayedMessage {
  readonly request: Message;
  readonly edits: readonly Edit[];
}

/** A message to the server, serialized, with what is known about it. */
export class Outgoing {
  /** Its bytes in order. */
  readonly pieces: readonly Buffer[];
  /** In bytes. */
  readonly length: number;
  /** Undefined for a response. */
  readonly method: string | undefined;
  /** Our id of a request, else 0. */
  readonly id: number;
  /** The request that it cancels, else 0. */
  readonly cancels: number;
  /** Set for the request of a client, undefined for a message of our own. */
  readonly relayed: RelayedMessage | undefined;
  #onSent: (() => void) | undefined;

  constructor(
    { pieces, length }: SerializedMessage,
    method?: string,
    { id = 0, cancels = 0, relayed }: { id?: number; cancels?: number; relayed?: RelayedMessage } = {},
  ) {
    this.pieces = pieces;
    this.length = length;
    this.method = method;
    this.id = id;
    this.cancels = cancels;
    this.relayed = relayed;
  }

  onSent(listener: () => void): void {
    this.#onSent = listener;
  }

  /** The network has taken its bytes, or they will not be sent. May be called more than once. */
  sent(): void {
    const listener = this.#onSent;
    this.#onSent = undefined;
    listener?.();
  }
}

/** Bytes that are being sent beyond which further messages wait. */
const SENDING_BYTES = 1024 * 1024;

/**
 * Messages to the server, in order. They wait while too many bytes are being sent, and while the queue is held. What is
 * cancelled while it waits is never sent.
 */
export class SendQueue {
  /** Bytes that the network has not taken yet. */
  backlog = 0;
  readonly #send: (message: Outgoing) => void;
  readonly #onDrained: (() => void)[] = [];
  #waiting: Outgoing[] = [];
  #sending = 0;
  #held = false;
  #scheduled = false;

  constructor(send: (message: Outgoing) => void) {
    this.#send = send;
  }

  get congested(): boolean {
    return this.backlog > SENDING_BYTES;
  }

  whenDrained(listener: () => void): void {
    this.#onDrained.push(listener);
  }

  /** The message is sent after the current task, so that a failure is never reported before this returns. */
  add(message: Outgoing): void {
    if (message.cancels > 0 && this.#withdraw(message.cancels)) return;
    this.backlog += message.length;
    this.#waiting.push(message);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#sendWaiting();
    });
  }

  /** Everything added from now on waits until `release`. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#sendWaiting();
  }

  /** Drops what waits. */
  close(): void {
    for (const message of this.#waiting.splice(0)) this.backlog -= message.length;
    for (const listener of this.#onDrained.splice(0)) listener();
  }

  #sendWaiting(): void {
    while (this.#waiting.length > 0 && !this.#held && this.#sending <= SENDING_BYTES) {
      const message = this.#waiting.shift()!;
      this.#sending += message.length;
      message.onSent(() => {
        this.#sending -= message.length;
        this.#left(message);
        this.#sendWaiting();
      });
      this.#send(message);
    }
  }

  #withdraw(id: number): boolean {
    const at = this.#waiting.findIndex((message) => message.id === id);
    if (at < 0) return false;
    this.#left(this.#waiting.splice(at, 1)[0]!);
    return true;
  }

  #left(message: Outgoing): void {
    this.backlog -= message.length;
    if (!this.congested) for (const listener of this.#onDrained.splice(0)) listener();
  }
}
