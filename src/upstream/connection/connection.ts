import type { Deadline } from '../../shared/deadline.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { ClientLink, CloseOptions, SourceInfo, SourceState } from '../../gateway/index.ts';
import { createBackoff, type Backoff } from '../../shared/backoff.ts';
import type { JsonObject } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { maskOf } from '../mask.ts';
import { returnHint, type RunEvent, type ServerRun } from '../run/server-run.ts';
import { ServerCalls } from './server-calls.ts';
import { ServerStart } from './server-start.ts';
import { asStartError, StartPostponed } from './start-errors.ts';
import type { ConnectionState, CrashedState, IdleState, RunningState } from './state.ts';

/** What a connection reports to its listener: the events of each run, and the start and end of runs. */
export type ConnectionEvent =
  | Extract<RunEvent, { readonly kind: 'changed' | 'notified' | 'requested' }>
  /** A new run. It knows nothing of what was sent to the previous one. */
  | { readonly kind: 'started' }
  /** The server could not be started. */
  | { readonly kind: 'failed' }
  /** A run has ended. The next one may have different lists. */
  | { readonly kind: 'stopped' };

export interface ConnectionOptions {
  /** Returns a client that cannot keep up with a notification. */
  readonly tell: (event: ConnectionEvent) => ClientLink | undefined;
  /** Whether anybody is waiting for notifications from the server. */
  readonly inUse: () => boolean;
  /** Requests the list of tools from the server now. */
  readonly relist: () => Promise<unknown>;
}

/**
 * An attempt to reach a remote server costs little, and only the server knows when it is back, so calls do not wait
 * long.
 */
const REMOTE_BACKOFF = { first: 100, factor: 2, longest: 1500, limit: 1000 };
/** How long a call waits for a server to come back before its client is asked to try again later, in milliseconds. */
const RESTART_TIMEOUT_MS = 2000;
/**
 * The shortest time between two attempts to restart a server that somebody waits for notifications from, in
 * milliseconds.
 */
const REVIVAL_PAUSE_MS = 250;

/**
 * The connection to one server over all its runs: idle until the server is needed, started once however many ask,
 * restarted by the next call after a crash, and stopped when unused.
 */
export class Connection {
  readonly calls: ServerCalls;
  /** Why the last start failed; undefined once one has succeeded. */
  problem: SwitchboardError | undefined = undefined;
  readonly #setup: ServerSetup;
  readonly #options: ConnectionOptions;
  readonly #backoff: Backoff;
  #idleMs: number | 'never';
  #state: ConnectionState;

  constructor(setup: ServerSetup, options: ConnectionOptions) {
    const { target, timeouts, startsAfter } = setup.server;
    this.#setup = setup;
    this.#options = options;
    this.#backoff = createBackoff(target.kind === 'process' ? { first: 100 } : REMOTE_BACKOFF);
    this.#idleMs = timeouts.idleMs;
    this.#state = { kind: 'idle', leaving: startsAfter, notBefore: 0 };
    this.calls = new ServerCalls(setup, this, options.relist);
  }

  get state(): SourceState {
    // To the outside, a connection that waits to start still has its previous state.
    return this.#state.kind === 'waiting' ? this.#state.before : this.#state;
  }

  /** The run that accepts calls. */
  get run(): ServerRun | undefined {
    return this.#state.kind === 'running' ? this.#state.run : undefined;
  }

  /** Why nothing more is sent to the server; undefined while it is in use. */
  get stopped(): SwitchboardError | undefined {
    return this.#state.kind === 'stopped' ? this.#state.error : undefined;
  }

  /** What the server reported about itself, in this run or an earlier one. */
  get about(): SourceInfo | undefined {
    return this.#setup.learned.about ?? this.#setup.context.cache.about;
  }

  /** Hides secrets in text from the server. */
  mask(text: string): string {
    return (this.run?.mask ?? maskOf(this.#setup.server))(text);
  }

  /** Sends the server a request of our own, starting it if necessary. Resolves with any answer, including errors. */
  async ask(method: string, params?: JsonObject): Promise<Message> {
    const run = await this.#startedSoon();
    const answer = await run.ask(method, params);
    if (answer !== 'not-taken') return answer;
    await run.whenOver();
    const second = await (await this.#startedSoon()).ask(method, params);
    if (second !== 'not-taken') return second;
    throw new SwitchboardError('SERVER_LOST', `Server '${this.#name}' rejected ${method} twice.`);
  }

  /** Sets how long the server keeps running unused, in milliseconds; for a running server, from now on. */
  keepFor(idleMs: number | 'never'): void {
    if (this.#idleMs === idleMs) return;
    this.#idleMs = idleMs;
    if (this.#state.kind === 'running') this.#watchIdle(this.#state);
  }

  /** Stops it permanently. Called once. */
  async close({ reason = 'Switchboard is stopping.', drainMs = 0 }: CloseOptions = {}): Promise<void> {
    const before = this.#state;
    const { run } = this;
    const error = new SwitchboardError('STOPPING', `Server '${this.#name}' is stopped. ${reason}`);
    this.#become({ kind: 'stopped', error, run });
    this.calls.close(error);
    // A server that is still starting is not waited for: it may never answer.
    const starting =
      'start' in before ? [before.start.stop(error), before.running.catch(() => undefined)] : [];
    await run?.finishCalls(drainMs);
    const lost = run === undefined || run.end !== undefined;
    await Promise.all([run?.stop(reason), ...starting]);
    if (!lost) this.#options.tell({ kind: 'stopped' });
  }

  /**
   * Returns the running server and starts it if necessary. Everybody who asks in the meantime waits for the same start.
   */
  started(): Promise<ServerRun> {
    const state = this.#state;
    switch (state.kind) {
      case 'running':
        return Promise.resolve(state.run);
      case 'waiting':
      case 'starting':
        return state.running;
      case 'stopped':
        return Promise.reject(state.error);
      case 'idle':
      case 'crashed':
        return this.#start(state);
    }
  }

  /** The error for a caller that has waited too long for the start; undefined if the server is not starting. */
  stillStarting(): SwitchboardError | undefined {
    return 'start' in this.#state ? this.#state.start.stillStarting() : undefined;
  }

  /**
   * The same for a caller that cannot wait forever: after a while it is asked to come back, and the start continues.
   */
  async #startedSoon(): Promise<ServerRun> {
    const running = this.started();
    const state = this.#state;
    if (!('start' in state)) return running;
    const { start } = state;
    const { context, deadlines } = this.#setup;
    const deadline: Deadline = {
      at: performance.now() + context.callerMs,
      place: -1,
      expired: () => undefined,
    };
    const tooLong = new Promise<never>((_, reject) => {
      deadline.expired = () => reject(start.stillStarting());
    });
    start.waiters++;
    deadlines.add(deadline);
    try {
      return await Promise.race([running, tooLong]);
    } finally {
      start.waiters--;
      deadlines.remove(deadline);
    }
  }

  #start(before: IdleState | CrashedState): Promise<ServerRun> {
    const obstacle = this.#obstacle(before);
    if (obstacle) return Promise.reject(obstacle);
    const start = this.#newStart();
    const leaving = before.kind === 'idle' ? before.leaving : undefined;
    const running = Promise.resolve(leaving).then(() => this.#bringUp(before, start));
    this.#state = { kind: 'waiting', before, start, running };
    return running;
  }

  /**
   * A separate method, because closures created in one scope keep everything that any of them uses: a run would keep
   * the error of the previous crash, which keeps the run before that, and so on.
   */
  #newStart(): ServerStart {
    return new ServerStart(this.#setup, {
      listener: (event, run) => this.#heard(event, run),
      urgent: () => this.calls.kept,
      admitted: () => this.#admitted(),
    });
  }

  /** Why the server cannot be started soon. */
  #obstacle(state: IdleState | CrashedState): SwitchboardError | undefined {
    const { server, context } = this.#setup;
    if (state.kind === 'crashed' && server.comesBack === false) {
      const message = `Server '${server.name}' has crashed and is not restarted automatically. ${state.error.message}`;
      return new SwitchboardError('SERVER_CRASHED', message, { hint: returnHint(server) });
    }
    const wait = state.notBefore - performance.now();
    if (wait <= RESTART_TIMEOUT_MS) return undefined;
    const why = state.kind === 'crashed' ? state.error.message : 'It loses its sessions.';
    return new SwitchboardError(
      'SERVER_FAILING',
      `Server '${server.name}' keeps failing; the next attempt is allowed in ${Math.ceil(wait / 1000)} s. ${why}`,
      { hint: context.startHint },
    );
  }

  async #bringUp(before: IdleState | CrashedState, start: ServerStart): Promise<ServerRun> {
    const wait = before.notBefore - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    this.#starting();
    let run: ServerRun;
    try {
      run = await start.run();
    } catch (error) {
      throw this.#notStarted(error);
    }
    const { stopped } = this;
    if (stopped) {
      await run.stop();
      throw stopped;
    }
    this.#running(run);
    return run;
  }

  #starting(): void {
    const state = this.#state;
    // It may have been stopped while it waited.
    if (state.kind === 'stopped') throw state.error;
    if (state.kind !== 'waiting') return;
    const { start, running } = state;
    this.#become({ kind: 'starting', start, running, admittedAt: Infinity });
  }

  #admitted(): void {
    const state = this.#state;
    if (state.kind === 'starting') this.#become({ ...state, admittedAt: performance.now() });
  }

  #running(run: ServerRun): void {
    this.#setup.learned.about = run.agreed.info;
    this.problem = undefined;
    const { pid } = run.transport;
    const state: RunningState = { kind: 'running', run, pid, since: Date.now(), idleTimer: undefined };
    this.#become(state);
    this.#backoff.succeeded(performance.now());
    this.#watchIdle(state);
    this.#options.tell({ kind: 'started' });
  }

  /** Returns the error for those who waited for the start. */
  #notStarted(error: unknown): SwitchboardError {
    if (this.stopped) return this.stopped;
    if (error instanceof StartPostponed) {
      // Nothing is wrong with the server.
      this.#become({ kind: 'idle', notBefore: 0 });
      const other = this.#setup.context.other();
      if (other) this.calls.passKept(other);
      return error.reason;
    }
    this.problem = asStartError(error, this.#name);
    this.#crashed(this.problem);
    this.#options.tell({ kind: 'failed' });
    return this.problem;
  }

  #heard(event: RunEvent, run: ServerRun): ClientLink | undefined {
    switch (event.kind) {
      case 'room':
        this.calls.sendKept();
        return undefined;
      case 'lost':
        this.#lost(run, () => this.#crashed(event.error));
        return undefined;
      case 'session-lost':
        this.#lost(run, () => this.#sessionLost(run));
        return undefined;
      default:
        return this.#options.tell(event);
    }
  }

  #lost(run: ServerRun, become: () => void): void {
    const state = this.#state;
    // A run that is starting is not in use yet, and one that is being stopped counts as stopped.
    if (!('run' in state) || state.run !== run) return;
    if (state.kind === 'running') become();
    this.#options.tell({ kind: 'stopped' });
    // Calls that have not been sent yet are not lost: they go to the next run.
    if (this.calls.kept) this.calls.startForKept();
    else this.#revive();
  }

  #crashed(error: SwitchboardError): void {
    this.#become({ kind: 'crashed', error, at: Date.now(), notBefore: this.#restartAt() });
    this.#setup.context.log.warn('server failed', { server: this.#name, reason: error.message });
  }

  /**
   * The server has lost the session. It is initialized again by the next call, or by the calls that it did not process.
   */
  #sessionLost(run: ServerRun): void {
    this.#setup.context.log.info('the server no longer knows the session', { server: this.#name });
    // A server that loses every session must not be initialized again immediately each time.
    this.#become({ kind: 'idle', notBefore: run.answered ? 0 : this.#restartAt() });
  }

  #restartAt(): number {
    const now = performance.now();
    const advice = this.#backoff.next(now);
    return advice.kind === 'wait' ? now + advice.ms : advice.until;
  }

  /** Restarts a server that somebody waits for notifications from, as soon as possible but not before `pause`. */
  #revive(pause = 0): void {
    const state = this.#state;
    const down = state.kind === 'idle' || state.kind === 'crashed';
    if (!down || this.#setup.server.comesBack === false || !this.#options.inUse()) return;
    const wait = Math.max(state.notBefore - performance.now(), pause);
    // A postponed start requires no pause.
    setTimeout(() => void this.started().catch(() => this.#revive(REVIVAL_PAUSE_MS)), wait).unref();
  }

  /** A single timer checks again after the idle time, so that using the server costs nothing. */
  #watchIdle(state: RunningState): void {
    clearTimeout(state.idleTimer);
    if (this.#idleMs === 'never') return;
    const { run } = state;
    run.used = false;
    state.idleTimer = setTimeout(() => {
      if (run.used || run.busy || this.calls.waiting || this.#options.inUse()) this.#watchIdle(state);
      else void this.#retire(run, 'stopping an idle server');
    }, this.#idleMs).unref();
  }

  /** Stops the server if it runs. It starts again when it is next needed. */
  async stop(): Promise<void> {
    const state = this.#state;
    if (state.kind === 'running') await this.#retire(state.run, 'stopping');
  }

  #retire(run: ServerRun, why: string): Promise<void> {
    const { log } = this.#setup.context;
    log.info(why, { server: this.#name });
    const leaving = run.stop().catch((error: unknown) => {
      log.error('could not stop', { server: this.#name, reason: messageOf(error) });
    });
    this.#become({ kind: 'idle', leaving, notBefore: 0 });
    this.#options.tell({ kind: 'stopped' });
    return leaving;
  }

  #become(state: ConnectionState): void {
    const from = this.state.kind;
    if (this.#state.kind === 'running') clearTimeout(this.#state.idleTimer);
    this.#state = state;
    this.#setup.context.stateChanged(this.#name, from, this.state.kind);
  }

  get #name(): string {
    return this.#setup.server.name;
  }
}
