import { Client } from '../../protocol/index.ts';
import type { Edit, Message } from '../../wire/index.ts';
import type { Linked } from '../../shared/linked-set.ts';

/** Where an attempt is answered: a connection with any number of requests, or an HTTP exchange with only this one. */
export interface ReplyChannel {
  /** Answers with a result: JSON text on one line. `id` is the id of the request, as JSON text. */
  answerText(id: string, result: string): void;
  /** Answers with an error. */
  fail(id: string, code: number, message: string, data?: unknown): void;
  /** Answers with a server's answer. */
  forwardAnswer(answer: Message, request: Message, edits: readonly Edit[]): void;
  /** Sends a server's notification before the answer. */
  forward(notification: Message, edits: readonly Edit[]): void;
  /** Sends a notification of our own; `params` is JSON text on one line. */
  notifyText(method: string, params: string): void;
  /** True while the client takes its messages more slowly than they arrive. */
  readonly congested: boolean;
  whenDrained(listener: () => void): void;
}

/** Handles an attempt. */
export interface AttemptHandler {
  /** Whether it is a subscription, which waits for notifications instead of an answer. */
  readonly listens: boolean;
  /** The client has cancelled it. */
  cancel(reason: string | undefined): void;
  /** Answers it now, with an error if necessary. */
  stop(): void;
}

/**
 * One request on one channel, until it is answered. A call that requires input takes several attempts: the client
 * retries it with the input.
 */
export class Attempt implements Linked<Attempt> {
  /** Distinguishes it from the other states of a request. */
  readonly kind = 'attempt';
  before: Attempt | undefined = undefined;
  after: Attempt | undefined = undefined;
  readonly request: Message;
  readonly channel: ReplyChannel;
  handler: AttemptHandler | undefined = undefined;

  constructor(channel: ReplyChannel, request: Message) {
    this.channel = channel;
    this.request = request;
  }

  /** The id of the request, as JSON text. */
  get id(): string {
    return this.request.requiredText(Client.id);
  }
}
