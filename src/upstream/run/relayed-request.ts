import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import type { ClientLink, ServerRequest, Session } from '../../gateway/index.ts';
import { Client, Server } from '../../protocol/index.ts';
import { RpcCode, type AnswerListener, type Message, type Peer, type Unanswered } from '../../wire/index.ts';

export interface RelayedRequestControl {
  readonly deadlines: Deadlines;
  /** How long a client may take to answer, in milliseconds: often a person has to. */
  readonly timeoutMs: number;
  /** The clients with calls running at the server. */
  callers(): ReadonlySet<Session>;
  /** It is over, however it ended. */
  settled(asked: RelayedRequest): void;
}

/** A server's request to a client, on its way there and back. The server's id, and its progress token, are given back as they came. */
export class RelayedRequest implements ServerRequest, AnswerListener, Deadline {
  readonly method: string;
  readonly request: Message;
  /** When it came, on the performance clock: only calls that were running then can be about it. */
  readonly since = performance.now();
  readonly at: number;
  place = -1;
  readonly #peer: Peer;
  readonly #control: RelayedRequestControl;
  #client: ClientLink | undefined;
  /** The id it has at the client. */
  #id = 0;
  #open = true;

  constructor(request: Message, method: string, peer: Peer, control: RelayedRequestControl) {
    this.request = request;
    this.method = method;
    this.#peer = peer;
    this.#control = control;
    this.at = performance.now() + control.timeoutMs;
  }

  /** Whom it was passed on to. */
  get client(): ClientLink | undefined {
    return this.#client;
  }

  callers(): ReadonlySet<Session> {
    return this.#control.callers();
  }

  relayTo(client: ClientLink): void {
    // It may have been withdrawn while it waited.
    if (!this.#open) return;
    this.#client = client;
    this.#control.deadlines.add(this);
    this.#id = client.ask(this.request, this);
  }

  refuse(code: number, message: string): void {
    if (this.#settle()) this.#peer.fail(this.request.text(Server.id), code, message);
  }

  answered(answer: Message): void {
    if (!this.#settle()) return;
    // A client's slip: what a server is told must have the form of an answer.
    const bad = answer.has(Server.error)
      ? answer.lead(Server.error) !== BRACE || answer.has(Server.result)
      : answer.lead(Server.result) !== BRACE;
    if (bad) {
      const id = this.request.text(Server.id);
      this.#peer.fail(id, RpcCode.internalError, 'The client sent an invalid response.');
    } else this.#peer.forwardAnswer(answer, this.request);
  }

  unanswered(reason: Unanswered): void {
    const why =
      reason === 'closed'
        ? 'The client disconnected.'
        : `The client's answer was ${reason.replace('-', ' ')}.`;
    this.refuse(RpcCode.serverError, why);
  }

  expired(): void {
    this.#client?.withdraw(this.#id, 'Timed out.');
    this.refuse(RpcCode.serverError, `The client did not respond to ${this.method} in time.`);
  }

  /** The server does not want to know any more, or is gone. */
  withdraw(reason: string): void {
    if (this.#settle()) this.#client?.withdraw(this.#id, reason);
  }

  /** Nobody is asked any more, though the server has not taken it back: it must not wait for ever. */
  giveUp(reason: string): void {
    if (!this.#open) return;
    this.#client?.withdraw(this.#id, reason);
    this.refuse(RpcCode.serverError, reason);
  }

  /** Progress that the client reports, passed on under the server's own token. */
  progress(notification: Message): void {
    const { request } = this;
    if (!this.#open || !request.has(Server.askToken)) return;
    const start = notification.start(Client.reportToken);
    const end = notification.end(Client.reportToken);
    const theirs = {
      of: request.bytes,
      start: request.start(Server.askToken),
      end: request.end(Server.askToken),
    };
    this.#peer.transport.forward(notification, [{ start, end, with: theirs }]);
  }

  #settle(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    if (this.place >= 0) this.#control.deadlines.remove(this);
    this.#control.settled(this);
    return true;
  }
}

const BRACE = 0x7b;
