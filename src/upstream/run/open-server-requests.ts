import type { Deadlines } from '../../shared/deadline.ts';
import type { Logger } from '../../shared/log.ts';
import type { ClientLink, ServerRequest, Session } from '../../gateway/index.ts';
import { Server } from '../../protocol/index.ts';
import { RpcCode, type Message, type Peer } from '../../wire/index.ts';
import { RelayedRequest, type RelayedRequestControl } from './relayed-request.ts';
import { callersAt, pendingCallsAt, type PendingCall } from '../calls/pending-call.ts';

export interface OpenServerRequestsOptions {
  readonly server: string;
  readonly peer: Peer;
  readonly deadlines: Deadlines;
  /** How long a client may take to answer, in milliseconds. */
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Clients for whom the server may be at work though they have no call running. */
  readonly othersAtWork: () => ReadonlySet<Session>;
  /** Takes a question to a client. */
  readonly asked: (question: ServerRequest) => void;
}

/** Requests of one server that may wait for a client; more are refused. */
const MOST = 64;
/** And so many bytes of them together. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What one process of a server wants to know of clients and has not been told yet. */
export class OpenServerRequests {
  readonly #options: OpenServerRequestsOptions;
  readonly #control: RelayedRequestControl;
  /** By the server's id for them, as JSON text. */
  readonly #open = new Map<string, RelayedRequest>();
  #bytes = 0;

  constructor(options: OpenServerRequestsOptions) {
    const { peer, deadlines, timeoutMs } = options;
    this.#options = options;
    this.#control = {
      deadlines,
      timeoutMs,
      callers: () => new Set([...callersAt(peer), ...options.othersAtWork()]),
      settled: (asked) => this.#settled(asked),
    };
  }

  get size(): number {
    return this.#open.size;
  }

  ask(request: Message): void {
    const { peer, log, server, asked: pass } = this.#options;
    const id = request.text(Server.id)!;
    const method = request.string(Server.method) ?? '';
    if (this.#open.size >= MOST || this.#bytes + request.length > MOST_BYTES || this.#open.has(id)) {
      const why = this.#open.has(id)
        ? 'a request with this id is still open'
        : 'too many requests are waiting';
      const message = `Busy: ${method.slice(0, 200)} was refused, ${why}.`;
      peer.fail(id, RpcCode.serverError, message);
      return;
    }
    const asked = new RelayedRequest(request, method, peer, this.#control);
    this.#open.set(id, asked);
    this.#bytes += request.length;
    try {
      pass(asked);
    } catch (error) {
      // A bug on our side costs this request only.
      const trace = error instanceof Error ? error.stack : String(error);
      log.error('could not forward a request', { server, method, error: trace });
      asked.refuse(RpcCode.internalError, 'Switchboard failed to handle this request.');
    }
  }

  /** The server does not want to know any more. */
  withdraw(id: string, reason: string): void {
    this.#open.get(id)?.withdraw(reason);
  }

  withdrawAll(reason: string): void {
    for (const asked of [...this.#open.values()]) asked.withdraw(reason);
  }

  /** Whether a call may be waiting for an answer to one of them. */
  mayConcern(pending: PendingCall): boolean {
    for (const asked of this.#open.values()) if (mayBeAbout(asked, pending)) return true;
    return false;
  }

  /** A call was given up: questions that only it can have been about are not asked any more. */
  abandon(pending: PendingCall): void {
    const others = pendingCallsAt(this.#options.peer).filter((each) => each !== pending);
    for (const asked of [...this.#open.values()]) {
      if (mayBeAbout(asked, pending) && !others.some((other) => mayBeAbout(asked, other)))
        asked.giveUp('The parent call was cancelled.');
    }
  }

  #settled(asked: RelayedRequest): void {
    const id = asked.request.text(Server.id)!;
    if (this.#open.get(id) === asked) {
      this.#open.delete(id);
      this.#bytes -= asked.request.length;
    }
    // The time somebody took to answer was not the server's.
    for (const pending of pendingCallsAt(this.#options.peer))
      if (mayBeAbout(asked, pending)) pending.restartClock();
  }
}

/** A question may be about a call of the client that is asked, if the call was running when the question came. */
function mayBeAbout(asked: RelayedRequest, { call, since }: PendingCall): boolean {
  const { client } = call.session;
  return since <= asked.since && (asked.client === undefined || isSame(asked.client, client));
}

/** Whether two links lead to the same person. */
function isSame(one: ClientLink, other: ClientLink): boolean {
  return one === other || (one.principal !== undefined && one.principal === other.principal);
}
