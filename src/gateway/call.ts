import { SwitchboardError } from '../shared/errors.ts';
import { Client, type JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { correctToolAnswer } from './tool-result.ts';
import type { Session } from './session.ts';

/** Whoever runs a call at the moment; told when nobody wants its answer any more. */
export interface Runner {
  cancelled(reason: string | undefined): void;
}

/**
 * One request of one client while it runs. Whatever happens to it happens here: the answer, which is given once;
 * progress on the way; and its cancellation, which whoever runs it hears of.
 */
export class Call {
  readonly session: Session;
  /** The request as it came. */
  readonly request: Message;
  readonly method: string;
  /** What the call is about, for messages to people; whoever routes it says so, and it is asked for only when needed. */
  subject: () => string = unnamed;
  runner: Runner | undefined = undefined;
  /** Its neighbours among the running calls of its session. */
  before: Call | undefined = undefined;
  after: Call | undefined = undefined;
  /** False once it is answered or cancelled; what comes after that is dropped. */
  open = true;

  constructor(session: Session, request: Message, method: string) {
    this.session = session;
    this.request = request;
    this.method = method;
  }

  /** The request's id as JSON text, as it came. */
  get id(): string {
    return this.request.text(Client.id)!;
  }

  /** Answers with what a source answered, passed on as it came. */
  relay(answer: Message): void {
    if (!this.open) return;
    const edits = this.method === 'tools/call' ? correctToolAnswer(answer, this.subject) : [];
    this.#close();
    const { client } = this.session;
    if (edits instanceof SwitchboardError) client.fail(this, edits);
    else client.forwardAnswer(answer, this, edits);
  }

  /** Answers with a result of our own making. */
  succeed(result: JsonObject): void {
    if (this.#close()) this.session.client.answer(this, result);
  }

  /** Answers that it went wrong; the door puts it in the words of its protocol. */
  fail(error: SwitchboardError): void {
    if (this.#close()) this.session.client.fail(this, error);
  }

  /** Passes a source's notification on to the client that made this call. */
  notify(notification: Message, edits: readonly Edit[]): void {
    if (this.open) this.session.client.forwardNotification(notification, edits, this);
  }

  /** The client gave it up: nobody waits for an answer any more, and none is sent. */
  cancel(reason: string | undefined): void {
    if (this.#close()) this.runner?.cancelled(reason);
  }

  /** We give it up: the client gets the error, and whoever runs it is told to stop. */
  abort(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.session.client.fail(this, error);
    this.runner?.cancelled('Switchboard is stopping.');
  }

  #close(): boolean {
    if (!this.open) return false;
    this.open = false;
    this.session.ended(this);
    return true;
  }
}

const unnamed = (): string => 'The request';
