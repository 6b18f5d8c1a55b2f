import type { Deadlines } from '../shared/deadline.ts';
import type { Logger } from '../shared/log.ts';
import type { ClientLink, ServerRequest, Session } from '../gateway/index.ts';
import { Server } from '../protocol/index.ts';
import { RpcCode, type Message, type Peer } from '../wire/index.ts';
import { Asked, type AskedControl } from './asked.ts';
import { callersAt, flightsAt, type Flight } from './flight.ts';

export interface QuestionsOptions {
  readonly server: string;
  readonly peer: Peer;
  readonly deadlines: Deadlines;
  /** How long a client may take to answer, in milliseconds. */
  readonly patience: number;
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
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #control: AskedControl;
  /** By the server's id for them, as JSON text. */
  readonly #open = new Map<string, Asked>();
  #bytes = 0;

  constructor(options: QuestionsOptions) {
    const { peer, deadlines, patience } = options;
    this.#options = options;
    this.#control = {
      deadlines,
      patience,
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
      const why = this.#open.has(id) ? 'a request with this id is still open' : 'too many requests wait';
      const message = `Busy: ${method.slice(0, 200)} was refused, ${why}.`;
      peer.fail(id, RpcCode.serverError, message);
      return;
    }
    const asked = new Asked(request, method, peer, this.#control);
    this.#open.set(id, asked);
    this.#bytes += request.length;
    try {
      pass(asked);
    } catch (error) {
      // A bug on our side costs this request only.
      const trace = error instanceof Error ? error.stack : String(error);
      log.error('could not pass a request on', { server, method, error: trace });
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
  mayConcern(flight: Flight): boolean {
    for (const asked of this.#open.values()) if (mayBeAbout(asked, flight)) return true;
    return false;
  }

  /** A call was given up: questions that only it can have been about are not asked any more. */
  abandon(flight: Flight): void {
    const others = flightsAt(this.#options.peer).filter((each) => each !== flight);
    for (const asked of [...this.#open.values()]) {
      if (mayBeAbout(asked, flight) && !others.some((other) => mayBeAbout(asked, other)))
        asked.giveUp('The call it belongs to was cancelled.');
    }
  }

  #settled(asked: Asked): void {
    const id = asked.request.text(Server.id)!;
    if (this.#open.get(id) === asked) {
      this.#open.delete(id);
      this.#bytes -= asked.request.length;
    }
    // The time somebody took to answer was not the server's.
    for (const flight of flightsAt(this.#options.peer)) if (mayBeAbout(asked, flight)) flight.restartClock();
  }
}

/** A question may be about a call of the client that is asked, if the call was running when the question came. */
function mayBeAbout(asked: Asked, { call, since }: Flight): boolean {
  const { client } = call.session;
  return since <= asked.since && (asked.client === undefined || isSame(asked.client, client));
}

/** Whether two links lead to the same person. */
function isSame(one: ClientLink, other: ClientLink): boolean {
  return one === other || (one.principal !== undefined && one.principal === other.principal);
}
