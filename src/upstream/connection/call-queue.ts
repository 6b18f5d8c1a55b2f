import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Call, Runner, Session } from '../../gateway/index.ts';
import type { Edit } from '../../wire/index.ts';

export interface CallQueueOptions {
  /** The server that the calls wait for. */
  readonly server: string;
  /** How many calls may wait. */
  readonly limit: number;
  readonly deadlines: Deadlines;
  /** Why no call is sent now, if there is a more specific reason than that the server does not accept any. */
  readonly why?: () => SwitchboardError | undefined;
}

/** The most bytes that all calls waiting for one server may hold. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Calls that cannot be sent yet. Clients take turns, and each client's calls stay in order: a client with thousands of
 * waiting calls does not delay another client's single call. Waiting counts towards the timeout, so a call that is
 * never sent ends like one that is never answered.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  /** By client; the next client to be served comes first. */
  readonly #lines = new Map<Session, Set<WaitingCall>>();
  #size = 0;
  #bytes = 0;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  /** Lets a call wait for up to `timeoutMs`, or refuses it if too many are waiting. Returns whether it waits. */
  add(call: Call, edits: Edit[], timeoutMs: number): boolean {
    const { server, limit, deadlines } = this.#options;
    if (this.#size >= limit || this.#bytes + call.request.length > MAX_BYTES) {
      call.fail(
        new SwitchboardError(
          'SERVER_BUSY',
          `${call.subject()} was refused: too many calls are waiting for server '${server}'.`,
          { hint: 'Try again when some of them have finished.' },
        ),
      );
      return false;
    }
    const waiting = new WaitingCall(call, edits, timeoutMs, this);
    const line = this.#lines.get(call.session);
    if (line) line.add(waiting);
    else this.#lines.set(call.session, new Set([waiting]));
    this.#size++;
    this.#bytes += call.request.length;
    deadlines.add(waiting);
    call.runBy(waiting);
    call.follower?.waits();
    return true;
  }

  /** Removes and returns the call whose turn it is; undefined if none waits. */
  next(): WaitingCall | undefined {
    for (const [session, line] of this.#lines) {
      for (const waiting of line) {
        this.leave(waiting);
        // Behind the others, if this client has more calls.
        if (this.#lines.delete(session)) this.#lines.set(session, line);
        return waiting;
      }
    }
    return undefined;
  }

  /** Removes and returns all of them. */
  takeAll(): WaitingCall[] {
    const all = [...this.#lines.values()].flatMap((line) => [...line]);
    for (const waiting of all) this.leave(waiting);
    return all;
  }

  /** The call was sent, cancelled or timed out. */
  leave(waiting: WaitingCall): void {
    const { session, request } = waiting.call;
    const line = this.#lines.get(session);
    if (line?.delete(waiting) !== true) return;
    if (line.size === 0) this.#lines.delete(session);
    this.#options.deadlines.remove(waiting);
    this.#size--;
    this.#bytes -= request.length;
  }

  expire(waiting: WaitingCall): void {
    this.leave(waiting);
    const { call, timeoutMs } = waiting;
    const why = this.#options.why?.();
    if (why !== undefined) call.fail(notRun(call, why));
    else
      call.fail(
        new SwitchboardError(
          'CALL_TIMEOUT',
          `${call.subject()} was not sent within ${Math.round(timeoutMs)} ms: server '${this.#options.server}' is not accepting calls.`,
          { hint: 'It is busy or hangs; check its log.' },
        ),
      );
  }
}

/** The error for a call that was not sent because of its server. */
export function notRun(call: Call, reason: SwitchboardError): SwitchboardError {
  const message = `${call.subject()} was not run. ${reason.message}`;
  return new SwitchboardError(reason.code, message, { hint: reason.hint, cause: reason });
}

class WaitingCall implements Deadline, Runner {
  readonly call: Call;
  readonly edits: Edit[];
  readonly timeoutMs: number;
  readonly at: number;
  place = -1;
  readonly #queue: CallQueue;

  constructor(call: Call, edits: Edit[], timeoutMs: number, queue: CallQueue) {
    this.call = call;
    this.edits = edits;
    this.timeoutMs = timeoutMs;
    this.at = performance.now() + timeoutMs;
    this.#queue = queue;
  }

  cancelled(): void {
    this.#queue.leave(this);
  }

  expired(): void {
    this.#queue.expire(this);
  }
}
