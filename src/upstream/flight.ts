import { SwitchboardError } from '../shared/errors.ts';
import type { Deadline, Deadlines } from '../shared/deadline.ts';
import type { Call } from '../gateway/index.ts';
import { Client, Server } from '../protocol/index.ts';
import {
  insertInOrder,
  type AnswerListener,
  type Edit,
  type Message,
  type Peer,
  type Unanswered,
} from '../wire/index.ts';
import type { ServerTimeouts } from './server.ts';

export interface FlightControl {
  readonly server: string;
  readonly timeouts: ServerTimeouts;
  readonly messageBytes: number;
  readonly deadlines: Deadlines;
  /** The flight is over, however it ended. */
  landed(flight: Flight): void;
  /** Why the connection was lost, for calls that were under way. */
  lossReason(): string;
}

/** Progress beyond this many a second is thinned out: the newest is kept, those before it are not sent. */
const PROGRESS_BURST = 100;
const PROGRESS_PER_SECOND = 20;

/** How far ahead of its answer the last progress is sent, in milliseconds. */
const PROGRESS_LEAD = 1;

/** A call on its way through a server: sent, not yet answered. */
export class Flight implements AnswerListener {
  readonly call: Call;
  readonly #control: FlightControl;
  readonly #peer: Peer;
  readonly #deadline: Deadline;
  readonly #latest: number;
  #id = 0;
  #allowance = PROGRESS_BURST;
  #lastProgress = 0;
  #lastPassed = -Infinity;
  #held: Message | undefined;

  constructor(call: Call, peer: Peer, control: FlightControl) {
    this.call = call;
    this.#peer = peer;
    this.#control = control;
    const { rpcMs, callMaxMs } = control.timeouts;
    this.#latest = performance.now() + callMaxMs;
    this.#deadline = control.deadlines.add(Math.min(rpcMs, callMaxMs), () => this.#expire());
  }

  /** Our own id for it, which is also its progress token towards the server. */
  get id(): number {
    return this.#id;
  }

  send(edits: readonly Edit[]): void {
    const { request } = this.call;
    this.#id = this.#peer.upcomingId;
    const token = request.start(Client.progressToken);
    const all =
      token < 0
        ? edits
        : // Two clients may use one token; our ids are our own.
          insertInOrder(edits, {
            start: token,
            end: request.end(Client.progressToken),
            with: String(this.#id),
          });
    this.#peer.relay(request, all, this);
    this.call.onCancel((reason) => this.#abandon(reason ?? 'The client cancelled the request.'));
  }

  answered(answer: Message): void {
    this.#land();
    if (this.#held) this.#pass(this.#held);
    // Clients built on the official SDK lose progress that they read together with the answer. A pause between the
    // two writes costs a call that reports progress one millisecond and saves its last report.
    if (performance.now() - this.#lastPassed < PROGRESS_LEAD)
      setTimeout(() => this.#deliver(answer), PROGRESS_LEAD);
    else this.#deliver(answer);
  }

  #deliver(answer: Message): void {
    this.call.relay(answer);
    this.#yieldTo();
  }

  unanswered(reason: Unanswered): void {
    this.#land();
    this.call.fail(this.#explain(reason));
  }

  /** Progress the server reported for this call. */
  progress(notification: Message): void {
    const now = performance.now();
    const { rpcMs } = this.#control.timeouts;
    this.#deadline.extend(Math.max(Math.min(rpcMs, this.#latest - now), 1));
    if (!this.call.request.has(Client.progressToken)) return;
    if (this.#lastProgress > 0) {
      const earned = ((now - this.#lastProgress) / 1000) * PROGRESS_PER_SECOND;
      this.#allowance = Math.min(PROGRESS_BURST, this.#allowance + earned);
    }
    this.#lastProgress = now;
    if (this.#allowance < 1) {
      this.#held = notification;
      return;
    }
    this.#allowance -= 1;
    this.#held = undefined;
    this.#pass(notification);
  }

  #pass(notification: Message): void {
    this.#lastPassed = performance.now();
    const token = this.call.progressToken!;
    this.call.notify(notification, [
      {
        start: notification.start(Server.progressToken),
        end: notification.end(Server.progressToken),
        with: token,
      },
    ]);
    this.#yieldTo();
  }

  /** A client that reads slowly slows the server down, not our memory up. */
  #yieldTo(): void {
    const { client } = this.call.session;
    if (!client.congested) return;
    this.#peer.pause();
    client.whenDrained(() => this.#peer.resume());
  }

  #expire(): void {
    const { timeouts } = this.#control;
    const whole = performance.now() >= this.#latest;
    this.#abandon('Timed out.');
    this.call.fail(
      new SwitchboardError(
        'CALL_TIMEOUT',
        `${this.call.subject} did not answer within ${whole ? timeouts.callMaxMs : timeouts.rpcMs} ms; it was cancelled.`,
        { hint: `If it needs longer, raise timeouts.${whole ? 'callMaxMs' : 'rpcMs'} in the configuration.` },
      ),
    );
  }

  /** Nobody waits any more: the server is told, and what it still answers is dropped. */
  #abandon(reason: string): void {
    this.#land();
    if (this.#peer.forget(this.#id))
      this.#peer.notify('notifications/cancelled', { requestId: this.#id, reason });
  }

  #land(): void {
    this.#deadline.clear();
    this.#control.landed(this);
  }

  #explain(reason: Unanswered): SwitchboardError {
    const { subject } = this.call;
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
            hint: 'The next call starts the server again.',
          },
        );
    }
  }
}
