import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { Call } from '../../gateway/index.ts';
import { ModernCode, Server } from '../../protocol/index.ts';
import type { Edit, Message } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { errorCode } from '../error-answer.ts';
import { withoutEnvelope } from '../handshake/request-meta.ts';
import { InputLoops } from '../modern/input-loop.ts';
import { isModern, legacyAnswer } from '../modern/modern.ts';
import { PendingCall, type CallSender } from '../run/pending-call.ts';
import type { ServerRun } from '../run/server-run.ts';
import { CallQueue, notRun } from './call-queue.ts';
import type { Connection } from './connection.ts';
import { asStartError } from './start-errors.ts';

/** The calls to one server: sent as soon as there is room and kept until then, across the runs of the server. */
export class ServerCalls implements CallSender {
  readonly #setup: ServerSetup;
  readonly #connection: Connection;
  /** Requests the list of tools from the server again. */
  readonly #relist: () => Promise<unknown>;
  readonly #queue: CallQueue;
  readonly #inputLoops: InputLoops;
  /** Calls that a server did not process and that were sent again. */
  readonly #resent = new WeakSet<Call>();
  /** Calls that were sent again because their headers did not match the tool. */
  readonly #relisted = new WeakSet<Call>();
  /** The run that gets more calls as soon as it has read what was sent. */
  #awaited: ServerRun | undefined;

  constructor(setup: ServerSetup, connection: Connection, relist: () => Promise<unknown>) {
    this.#setup = setup;
    this.#connection = connection;
    this.#relist = relist;
    this.#queue = new CallQueue({
      server: setup.server.name,
      limit: setup.server.limits.callsQueued,
      deadlines: setup.deadlines,
      why: () => connection.stillStarting(),
    });
    this.#inputLoops = new InputLoops(setup.deadlines, (edits, call) => this.relay(edits, call));
  }

  /** Whether some calls have not been sent yet. */
  get kept(): boolean {
    return this.#queue.size > 0;
  }

  /** Whether any calls wait, for the server or for a client. */
  get waiting(): boolean {
    return this.#queue.size > 0 || this.#inputLoops.size > 0;
  }

  /** Forwards a client's call, or keeps it until that is possible. */
  relay(edits: Edit[], call: Call): void {
    const { run } = this.#connection;
    if (run !== undefined && this.#queue.size === 0 && run.hasRoom) this.#send(run, call, edits);
    else {
      this.#keep(call, edits);
      this.sendKept();
    }
  }

  /** Starts the server for the kept calls. */
  startForKept(): void {
    this.#connection.started().then(
      () => this.sendKept(),
      (error: unknown) => this.failKept(asStartError(error, this.#setup.server.name)),
    );
  }

  /** Sends the kept calls, as far as there is room. */
  sendKept(): void {
    const { run } = this.#connection;
    if (run === undefined || this.#queue.size === 0) return;
    while (run.hasRoom) {
      const next = this.#queue.next();
      if (next === undefined) return;
      this.#send(run, next.call, next.edits);
    }
    if (this.#queue.size === 0 || run.isFull || this.#awaited === run) return;
    this.#awaited = run;
    run.peer.transport.whenDrained(() => {
      if (this.#awaited !== run) return;
      this.#awaited = undefined;
      this.sendKept();
    });
  }

  /** Hands over the calls that have not been sent. */
  passKept(take: (edits: Edit[], call: Call) => void): void {
    for (const { call, edits } of this.#queue.takeAll()) take(edits, call);
  }

  /** Fails the calls that have not been sent. */
  failKept(reason: SwitchboardError): void {
    for (const { call } of this.#queue.takeAll()) call.fail(notRun(call, reason));
  }

  /** The server is stopped permanently: fails all calls that have not been sent to it. */
  close(reason: SwitchboardError): void {
    this.failKept(reason);
    this.#inputLoops.close(reason.message);
  }

  /** The server has not processed a call: it goes to the next run, once. */
  returned(call: Call, edits: Edit[]): boolean {
    if (!call.open || this.#connection.stopped || this.#resent.has(call)) return false;
    this.#resent.add(call);
    this.#keep(call, edits);
    return true;
  }

  review(answer: Message, { call, edits, latest }: PendingCall): Message | undefined {
    if (!call.open) return answer;
    if (answer.has(Server.error)) return this.#mismatched(answer, call, edits) ? undefined : answer;
    // A modern client understands every result.
    if (isModern(call)) return answer;
    if (answer.string(Server.resultType) !== 'input_required') return legacyAnswer(answer, call);
    this.#inputLoops.begin(call, edits, answer, latest);
    return undefined;
  }

  #send(run: ServerRun, call: Call, edits: Edit[]): void {
    const { modern } = run;
    if (modern === undefined) {
      const ready = isModern(call) ? withoutEnvelope(call.request, edits) : edits;
      new PendingCall(call, edits, run, this).send(ready);
      return;
    }
    // A modern client includes everything in its request.
    const carried = isModern(call) ? undefined : this.#inputLoops.carried(call);
    const ready = modern.prepare(call, edits, carried);
    if (ready === undefined) return;
    const pending = new PendingCall(call, edits, run, this);
    if (carried !== undefined) pending.endBy(carried.latest);
    pending.send(ready);
  }

  #keep(call: Call, edits: Edit[]): void {
    const { run, stopped } = this.#connection;
    const { server, context } = this.#setup;
    if (stopped) call.fail(stopped);
    else if (
      this.#queue.add(call, edits, run ? server.timeouts.rpcMs : context.callerMs - call.waitedMs) &&
      !run
    )
      this.startForKept();
  }

  /** The server requires other headers than its tool declared when it was listed: lists the tools again, once. */
  #mismatched(answer: Message, call: Call, edits: Edit[]): boolean {
    const remote = this.#setup.server.target.kind === 'remote';
    if (!remote || call.method !== 'tools/call' || this.#relisted.has(call)) return false;
    if (errorCode(answer) !== ModernCode.headerMismatch) return false;
    this.#relisted.add(call);
    call.runBy(undefined);
    this.#relist().then(
      () => {
        if (call.open) this.relay(edits, call);
      },
      (error: unknown) => {
        const message = `${call.subject()} was not run: the server requires other headers and could not list its tools. ${messageOf(error)}`;
        call.fail(new SwitchboardError('LIST_FAILED', message, { cause: error }));
      },
    );
    return true;
  }
}
