import {
  Envelope,
  serialize,
  type Edit,
  type Message,
  type MessageReceiver,
  type MessageTransport,
  type OwnMessage,
  type SerializedMessage,
} from '../../wire/index.ts';
import type { Inbox } from './inbox.ts';

/** What is known about a message to the server. */
export interface OutgoingFacts {
  /** Undefined for a response. */
  readonly method: string | undefined;
  /** Our id of a request, otherwise 0. */
  readonly id: number;
  /** The id of the request that it cancels, otherwise 0. */
  readonly cancels: number;
  /** The client's request that it forwards, with the edits; undefined for a message of our own. */
  readonly relayed: { readonly request: Message; readonly edits: readonly Edit[] } | undefined;
}

export interface Outgoing extends OutgoingFacts, SerializedMessage {
  /** The network has accepted its bytes, or they will never be sent. May be called more than once. */
  sent(): void;
}

/** How many bytes may be in transmission before further messages wait. */
const SENDING_BYTES = 1024 * 1024;

/**
 * The messages to and from a remote server. Messages to the server are sent in order. They wait while too many bytes
 * are in transmission, and while the queue is held. A message that is cancelled while it waits is never sent.
 */
export class RemoteMessages implements MessageTransport {
  /** Bytes that the network has not accepted yet. */
  backlog = 0;
  readonly #inbox: Inbox;
  readonly #send: (message: Outgoing) => void;
  readonly #onDrained: (() => void)[] = [];
  #waiting: Outgoing[] = [];
  #sending = 0;
  #held = false;

  constructor(inbox: Inbox, send: (message: Outgoing) => void) {
    this.#inbox = inbox;
    this.#send = send;
  }

  connect(receiver: MessageReceiver): void {
    this.#inbox.connect(receiver);
  }

  forward(notification: Message, edits: readonly Edit[]): void {
    this.#add(serialize(notification, edits), { method: notification.string(Envelope.method) });
  }

  forwardRequest(id: number, request: Message, edits: readonly Edit[]): void {
    const method = request.string(Envelope.method);
    this.#add(serialize(request, edits, id), { id, method, relayed: { request, edits } });
  }

  forwardAnswer(request: Message, answer: Message, edits: readonly Edit[]): void {
    this.#add(serialize(answer, edits, request));
  }

  sendText(json: string, about: OwnMessage): void {
    const bytes = Buffer.from(json);
    const body = { pieces: [bytes], length: bytes.length };
    if (about.kind === 'answer') this.#add(body);
    else if (about.kind === 'request') this.#add(body, { method: about.method, id: about.id });
    else this.#add(body, { method: about.method, cancels: about.cancels ?? 0 });
  }

  get congested(): boolean {
    return this.backlog > SENDING_BYTES;
  }

  whenDrained(listener: () => void): void {
    this.#onDrained.push(listener);
  }

  pause(): void {
    this.#inbox.pause();
  }

  resume(): void {
    this.#inbox.resume();
  }

  readRareMembers(): void {
    this.#inbox.readRareMembers();
  }

  /** Makes everything that has not been sent wait until `release`. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#sendWaiting();
  }

  /** Drops the waiting messages and stops delivering. */
  close(): void {
    this.#inbox.close();
    for (const { length } of this.#waiting.splice(0)) this.backlog -= length;
    for (const listener of this.#onDrained.splice(0)) listener();
  }

  /** The message is sent after the current task, so that a failure is never reported before this method returns. */
  #add({ pieces, length }: SerializedMessage, facts: Partial<OutgoingFacts> = {}): void {
    const { method, id = 0, cancels = 0, relayed } = facts;
    if (cancels > 0 && this.#withdraw(cancels)) return;
    let unsent = true;
    const sent = (): void => {
      if (!unsent) return;
      unsent = false;
      this.#sending -= length;
      this.#left(length);
      this.#sendWaiting();
    };
    this.backlog += length;
    this.#waiting.push({ pieces, length, method, id, cancels, relayed, sent });
    queueMicrotask(() => this.#sendWaiting());
  }

  #sendWaiting(): void {
    while (!this.#held && this.#sending <= SENDING_BYTES) {
      const message = this.#waiting.shift();
      if (message === undefined) return;
      this.#sending += message.length;
      this.#send(message);
    }
  }

  #withdraw(id: number): boolean {
    const message = this.#waiting.find((waiting) => waiting.id === id);
    if (message === undefined) return false;
    this.#waiting.splice(this.#waiting.indexOf(message), 1);
    this.#left(message.length);
    return true;
  }

  #left(length: number): void {
    this.backlog -= length;
    if (!this.congested) for (const listener of this.#onDrained.splice(0)) listener();
  }
}
