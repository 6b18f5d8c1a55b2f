import { SwitchboardError } from '../../shared/errors.ts';
import type { Deadline } from '../../shared/deadline.ts';
import { optimizeEarly } from '../../shared/v8-settings.ts';
import type { Call, Runner } from '../../gateway/index.ts';
import { Client, Server } from '../../protocol/index.ts';
import { addEdit, type AnswerListener, type Edit, type Message, type Unanswered } from '../../wire/index.ts';
import { Task } from './background-work.ts';
import type { ServerRun } from './server-run.ts';

/** Sends calls to a server, across all its runs. */
export interface CallSender {
  /** Checks a modern server's response. Returns what the client gets; undefined if nothing yet. */
  review(answer: Message, pending: PendingCall): Message | undefined;
  /** The server has not processed the call. Returns whether it will be sent again. */
  returned(call: Call, edits: Edit[]): boolean;
}

/** How long before its response the last progress notification is sent, in milliseconds. */
const PROGRESS_LEAD = 1;

/** A call that was sent to a server and has not been answered. It is its own deadline and its own queue entry. */
export class PendingCall implements AnswerListener, Deadline, Runner {
  readonly call: Call;
  /** The edits to make in the request, whichever server it goes to. */
  readonly edits: Edit[];
  at: number;
  place = -1;
  readonly #run: ServerRun;
  readonly #sender: CallSender;
  /** When it was sent, on the performance clock. */
  readonly since: number;
  /** When it ends at the latest, on the performance clock. */
  latest: number;
  /** Our own id for it, which is also its progress token for the server. */
  #id = 0;
  #progress: ProgressThrottle | undefined;
  #away = false;

  constructor(call: Call, edits: Edit[], run: ServerRun, sender: CallSender) {
    this.call = call;
    this.edits = edits;
    this.#run = run;
    this.#sender = sender;
    const now = performance.now();
    const { rpcMs, callMaxMs } = run.setup.server.timeouts;
    this.since = now;
    this.latest = now + callMaxMs;
    this.at = Math.min(now + rpcMs, this.latest);
  }

  /** Limits a repeated call to the deadline of its first attempt. */
  endBy(latest: number): void {
    this.latest = latest;
    this.at = Math.min(this.at, latest);
  }

  /** `ready`: the edits, including those that this server needs. */
  send(ready: Edit[]): void {
    const { peer, setup } = this.#run;
    const { request } = this.call;
    const token = request.start(Client.progressToken);
    if (token >= 0) {
      // The given array stays as it is, in case the call has to be sent again.
      ready = [...ready];
      // Two clients may use the same token, but our ids are unique.
      const own = String(peer.upcomingId);
      addEdit(ready, { start: token, end: request.end(Client.progressToken), with: own });
      this.#progress = new ProgressThrottle();
    }
    this.#run.inFlight++;
    this.call.follower?.sent(setup.server.name);
    optimizeEarly();
    this.#id = peer.relay(request, ready, this);
    setup.deadlines.add(this);
    this.call.runBy(this);
  }

  answered(answer: Message): void {
    this.#land(true);
    const throttle = this.#progress;
    if (throttle) this.#passHeld(throttle);
    if (this.#run.modern !== undefined) {
      const reviewed = this.#review(answer);
      if (reviewed === undefined) return;
      answer = reviewed;
    }
    if (answer.has(Server.task))
      this.#run.background.addTask(this.#id, new Task(this.call, answer, throttle));
    // Clients built on the official SDK lose progress that they read together with the response. A pause between the
    // two writes costs a call that reports progress one millisecond and preserves its last report.
    if (throttle && performance.now() - throttle.lastPassed < PROGRESS_LEAD) {
      setTimeout(() => this.#deliver(answer), PROGRESS_LEAD);
    } else this.#deliver(answer);
  }

  unanswered(reason: Unanswered, error?: SwitchboardError): void {
    this.#land();
    if (reason === 'not-taken' && this.#sender.returned(this.call, this.edits)) return;
    this.call.fail(this.#explain(reason, error));
  }

  /** Progress that the server reported for this call. */
  progress(notification: Message): void {
    this.restartClock();
    const now = performance.now();
    const throttle = this.#progress;
    if (throttle === undefined) return;
    if (throttle.admits(notification, now)) this.#pass(notification, throttle);
    // The newest notification that was held back is sent when the next one may be, even if no other arrives.
    else throttle.timer ??= setTimeout(() => this.#passHeld(throttle), 1000 / PROGRESS_PER_SECOND);
  }

  expired(): void {
    const { server, deadlines } = this.#run.setup;
    const { timeouts } = server;
    const now = performance.now();
    const whole = now >= this.latest;
    if (!whole && this.#run.serverRequests.mayConcern(this)) {
      // The server is not slow: it waits for a response that a person may have to give.
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

  /** Nobody waits for the call any more: the server is notified, and its response is dropped if it still comes. */
  cancelled(reason = 'The client cancelled the request.'): void {
    const { peer } = this.#run;
    if (!peer.forget(this.#id)) return;
    this.#run.callAbandoned(this);
    this.#land();
    peer.cancel(this.#id, reason);
  }

  suspended(away: boolean): void {
    if (this.#away === away) return;
    this.#away = away;
    this.#run.callSuspended(away);
  }

  /** Restarts the timeout: the server is active, or was waiting for somebody else. */
  restartClock(): void {
    const { server, deadlines } = this.#run.setup;
    deadlines.move(this, Math.min(performance.now() + server.timeouts.rpcMs, this.latest));
  }

  #review(answer: Message): Message | undefined {
    try {
      return this.#sender.review(answer, this);
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
    this.#run.yieldTo(this.call.session.client);
  }

  /** A bug on our side costs only this call, not the program and every other server. */
  #failed(cause: unknown): void {
    this.call.fail(new SwitchboardError('INTERNAL', 'Switchboard failed to handle this answer.', { cause }));
  }

  #passHeld(throttle: ProgressThrottle): void {
    clearTimeout(throttle.timer);
    throttle.timer = undefined;
    if (throttle.held) this.#pass(throttle.held, throttle);
    throttle.held = undefined;
  }

  #pass(notification: Message, throttle: ProgressThrottle): void {
    throttle.lastPassed = performance.now();
    const token = this.call.request;
    const start = notification.start(Server.progressToken);
    const end = notification.end(Server.progressToken);
    const theirs = {
      of: token.bytes,
      start: token.start(Client.progressToken),
      end: token.end(Client.progressToken),
    };
    this.call.notify(notification, [{ start, end, with: theirs }]);
    this.#run.yieldTo(this.call.session.client);
  }

  #land(answered = false): void {
    clearTimeout(this.#progress?.timer);
    this.#run.setup.deadlines.remove(this);
    this.suspended(false);
    this.call.follower?.returned();
    this.#run.callEnded(answered);
  }

  #explain(reason: Unanswered, error: SwitchboardError | undefined): SwitchboardError {
    const subject = this.call.subject();
    const { end, setup } = this.#run;
    const lossReason = end?.reason ?? '';
    switch (reason) {
      case 'too-large':
        return new SwitchboardError(
          'ANSWER_TOO_LARGE',
          `${subject} returned a response larger than ${setup.server.limits.messageBytes} bytes (too large); it was dropped.`,
          { hint: 'Ask for less at a time, or raise limits.messageBytes in the configuration.' },
        );
      case 'unreadable':
        return new SwitchboardError('ANSWER_UNREADABLE', `${subject} returned an invalid message.`, {
          hint: 'This is a bug in that server; check its log.',
        });
      case 'failed':
        return new SwitchboardError(
          error?.code ?? 'SERVER_LOST',
          `${subject} failed. ${error?.message ?? lossReason}`,
          { hint: error?.hint, cause: error },
        );
      case 'not-taken':
        return new SwitchboardError('SERVER_LOST', `${subject} was not run: the server rejected it twice.`, {
          hint: 'It loses its sessions as soon as they are created; check its log.',
        });
      case 'closed':
        return new SwitchboardError('SERVER_LOST', `${subject} was not answered: ${lossReason}`, {
          hint: end?.hint,
        });
    }
  }
}

/** Beyond this many progress notifications a second, only the newest is kept and sent later. */
const PROGRESS_BURST = 100;
const PROGRESS_PER_SECOND = 20;

/** Forwards progress up to a certain rate; beyond that, keeps only the newest. */
export class ProgressThrottle {
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
