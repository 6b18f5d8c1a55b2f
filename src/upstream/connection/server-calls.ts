import type { Deadlines } from '../../shared/deadline.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { Call } from '../../gateway/index.ts';
import type { Edit, Peer } from '../../wire/index.ts';
import { CallQueue } from '../calls/call-queue.ts';
import { PendingCall, type PendingCallControl } from '../calls/pending-call.ts';
import type { ServerRun } from '../run/server-run.ts';
import { isModern, type Modern } from '../modern/modern.ts';
import { ModernCalls } from '../modern/modern-calls.ts';
import { withoutEnvelope } from '../handshake/request-meta.ts';
import type { UpstreamServer } from '../server.ts';

/** A call waits for a server to come back for so long at most before it is told to try later, in milliseconds. */
export const RESTART_TIMEOUT_MS = 2000;
/** Output waiting for a server that does not read, beyond which nothing more is sent to it, in bytes. */
export const UNREAD_LIMIT = 8 * 1024 * 1024;

export interface ServerCallsOptions extends Pick<
  PendingCallControl,
  'lossReason' | 'lossHint' | 'abandoned' | 'continues'
> {
  readonly server: UpstreamServer;
  readonly deadlines: Deadlines;
  /** Starts the server; it is the life of the calls when that resolves. */
  readonly start: () => Promise<unknown>;
  /** A call is over, however it ended. */
  readonly finished: (answered: boolean) => void;
  /** Lists the server's tools again. */
  readonly relist: () => Promise<unknown>;
  /** How long a call waits for the server to start before it is told to come back, in milliseconds. */
  readonly startWaitMs: number;
  /** What a call is told that has waited so long. */
  readonly stillStarting: () => SwitchboardError | undefined;
  /** Why nothing is sent any more; undefined as long as something is. */
  readonly stopped: () => SwitchboardError | undefined;
}

/** The calls to one server: sent as soon as there is room, kept until then, also over the lives of the server. */
export class ServerCalls {
  readonly #options: ServerCallsOptions;
  readonly #control: PendingCallControl;
  readonly #queue: CallQueue;
  readonly #modern: ModernCalls;
  /** Where they go; undefined while the server does not run. */
  #life: ServerRun | undefined;
  /** Calls sent and not yet answered. */
  #inFlight = 0;
  /** Calls that a server did not take and that were sent again. */
  readonly #resent = new WeakSet<Call>();
  #awaitingDrain = false;
  #onDrained: (() => void) | undefined;

  constructor(options: ServerCallsOptions) {
    const { server, deadlines } = options;
    this.#options = options;
    this.#queue = new CallQueue({
      server: server.name,
      limit: server.limits.callsQueued,
      deadlines,
      why: options.stillStarting,
    });
    this.#modern = new ModernCalls({
      deadlines,
      again: (call, edits) => this.relay(edits, call),
      relist: server.target.kind === 'remote' ? options.relist : undefined,
    });
    this.#control = {
      timeouts: server.timeouts,
      messageBytes: server.limits.messageBytes,
      deadlines,
      finished: (answered) => this.#finished(answered),
      suspended: (away) => {
        this.#inFlight += away ? -1 : 1;
        if (away && this.#queue.size > 0) this.#drainQueue();
      },
      lossReason: options.lossReason,
      lossHint: options.lossHint,
      asking: (pending) => this.#life?.serverRequests.mayConcern(pending) === true,
      abandoned: options.abandoned,
      continues: options.continues,
      returned: (call, edits) => this.#returned(call, edits),
      mayPause: server.shared !== true,
      review: (answer, pending) => this.#modern.review(answer, pending),
    };
  }

  /** A new life of the server, or the end of one. Calls that were not sent yet lost nothing: they wait for the next. */
  liveIn(life: ServerRun | undefined): void {
    this.#life = life;
    this.#awaitingDrain = false;
  }

  /** Whether some have not been sent yet. */
  get kept(): boolean {
    return this.#queue.size > 0;
  }

  /** Whether any are under way, or wait for something. */
  get any(): boolean {
    return this.#inFlight > 0 || this.#queue.size > 0 || this.#modern.waiting > 0;
  }

  /** Sends a client's call on, or keeps it until that is possible. */
  relay(edits: Edit[], call: Call): void {
    const stopped = this.#options.stopped();
    if (stopped) {
      call.fail(stopped);
      return;
    }
    const life = this.#life;
    if (life !== undefined && this.#queue.size === 0 && this.#hasRoom(life)) {
      this.#dispatch(life, call, edits);
    } else if (this.#queue.add(call, edits, this.#waitMs())) {
      if (life === undefined) this.startForKept();
      else this.#drainQueue();
    }
  }

  /** Starts the server for those that are kept. */
  startForKept(): void {
    this.#options.start().then(
      () => this.#drainQueue(),
      (error: unknown) => this.failKept(asStartError(error, this.#options.server.name)),
    );
  }

  /** Hands over those that have not been sent. */
  passKept(take: (edits: Edit[], call: Call) => void): void {
    for (const { call, edits } of this.#queue.takeAll()) take(edits, call);
  }

  /** Gives up those that have not been sent. */
  failKept(reason: SwitchboardError): void {
    for (const { call } of this.#queue.takeAll()) {
      const message = `${call.subject()} was not run. ${reason.message}`;
      call.fail(new SwitchboardError(reason.code, message, { hint: reason.hint, cause: reason }));
    }
  }

  /** The server is stopped for good. Those that were sent are waited for as many milliseconds. */
  async close(reason: SwitchboardError, drainMs: number): Promise<void> {
    this.#modern.close(reason.message);
    if (drainMs > 0 && this.#inFlight > 0) await this.#drained(drainMs);
  }

  /** Resolves when no call is under way any more, or after so many milliseconds. */
  #drained(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onDrained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A call came back that the server has not looked at: it goes to the next life, once. */
  #returned(call: Call, edits: Edit[]): boolean {
    if (!call.open || this.#options.stopped() || this.#resent.has(call)) return false;
    this.#resent.add(call);
    if (this.#queue.add(call, edits, this.#waitMs()) && this.#life === undefined) this.startForKept();
    return true;
  }

  #hasRoom({ peer, transport }: ServerRun): boolean {
    const { callsInFlight } = this.#options.server.limits;
    return this.#inFlight < callsInFlight && peer.transport.backlog < UNREAD_LIMIT && transport.open;
  }

  /** How long a call may wait until it can be sent. */
  #waitMs(): number {
    const { server, startWaitMs } = this.#options;
    return this.#life === undefined ? startWaitMs : server.timeouts.rpcMs;
  }

  #dispatch({ modern, peer }: ServerRun, call: Call, edits: Edit[]): void {
    if (modern === undefined) {
      this.#inFlight++;
      const pending = new PendingCall(call, peer, this.#control);
      if (isModern(call)) pending.send(edits, withoutEnvelope(call.request, edits));
      else pending.send(edits);
    } else this.#dispatchModern(modern, peer, call, edits);
  }

  #dispatchModern(modern: Modern, peer: Peer, call: Call, edits: Edit[]): void {
    const carried = this.#modern.carried(call);
    const ready = this.#modern.prepare(modern, call, edits, carried);
    if (ready === undefined) return;
    this.#inFlight++;
    new PendingCall(call, peer, this.#control, true, carried?.latest).send(edits, ready);
  }

  #finished(answered: boolean): void {
    this.#inFlight--;
    this.#options.finished(answered);
    if (this.#queue.size > 0) this.#drainQueue();
    if (this.#inFlight === 0) this.#onDrained?.();
  }

  #drainQueue(): void {
    const life = this.#life;
    if (life === undefined) return;
    while (this.#queue.size > 0 && this.#hasRoom(life)) {
      const { call, edits } = this.#queue.next()!;
      this.#dispatch(life, call, edits);
    }
    const unread = this.#queue.size > 0 && this.#inFlight < this.#options.server.limits.callsInFlight;
    if (!unread || this.#awaitingDrain) return;
    this.#awaitingDrain = true;
    life.peer.transport.whenDrained(() => {
      if (this.#life !== life) return;
      this.#awaitingDrain = false;
      this.#drainQueue();
    });
  }
}

/** The reason a server did not start, as the error that the waiting calls get. */
export function asStartError(error: unknown, server: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'START_FAILED',
    `Server '${server}' could not be started: ${messageOf(error)}`,
    { cause: error },
  );
}
