import { Client } from '../../protocol/index.ts';
import type { Message, Peer } from '../../wire/index.ts';
import type { Linked } from './linked-set.ts';

/** The connection that an attempt is answered on. */
export interface AttemptOwner {
  readonly peer: Peer;
  /** It has been answered. */
  ended(attempt: Attempt): void;
}

/** Handles an attempt. */
export interface AttemptHandler {
  /** The client has cancelled it. */
  cancel(reason: string | undefined): void;
}

/**
 * One request on one connection, until it is answered. A call that requires input takes several attempts: the client
 * retries it with the input.
 */
export class Attempt implements Linked<Attempt> {
  before: Attempt | undefined = undefined;
  after: Attempt | undefined = undefined;
  readonly request: Message;
  handler: AttemptHandler | undefined = undefined;
  readonly #owner: AttemptOwner;

  constructor(owner: AttemptOwner, request: Message) {
    this.#owner = owner;
    this.request = request;
  }

  get peer(): Peer {
    return this.#owner.peer;
  }

  /** Of the request, as JSON text. */
  get id(): string {
    return this.request.text(Client.id)!;
  }

  /** It has been answered. */
  finish(): void {
    this.#owner.ended(this);
  }
}
