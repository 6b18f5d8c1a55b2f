import type { Deadline } from '../../shared/deadline.ts';
import type { ClientLink, ServerRequest, Session } from '../../gateway/index.ts';
import { Client, Server } from '../../protocol/index.ts';
import { RpcCode, type AnswerListener, type Message, type Unanswered } from '../../wire/index.ts';
import type { PendingCall } from './pending-call.ts';
import type { ServerRun } from './server-run.ts';

/** How many requests of one server may wait for a client; more are refused. */
const MOST = 64;
/** The same limit in bytes, for all of them together. */
const MOST_BYTES = 64 * 1024 * 1024;

/** The requests of a run to clients that have not been answered yet. */
export class OpenServerRequests {
  readonly #run: ServerRun;
  /** By the server's id, as JSON text. */
  readonly #open = new Map<string, RelayedRequest>();
  #bytes = 0;

  constructor(run: ServerRun) {
    this.#run = run;
  }

  get size(): number {
    return this.#open.size;
  }

  ask(request: Message): void {
    const { peer, setup } = this.#run;
    const id = request.requiredText(Server.id);
    const method = request.string(Server.method) ?? '';
    if (this.#open.size >= MOST || this.#bytes + request.length > MOST_BYTES || this.#open.has(id)) {
      const why = this.#open.has(id)
        ? 'a request with this id is still open'
        : 'too many requests are waiting';
      const message = `Busy: ${method.slice(0, 200)} was refused, ${why}.`;
      peer.fail(id, RpcCode.serverError, message);
      return;
    }
    const relayed = new RelayedRequest(request, method, this.#run);
    this.#open.set(id, relayed);
    this.#bytes += request.length;
    try {
      this.#run.tell({ kind: 'requested', request: relayed });
    } catch (error) {
      // A bug on our side costs only this request.
      const trace = error instanceof Error ? error.stack : String(error);
      setup.context.log.error('could not forward a request', {
        server: setup.server.name,
        method,
        error: trace,
      });
      relayed.refuse(RpcCode.internalError, 'Switchboard failed to handle this request.');
    }
  }

  /** The server withdraws a request. */
  withdraw(id: string, reason: string): void {
    this.#open.get(id)?.withdraw(reason);
  }

  withdrawAll(reason: string): void {
    for (const relayed of [...this.#open.values()]) relayed.withdraw(reason);
  }

  /** Whether a call may be waiting for the response to one of the requests. */
  mayConcern(pending: PendingCall): boolean {
    for (const relayed of this.#open.values()) if (mayBeAbout(relayed, pending)) return true;
    return false;
  }

  /** A call was given up, and with it the requests that can only have been about that call. */
  abandon(pending: PendingCall): void {
    const others = this.#run.pendingCalls().filter((each) => each !== pending);
    for (const relayed of [...this.#open.values()]) {
      if (mayBeAbout(relayed, pending) && !others.some((other) => mayBeAbout(relayed, other)))
        relayed.giveUp('The parent call was cancelled.');
    }
  }

  /** A request has ended, for whatever reason. */
  settled(relayed: RelayedRequest): void {
    const id = relayed.request.requiredText(Server.id);
    if (this.#open.get(id) === relayed) {
      this.#open.delete(id);
      this.#bytes -= relayed.request.length;
    }
    // The time somebody took to respond does not count against the server.
    for (const pending of this.#run.pendingCalls()) if (mayBeAbout(relayed, pending)) pending.restartClock();
  }
}

/**
 * A request may be about a call of the client it was forwarded to, if that call was running when the request arrived.
 */
function mayBeAbout(relayed: RelayedRequest, { call, since }: PendingCall): boolean {
  const { client } = call.session;
  return since <= relayed.since && (relayed.client === undefined || isSame(relayed.client, client));
}

/** Whether two links lead to the same client, or to clients of the same principal. */
function isSame(one: ClientLink, other: ClientLink): boolean {
  return one === other || (one.principal !== undefined && one.principal === other.principal);
}

/**
 * A server's request that is forwarded to a client. The response has the server's own id, and progress the server's own
 * token.
 */
class RelayedRequest implements ServerRequest, AnswerListener, Deadline {
  readonly method: string;
  readonly request: Message;
  /** When it arrived, on the performance clock: it can only be about calls that were running then. */
  readonly since = performance.now();
  readonly at: number;
  place = -1;
  /** The client that it was forwarded to. */
  client: ClientLink | undefined = undefined;
  readonly #run: ServerRun;
  /** Its id at the client. */
  #id = 0;
  #open = true;

  constructor(request: Message, method: string, run: ServerRun) {
    this.request = request;
    this.method = method;
    this.#run = run;
    // Often a person has to respond.
    this.at = this.since + run.setup.server.timeouts.callMaxMs;
  }

  callers(): ReadonlySet<Session> {
    return this.#run.callers();
  }

  relayTo(client: ClientLink): void {
    // It may have been withdrawn while it waited.
    if (!this.#open) return;
    this.client = client;
    this.#run.setup.deadlines.add(this);
    this.#id = client.ask(this.request, this);
  }

  refuse(code: number, message: string): void {
    if (this.#settle()) this.#run.peer.fail(this.request.text(Server.id), code, message);
  }

  answered(answer: Message): void {
    if (!this.#settle()) return;
    // A client's mistake: what is sent to a server must have the form of a response.
    const bad = answer.has(Server.error)
      ? answer.lead(Server.error) !== BRACE || answer.has(Server.result)
      : answer.lead(Server.result) !== BRACE;
    if (bad) {
      const id = this.request.text(Server.id);
      this.#run.peer.fail(id, RpcCode.internalError, 'The client sent an invalid response.');
    } else this.#run.peer.forwardAnswer(answer, this.request);
  }

  unanswered(reason: Unanswered): void {
    const why =
      reason === 'closed'
        ? 'The client disconnected.'
        : `The client's answer was ${reason.replace('-', ' ')}.`;
    this.refuse(RpcCode.serverError, why);
  }

  expired(): void {
    this.giveUp('Timed out.', `The client did not respond to ${this.method} in time.`);
  }

  /** The server no longer needs the response, or is gone. */
  withdraw(reason: string): void {
    if (this.#settle()) this.client?.withdraw(this.#id, reason);
  }

  /** Withdraws the request from its client although the server still waits for it: the server must not wait forever. */
  giveUp(reason: string, message = reason): void {
    if (!this.#open) return;
    this.client?.withdraw(this.#id, reason);
    this.refuse(RpcCode.serverError, message);
  }

  /** Progress that the client reports, forwarded under the server's own token. */
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
    this.#run.peer.transport.forward(notification, [{ start, end, with: theirs }]);
  }

  #settle(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.#run.setup.deadlines.remove(this);
    this.#run.serverRequests.settled(this);
    return true;
  }
}

const BRACE = 0x7b;
