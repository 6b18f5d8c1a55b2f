import { SwitchboardError } from '../../shared/errors.ts';
import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import type { Call, Runner, Session } from '../../gateway/index.ts';
import { Client, Server } from '../../protocol/index.ts';
import {
  addEdit,
  type AnswerListener,
  type Edit,
  type Message,
  type Peer,
  type Unanswered,
} from '../../wire/index.ts';
import { ProgressThrottle, PROGRESS_PER_SECOND } from './progress.ts';
import type { CallTimeouts } from '../server.ts';
import { Task } from './tasks.ts';

export interface PendingCallControl {
  readonly timeouts: CallTimeouts;
  readonly messageBytes: number;
  readonly deadlines: Deadlines;
  /** The call is over, however it ended. */
  finished(answered: boolean): void;
  /** True while the server may be waiting for a client's answer for this call, which may take a person's time. */
  asking(pending: PendingCall): boolean;
  /** The call was given up before it was answered. */
  abandoned(pending: PendingCall): void;
  /** The call was answered with a task, which goes on reporting progress under this token. */
  continues(token: number, task: Task): void;
  /** The client of a call that is under way is away, or back. */
  suspended(away: boolean): void;
  /** The server has not looked at the call. Returns whether it will be sent again. */
  returned(call: Call, edits: Edit[]): boolean;
  /** False where other clients use the server too: then it is not held up for one that reads slowly. */
  readonly mayPause: boolean;
  /** Looks at an answer of a modern server. Returns what the client gets; undefined: nothing yet. */
  review(answer: Message, pending: PendingCall): Message | undefined;
  /** Why the connection was lost, for calls that were under way. */
  lossReason(): string;
  /** What to do about it, where something can be done. */
  lossHint(): string | undefined;
}

/** How far ahead of its answer the last progress is sent, in milliseconds. */
const PROGRESS_LEAD = 1;

/** A call on its way through a server: sent, not yet answered. It is its own deadline and its own waiting place. */
export class PendingCall implements AnswerListener, Deadline, Runner {
  readonly call: Call;
  at: number;
  place = -1;
  readonly #control: PendingCallControl;
  readonly #peer: Peer;
  /** When it was sent, on the performance clock. */
  readonly since: number;
  /** When it is over at the latest, on the performance clock. */
  readonly latest: number;
  /** Our own id for it, which is also its progress token towards the server. */
  #id = 0;
  #progress: ProgressThrottle | undefined;
  #away = false;
  readonly #reviewed: boolean;
  /** What was to be changed in the request before it was made ready for this server. */
  edits: Edit[] = NO_EDITS;

  /** `reviewed`: its answer is looked at first. `latest`: where it is not the first attempt of its call. */
  constructor(call: Call, peer: Peer, control: PendingCallControl, reviewed = false, latest?: number) {
    this.call = call;
    this.#peer = peer;
    this.#reviewed = reviewed;
    this.#control = control;
    const now = performance.now();
    const { rpcMs, callMaxMs } = control.timeouts;
    this.since = now;
    this.latest = latest ?? now + callMaxMs;
    this.at = Math.min(now + rpcMs, this.latest);
  }

  /** `ready`: the edits with those that this server needs; default the same. */
  send(edits: Edit[], ready = edits): void {
    const { request } = this.call;
    const token = request.start(Client.progressToken);
    this.edits = edits;
    if (token >= 0) {
      // The ones given stay as they are, in case it has to be sent again.
      ready = [...ready];
      // Two clients may use one token; our ids are our own.
      const own = String(this.#peer.upcomingId);
      addEdit(ready, { start: token, end: request.end(Client.progressToken), with: own });
      this.#progress = new ProgressThrottle();
    }
    this.#id = this.#peer.relay(request, ready, this);
    this.#control.deadlines.add(this);
    this.call.runBy(this);
  }

  answered(answer: Message): void {
    this.#land(true);
    const gate = this.#progress;
    if (gate) this.#passHeld(gate);
    if (this.#reviewed) {
      const reviewed = this.#review(answer);
      if (reviewed === undefined) return;
      answer = reviewed;
    }
    if (answer.has(Server.task)) this.#control.continues(this.#id, new Task(this.call, answer, gate));
    // Clients built on the official SDK lose progress that they read together with the answer. A pause between the
    // two writes costs a call that reports progress one millisecond and saves its last report.
    if (gate && performance.now() - gate.lastPassed < PROGRESS_LEAD) {
      setTimeout(() => this.#deliver(answer), PROGRESS_LEAD);
    } else this.#deliver(answer);
  }

  unanswered(reason: Unanswered, error?: SwitchboardError): void {
    this.#land();
    if (reason === 'not-taken' && this.#control.returned(this.call, this.edits)) return;
    this.call.fail(this.#explain(reason, error));
  }

  /** Progress the server reported for this call. */
  progress(notification: Message): void {
    const now = performance.now();
    const { timeouts, deadlines } = this.#control;
    deadlines.move(this, Math.min(now + timeouts.rpcMs, this.latest));
    const gate = this.#progress;
    if (gate === undefined) return;
    if (gate.admits(notification, now)) this.#pass(notification, gate);
    // The newest that was held back goes out when the next may, even if no other comes.
    else gate.timer ??= setTimeout(() => this.#passHeld(gate), 1000 / PROGRESS_PER_SECOND);
  }

  expired(): void {
    const { timeouts, deadlines } = this.#control;
    const now = performance.now();
    const whole = now >= this.latest;
    if (!whole && this.#control.asking(this)) {
      // The server is not slow: it waits for somebody's answer.
      this.at = Math.min(now + timeouts.rpcMs, this.latest);
      deadlines.add(this);
      return;
    }
    this.cancelled('Timed out.');
    this.call.fail(
      new SwitchboardError(
        'CALL_TIMEOUT',
        `${this.call.subject()} did not respond within ${whole ? timeouts.callMaxMs : timeouts.rpcMs} ms; it was cancelled.`,
        {
          hint: `If it needs more time, raise timeouts.${whole ? 'callMaxMs' : 'rpcMs'} in the configuration.`,
        },
      ),
    );
  }

  /** Nobody waits any more: the server is told, and what it still answers is dropped. */
  cancelled(reason = 'The client cancelled the request.'): void {
    if (!this.#peer.forget(this.#id)) return;
    this.#control.abandoned(this);
    this.#land();
    this.#peer.cancel(this.#id, reason);
  }

  /** As long as the client is away, another call may be sent in its place. */
  suspended(away: boolean): void {
    if (this.#away === away) return;
    this.#away = away;
    this.#control.suspended(away);
  }

  /** Restarts the timeout after a wait that the server did not cause. */
  restartClock(): void {
    const { timeouts, deadlines } = this.#control;
    deadlines.move(this, Math.min(performance.now() + timeouts.rpcMs, this.latest));
  }

  #review(answer: Message): Message | undefined {
    try {
      return this.#control.review(answer, this);
    } catch (cause) {
      this.#failed(cause);
      return undefined;
    }
  }

  #deliver(answer: Message): void {
    try {
      this.call.relay(answer);
    } catch (cause) {
      this.#failed(cause);
    }
    this.#yieldTo();
  }

  /** A bug on our side costs this call only, not the program and every other server. */
  #failed(cause: unknown): void {
    this.call.fail(new SwitchboardError('INTERNAL', 'Switchboard failed to handle this answer.', { cause }));
  }

  #passHeld(gate: ProgressThrottle): void {
    clearTimeout(gate.timer);
    gate.timer = undefined;
    if (gate.held) this.#pass(gate.held, gate);
    gate.held = undefined;
  }

  #pass(notification: Message, gate: ProgressThrottle): void {
    gate.lastPassed = performance.now();
    const token = this.call.request;
    const start = notification.start(Server.progressToken);
    const end = notification.end(Server.progressToken);
    const theirs = {
      of: token.bytes,
      start: token.start(Client.progressToken),
      end: token.end(Client.progressToken),
    };
    this.call.notify(notification, [{ start, end, with: theirs }]);
    this.#yieldTo();
  }

  /** A client that reads slowly slows the server down, not our memory up. */
  #yieldTo(): void {
    const { client } = this.call.session;
    if (!client.congested || !this.#control.mayPause) return;
    this.#peer.transport.pause();
    client.whenDrained(() => this.#peer.transport.resume());
  }

  #land(answered = false): void {
    clearTimeout(this.#progress?.timer);
    this.#control.deadlines.remove(this);
    this.suspended(false);
    this.#control.finished(answered);
  }

  #explain(reason: Unanswered, error: SwitchboardError | undefined): SwitchboardError {
    const subject = this.call.subject();
    switch (reason) {
      case 'too-large':
        return new SwitchboardError(
          'ANSWER_TOO_LARGE',
          `${subject} returned a response larger than ${this.#control.messageBytes} bytes (too large); it was dropped.`,
          { hint: 'Ask for less at a time, or raise limits.messageBytes in the configuration.' },
        );
      case 'unreadable':
        return new SwitchboardError('ANSWER_UNREADABLE', `${subject} returned an invalid message.`, {
          hint: 'This is a bug in that server; check its log.',
        });
      case 'failed':
        return new SwitchboardError(
          error?.code ?? 'SERVER_LOST',
          `${subject} failed. ${error?.message ?? this.#control.lossReason()}`,
          { hint: error?.hint, cause: error },
        );
      case 'not-taken':
        return new SwitchboardError('SERVER_LOST', `${subject} was not run: the server rejected it twice.`, {
          hint: 'It loses its sessions as soon as they are created; check its log.',
        });
      case 'closed':
        return new SwitchboardError(
          'SERVER_LOST',
          `${subject} was not answered: ${this.#control.lossReason()}`,
          {
            hint: this.#control.lossHint(),
          },
        );
    }
  }
}

const NO_EDITS: Edit[] = [];

/** The calls under way over a connection. */
export function pendingCallsAt(peer: Peer): PendingCall[] {
  return peer.listeners().filter((listener) => listener instanceof PendingCall);
}

/** The clients whose calls are under way. Looked up when a server asks, not kept: most servers never do. */
export function callersAt(peer: Peer): ReadonlySet<Session> {
  return new Set(pendingCallsAt(peer).map((pending) => pending.call.session));
}
