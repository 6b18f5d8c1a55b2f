import { SwitchboardError } from '../shared/errors.ts';
import type { Deadline, Deadlines } from '../shared/deadline.ts';
import type { Call, ClientLink, Runner } from '../gateway/index.ts';
import { Client, Server } from '../protocol/index.ts';
import {
  addEdit,
  type AnswerListener,
  type Edit,
  type Message,
  type Peer,
  type Unanswered,
} from '../wire/index.ts';
import type { ServerTimeouts } from './server.ts';

export interface FlightControl {
  readonly timeouts: ServerTimeouts;
  readonly messageBytes: number;
  readonly deadlines: Deadlines;
  /** The flight is over, however it ended. */
  landed(): void;
  /** True while the server may be waiting for a client's answer for this call, which may take a person's time. */
  asking(flight: Flight): boolean;
  /** The call was given up before it was answered. */
  abandoned(flight: Flight): void;
  /** The call was answered with a task, which goes on reporting progress under this token. */
  continues(token: number, task: Task): void;
  /** Why the connection was lost, for calls that were under way. */
  lossReason(): string;
  /** What to do about it, where something can be done. */
  lossHint(): string | undefined;
}

/** Progress beyond this many a second is thinned out: the newest is kept, those before it are not sent. */
const PROGRESS_BURST = 100;
const PROGRESS_PER_SECOND = 20;

/** How far ahead of its answer the last progress is sent, in milliseconds. */
const PROGRESS_LEAD = 1;

/** A call on its way through a server: sent, not yet answered. It is its own deadline and its own waiting place. */
export class Flight implements AnswerListener, Deadline, Runner {
  readonly call: Call;
  at: number;
  place = -1;
  readonly #control: FlightControl;
  readonly #peer: Peer;
  /** When it was sent, on the performance clock. */
  readonly since: number;
  readonly #latest: number;
  /** Our own id for it, which is also its progress token towards the server. */
  #id = 0;
  #progress: ProgressGate | undefined;

  constructor(call: Call, peer: Peer, control: FlightControl) {
    this.call = call;
    this.#peer = peer;
    this.#control = control;
    const now = performance.now();
    const { rpcMs, callMaxMs } = control.timeouts;
    this.since = now;
    this.#latest = now + callMaxMs;
    this.at = now + Math.min(rpcMs, callMaxMs);
  }

  send(edits: Edit[]): void {
    const { request } = this.call;
    const token = request.start(Client.progressToken);
    if (token >= 0) {
      // Two clients may use one token; our ids are our own.
      const own = String(this.#peer.upcomingId);
      addEdit(edits, { start: token, end: request.end(Client.progressToken), with: own });
      this.#progress = new ProgressGate();
    }
    this.#id = this.#peer.relay(request, edits, this);
    this.#control.deadlines.add(this);
    this.call.runner = this;
  }

  answered(answer: Message): void {
    this.#land();
    const gate = this.#progress;
    if (gate) this.#passHeld(gate);
    if (answer.has(Server.taskId)) this.#control.continues(this.#id, new Task(this.call, answer, gate));
    // Clients built on the official SDK lose progress that they read together with the answer. A pause between the
    // two writes costs a call that reports progress one millisecond and saves its last report.
    if (gate && performance.now() - gate.lastPassed < PROGRESS_LEAD) {
      setTimeout(() => this.#deliver(answer), PROGRESS_LEAD);
    } else this.#deliver(answer);
  }

  unanswered(reason: Unanswered): void {
    this.#land();
    this.call.fail(this.#explain(reason));
  }

  /** Progress the server reported for this call. */
  progress(notification: Message): void {
    const now = performance.now();
    const { timeouts, deadlines } = this.#control;
    deadlines.move(this, Math.min(now + timeouts.rpcMs, this.#latest));
    const gate = this.#progress;
    if (gate === undefined) return;
    if (gate.admits(notification, now)) this.#pass(notification, gate);
    // The newest that was held back goes out when the next may, even if no other comes.
    else gate.timer ??= setTimeout(() => this.#passHeld(gate), 1000 / PROGRESS_PER_SECOND);
  }

  expired(): void {
    const { timeouts, deadlines } = this.#control;
    const now = performance.now();
    const whole = now >= this.#latest;
    if (!whole && this.#control.asking(this)) {
      // The server is not slow: it waits for somebody's answer.
      this.at = Math.min(now + timeouts.rpcMs, this.#latest);
      deadlines.add(this);
      return;
    }
    this.cancelled('Timed out.');
    this.call.fail(
      new SwitchboardError(
        'CALL_TIMEOUT',
        `${this.call.subject()} did not answer within ${whole ? timeouts.callMaxMs : timeouts.rpcMs} ms; it was cancelled.`,
        { hint: `If it needs longer, raise timeouts.${whole ? 'callMaxMs' : 'rpcMs'} in the configuration.` },
      ),
    );
  }

  /** Nobody waits any more: the server is told, and what it still answers is dropped. */
  cancelled(reason = 'The client cancelled the request.'): void {
    if (!this.#peer.forget(this.#id)) return;
    this.#control.abandoned(this);
    this.#land();
    this.#peer.notify('notifications/cancelled', { requestId: this.#id, reason });
  }

  /** What it waited for was not the server's doing: its time begins anew. */
  restartClock(): void {
    const { timeouts, deadlines } = this.#control;
    deadlines.move(this, Math.min(performance.now() + timeouts.rpcMs, this.#latest));
  }

  #deliver(answer: Message): void {
    try {
      this.call.relay(answer);
    } catch (cause) {
      // A bug on our side costs this call only, not the program and every other server.
      this.call.fail(
        new SwitchboardError('INTERNAL', 'Switchboard failed to handle this answer.', { cause }),
      );
    }
    this.#yieldTo();
  }

  #passHeld(gate: ProgressGate): void {
    clearTimeout(gate.timer);
    gate.timer = undefined;
    if (gate.held) this.#pass(gate.held, gate);
    gate.held = undefined;
  }

  #pass(notification: Message, gate: ProgressGate): void {
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
    if (!client.congested) return;
    this.#peer.pause();
    client.whenDrained(() => this.#peer.resume());
  }

  #land(): void {
    clearTimeout(this.#progress?.timer);
    this.#control.deadlines.remove(this);
    this.#control.landed();
  }

  #explain(reason: Unanswered): SwitchboardError {
    const subject = this.call.subject();
    switch (reason) {
      case 'too-large':
        return new SwitchboardError(
          'ANSWER_TOO_LARGE',
          `${subject} gave an answer larger than ${this.#control.messageBytes} bytes (too large); it was dropped.`,
          { hint: 'Ask for less at a time, or raise limits.messageBytes in the configuration.' },
        );
      case 'unreadable':
        return new SwitchboardError(
          'ANSWER_UNREADABLE',
          `${subject} gave an answer that is no valid message.`,
          {
            hint: 'This is a fault of that server; its log may say more.',
          },
        );
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

/** How long a task is taken to be at work where it does not say, in milliseconds. */
const TASK_MS = 600_000;
const LONGEST_TASK_MS = 86_400_000;

/**
 * A task that a call was answered with. It goes on reporting progress, to the client and under the token of that call;
 * of the call itself nothing else is kept.
 */
export class Task {
  /** When it is over at the latest, on the clock of Date.now. */
  readonly until: number;
  readonly #client: ClientLink;
  readonly #token: string | undefined;
  readonly #gate: ProgressGate | undefined;

  constructor({ request, session }: Call, answer: Message, gate: ProgressGate | undefined) {
    const task = (answer.value(Server.result) as { task?: { ttl?: unknown } }).task;
    const ttl = typeof task?.ttl === 'number' && task.ttl > 0 ? task.ttl : TASK_MS;
    this.until = Date.now() + Math.min(ttl, LONGEST_TASK_MS);
    this.#client = session.client;
    this.#token = request.text(Client.progressToken);
    this.#gate = gate;
  }

  progress(notification: Message): void {
    if (this.#token === undefined || this.#gate?.admits(notification, performance.now()) !== true) return;
    const start = notification.start(Server.progressToken);
    const end = notification.end(Server.progressToken);
    this.#client.forwardNotification(notification, [{ start, end, with: this.#token }]);
  }
}

/** Lets progress through up to a rate; beyond it keeps the newest. */
class ProgressGate {
  held: Message | undefined;
  timer: NodeJS.Timeout | undefined;
  lastPassed = -Infinity;
  #allowance = PROGRESS_BURST;
  #lastSeen = 0;

  admits(notification: Message, now: number): boolean {
    if (this.#lastSeen > 0) {
      const earned = ((now - this.#lastSeen) / 1000) * PROGRESS_PER_SECOND;
      this.#allowance = Math.min(PROGRESS_BURST, this.#allowance + earned);
    }
    this.#lastSeen = now;
    const admitted = this.#allowance >= 1;
    this.held = admitted ? undefined : notification;
    if (admitted) this.#allowance -= 1;
    return admitted;
  }
}
