import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type {
  Call,
  ClientLink,
  CloseOptions,
  ServerRequest,
  Session,
  SourceInfo,
  SourceState,
} from '../../gateway/index.ts';
import { createBackoff, type Backoff } from '../../process/index.ts';
import type { JsonObject, CatalogKind } from '../../protocol/index.ts';
import type { Edit, Message } from '../../wire/index.ts';
import { asStartError, ServerCalls, RESTART_TIMEOUT_MS, UNREAD_LIMIT } from './server-calls.ts';
import { ServerMessages } from '../run/server-messages.ts';
import { IdleWatch } from './idle-watch.ts';
import { inSeconds, type ServerRun, type UpstreamContext } from '../run/server-run.ts';
import { RecentlyCancelled } from '../calls/recently-cancelled.ts';
import { askOwn } from '../run/own-request.ts';
import type { UpstreamServer } from '../server.ts';
import { StartPostponed, Starter } from './starter.ts';
import { Tasks } from '../calls/tasks.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';

export interface ConnectionEvents {
  /** The server says that a list of its has changed. */
  changed(kind: CatalogKind): void;
  /** It could not be started. */
  failed(): void;
  /** The process is gone; the next one may have other lists. */
  gone(): void;
  /** A new process runs. */
  started(): void;
  /** A notification that belongs to no call. */
  notified(notification: Message, callers: () => ReadonlySet<Session>): ClientLink | undefined;
  asked(question: ServerRequest): void;
  /** Whether somebody waits to hear from the server. */
  inUse(): boolean;
  /** Asks the server for its tools, now. */
  relist(): Promise<unknown>;
}

/** To knock at a remote server costs little, and nobody but it knows when it is back: no call waits long for that. */
const REMOTE_BACKOFF = { first: 100, factor: 2, longest: 1500, limit: 1000 };

/**
 * The connection to one server over all its lives: idle until somebody needs it, started once however many ask,
 * brought back after a crash by the next call, stopped when unused.
 */
export class Connection {
  readonly #server: UpstreamServer;
  readonly #context: UpstreamContext;
  readonly #events: ConnectionEvents;
  readonly #deadlines: Deadlines;
  readonly #backoff: Backoff;
  readonly #calls: ServerCalls;
  #state: SourceState = { kind: 'idle' };
  #current: ServerRun | undefined;
  #starting: Promise<ServerRun> | undefined;
  readonly #starter: Starter;
  #about: SourceInfo | undefined;
  /** Why the last start failed; undefined once one has succeeded. */
  #problem: SwitchboardError | undefined;
  /** How many wait for it to start, besides calls. */
  #asking = 0;
  /** When the start under way began, on the performance clock. */
  #startedAt = 0;
  /** Starts since it last ran. */
  #attempts = 0;
  readonly #messages: ServerMessages;
  /** When a crashed server may be started again, on the performance clock. */
  #notBefore = 0;
  #lossReason = '';
  /** The end of the last process that was stopped for being idle; the next one waits for it. */
  #retiring: Promise<unknown> | undefined;
  readonly #idleWatch: IdleWatch;
  /** Whether a call has been answered in this life. */
  #answered = false;
  #closing: Promise<void> | undefined;
  /** Tasks that calls were answered with, by our progress token: they report under it until they end. */
  readonly #tasks = new Tasks();
  #reviving: NodeJS.Timeout | undefined;
  readonly #recentlyCancelled = new RecentlyCancelled();

  constructor(
    server: UpstreamServer,
    context: UpstreamContext,
    deadlines: Deadlines,
    headers: ToolHeaders,
    events: ConnectionEvents,
  ) {
    this.#server = server;
    this.#backoff = createBackoff(server.target.kind === 'process' ? { first: 100 } : REMOTE_BACKOFF);
    this.#context = context;
    this.#deadlines = deadlines;
    this.#events = events;
    this.#retiring = server.startsAfter;
    this.#idleWatch = new IdleWatch({
      idleMs: server.timeouts.idleMs,
      busy: () => this.#busy,
      idle: () => this.#retire(),
    });
    this.#messages = new ServerMessages({
      server: server.name,
      log: context.log,
      shared: server.shared === true,
      tasks: this.#tasks,
      unreadLimit: UNREAD_LIMIT,
      changed: (kind) => events.changed(kind),
      notified: (notification, callers) => events.notified(notification, callers),
      othersAtWork: () => this.#othersAtWork(),
    });
    this.#starter = new Starter({
      server,
      context,
      deadlines,
      learned: { headers },
      events: (run) => ({
        request: (message) => this.#messages.request(run(), message),
        notification: (message, requestId) => this.#messages.notified(run(), message, requestId),
        asked: (question) => events.asked(question),
        changed: (kind) => events.changed(kind),
        othersAtWork: () => this.#othersAtWork(),
        lost: (error) => this.#lost(run(), error),
        sessionLost: () => this.#sessionLost(run()),
      }),
      stopped: () => this.#stopped(),
      urgent: () => this.#calls.kept || this.#asking > 0,
      admitted: () => {
        if (this.#state.kind === 'starting') this.#become({ ...this.#state, admittedAt: performance.now() });
      },
    });
    this.#calls = new ServerCalls({
      server,
      deadlines,
      start: () => this.#ensure(),
      startWaitMs: context.callerMs,
      stillStarting: () => this.#stillStarting(),
      stopped: () => this.#stopped(),
      relist: () => events.relist(),
      finished: (answered) => {
        this.#answered ||= answered;
        this.#idleWatch.used();
      },
      lossReason: () => this.#lossReason,
      lossHint: () =>
        this.#state.kind === 'stopped'
          ? undefined
          : server.comesBack === false
            ? `reload_server {"name":${JSON.stringify(server.name)}} brings it back.`
            : server.target.kind === 'remote'
              ? 'The next call connects to it again.'
              : 'The next call starts the server again.',
      abandoned: (pending) => {
        this.#current?.serverRequests.abandon(pending);
        if (server.shared === true) this.#recentlyCancelled.note(pending.call.session);
      },
      continues: (token, task) => this.#tasks.add(token, task),
    });
  }

  get state(): SourceState {
    return this.#state;
  }

  get problem(): SwitchboardError | undefined {
    return this.#problem;
  }

  /** What the server said of itself, in this life or in an earlier one. */
  get about(): SourceInfo | undefined {
    return this.#about ?? this.#context.cache.about;
  }

  /** Sends a client's call on, or keeps it until that is possible. */
  relay(edits: Edit[], call: Call): void {
    this.#calls.relay(edits, call);
  }

  /** Asks the server something of our own, and starts it if need be. Resolves with the answer, whatever it says. */
  async ask(method: string, params?: JsonObject): Promise<Message> {
    const run = await this.#ensureSoon();
    const answer = await this.#askOf(run, method, params);
    if (answer !== 'not-taken') return answer;
    await run.whenOver();
    const second = await this.#askOf(await this.#ensureSoon(), method, params);
    if (second !== 'not-taken') return second;
    throw new SwitchboardError('SERVER_LOST', `Server '${this.#server.name}' rejected ${method} twice.`);
  }

  #askOf(run: ServerRun, method: string, params: JsonObject | undefined): Promise<Message | 'not-taken'> {
    this.#idleWatch.used();
    const { peer, modern } = run;
    const known = modern?.answerTo(method, params);
    if (known) return known;
    return askOwn({
      server: this.#server.name,
      peer,
      method,
      params: modern ? modern.stamped(params) : params,
      deadlines: this.#deadlines,
      timeoutMs: this.#server.timeouts.rpcMs,
      lossReason: () => this.#lossReason,
    });
  }

  /** Hides what must not be shown in what the server says. */
  mask(text: string): string {
    return this.#current === undefined ? text : this.#current.mask(text);
  }

  /** What the server says of itself; starts it if need be. */
  async initialized(): Promise<SourceInfo> {
    await this.#ensure();
    return this.#about!;
  }

  /** Passes a client's notification on, if the server runs. */
  tell(notification: Message): void {
    // A modern server is told nothing but that a request is cancelled.
    if (this.#current && !this.#current.modern && this.#current.peer.transport.backlog < UNREAD_LIMIT)
      this.#current.peer.transport.forward(notification, []);
  }

  keepFor(idleMs: number | 'never'): void {
    this.#idleWatch.keepFor(idleMs, this.#current !== undefined);
  }

  /** It runs and is of no use: it is stopped, and counts as crashed. */
  async giveUp(error: Error): Promise<void> {
    const current = this.#current;
    if (current === undefined) return;
    this.#lost(current, asStartError(error, this.#server.name));
    await current.stop();
  }

  close({ reason = 'Switchboard is stopping.', drainMs = 0 }: CloseOptions = {}): Promise<void> {
    this.#closing ??= this.#close(reason, drainMs);
    return this.#closing;
  }

  async #close(reason: string, drainMs: number): Promise<void> {
    this.#become({ kind: 'stopped' });
    this.#idleWatch.end();
    this.#lossReason = reason;
    this.#calls.failKept(this.#stoppedError());
    // One that is just starting is not waited for: it may never answer.
    const pending = this.#starter.stop();
    const starting = this.#starting?.then(
      (started) => started.stop(),
      () => undefined,
    );
    await this.#calls.close(this.#stoppedError(), drainMs);
    const current = this.#current;
    this.#live(undefined);
    clearTimeout(this.#reviving);
    this.#tasks.clear();
    await Promise.all([current?.stop(), pending, starting]);
    if (current) this.#events.gone();
  }

  /** The running server, started now if it is not; everybody who asks meanwhile waits for the same start. */
  #ensure(): Promise<ServerRun> {
    if (this.#current) return Promise.resolve(this.#current);
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** The same for somebody who will not wait for ever: after a while it is told to come back, and the start goes on. */
  async #ensureSoon(): Promise<ServerRun> {
    if (this.#current) return this.#current;
    this.#asking++;
    const timeoutMs: Deadline = {
      at: performance.now() + this.#context.callerMs,
      place: -1,
      expired: () => undefined,
    };
    const tooLong = new Promise<never>((_, reject) => {
      timeoutMs.expired = () => reject(this.#stillStarting() ?? this.#stoppedError());
    });
    this.#deadlines.add(timeoutMs);
    try {
      return await Promise.race([this.#ensure(), tooLong]);
    } finally {
      this.#asking--;
      this.#deadlines.remove(timeoutMs);
    }
  }

  #stillStarting(): SwitchboardError | undefined {
    const { name } = this.#server;
    if (this.#current || this.#starting === undefined) return undefined;
    const passed = inSeconds(performance.now() - this.#startedAt);
    const turn = this.#state.kind === 'starting' && this.#state.admittedAt === Infinity;
    const words = this.#starter.words();
    return new SwitchboardError(
      'STILL_STARTING',
      `Server '${name}' is still starting after ${passed}${turn ? ', waiting for its turn' : ''}.` +
        (words && ` ${words}`),
      { hint: 'It continues to start; try again.' },
    );
  }

  async #start(): Promise<ServerRun> {
    this.#startedAt = performance.now();
    if (this.#state.kind === 'crashed' && this.#server.comesBack === false)
      throw this.#leftAlone(this.#state.error);
    await this.#retiring;
    await this.#waitOutCrash();
    if (this.#state.kind === 'stopped') throw this.#stoppedError();
    this.#attempts++;
    this.#become({ kind: 'starting', attempt: this.#attempts, admittedAt: Infinity });
    try {
      const { run, about } = await this.#starter.start();
      this.#about = about;
      // It was asked to stop while it started.
      if ((this.#state as SourceState).kind === 'stopped') {
        await run.stop();
        throw this.#stoppedError();
      }
      this.#live(run);
      this.#problem = undefined;
      this.#answered = false;
      this.#become({ kind: 'running', pid: run.transport.pid, since: Date.now() });
      this.#attempts = 0;
      this.#backoff.succeeded(performance.now());
      this.#idleWatch.begin();
      this.#events.started();
      return run;
    } catch (error) {
      if ((this.#state as SourceState).kind === 'stopped') throw this.#stoppedError();
      if (error instanceof StartPostponed) {
        // Nothing is wrong with the server.
        this.#become({ kind: 'idle' });
        const other = this.#context.other();
        if (other) this.#calls.passKept(other);
        throw error.reason;
      }
      this.#problem = asStartError(error, this.#server.name);
      this.#crashed(this.#problem);
      this.#events.failed();
      throw error;
    }
  }

  #leftAlone(error: Error): SwitchboardError {
    const message = `Server '${this.#server.name}' has crashed and is not restarted automatically. ${messageOf(error)}`;
    return new SwitchboardError('SERVER_CRASHED', message, {
      hint: `reload_server {"name":${JSON.stringify(this.#server.name)}} brings it back.`,
    });
  }

  async #waitOutCrash(): Promise<void> {
    const wait = this.#notBefore - performance.now();
    if (wait <= 0) return;
    if (wait > RESTART_TIMEOUT_MS) {
      const why = this.#state.kind === 'crashed' ? messageOf(this.#state.error) : 'It loses its sessions.';
      throw new SwitchboardError(
        'SERVER_FAILING',
        `Server '${this.#server.name}' keeps failing; the next attempt is allowed in ${Math.ceil(wait / 1000)} s. ${why}`,
        { hint: this.#context.startHint },
      );
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }

  #lost(run: ServerRun, error: SwitchboardError): void {
    if (this.#current !== run) return;
    this.#live(undefined);
    this.#crashed(error);
    this.#tasks.clear();
    this.#recentlyCancelled.clear();
    this.#events.gone();
    // Calls that were not sent yet lost nothing: they go to the next life.
    if (this.#calls.kept) this.#calls.startForKept();
    else this.#revive();
  }

  /** The server does not know us any more; it is initialized again by the next call, or by those that it did not take. */
  #sessionLost(run: ServerRun): void {
    if (this.#current !== run) return;
    this.#context.log.info('the server no longer knows the session', { server: this.#server.name });
    this.#lossReason = `Server '${this.#server.name}' no longer knows the session.`;
    this.#live(undefined);
    this.#idleWatch.end();
    // Not at once again and again, where it forgets every session that it makes.
    if (!this.#answered) this.#holdOff();
    if (this.#state.kind !== 'stopped') this.#become({ kind: 'idle' });
    this.#tasks.clear();
    this.#events.gone();
    if (this.#calls.kept) this.#calls.startForKept();
    else this.#revive();
  }

  /** Somebody waits to hear from it: it comes back by itself, as soon as it may be started again. */
  #revive(): void {
    clearTimeout(this.#reviving);
    if (this.#server.comesBack === false || this.#state.kind === 'stopped' || !this.#events.inUse()) return;
    const wait = Math.max(this.#notBefore - performance.now(), 0);
    this.#reviving = setTimeout(() => {
      this.#ensure().catch(() => this.#revive());
    }, wait);
    this.#reviving.unref();
  }

  #crashed(error: SwitchboardError): void {
    this.#idleWatch.end();
    // It may die while it is being stopped; then it is stopped.
    if (this.#state.kind === 'stopped') return;
    this.#lossReason = error.message;
    this.#become({ kind: 'crashed', error, at: Date.now() });
    this.#holdOff();
    this.#context.log.warn('server failed', { server: this.#server.name, reason: error.message });
  }

  #holdOff(): void {
    const now = performance.now();
    const advice = this.#backoff.next(now);
    this.#notBefore = advice.kind === 'wait' ? now + advice.ms : advice.until;
  }

  #live(run: ServerRun | undefined): void {
    this.#current = run;
    this.#calls.liveIn(run);
  }

  #become(state: SourceState): void {
    this.#state = state;
    this.#context.stateChanged(this.#server.name);
  }

  /** Other sessions a server's request may be for: some servers go on after a cancellation, and tasks run without a call. */
  #othersAtWork(): Set<Session> {
    if (this.#server.shared !== true) return new Set();
    return new Set([...this.#recentlyCancelled.sessions(), ...this.#tasks.sessions()]);
  }

  get #busy(): boolean {
    const current = this.#current;
    if (current === undefined) return false;
    // Listening streams alone do not count as use; subscribers are counted by `inUse`.
    const asked = current.peer.pendingCount - (current.modern?.listening.streams ?? 0);
    const atWork = this.#calls.any || asked > 0 || current.serverRequests.size > 0 || this.#tasks.working;
    return atWork || this.#events.inUse();
  }

  #retire(): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#context.log.info('stopping an idle server', { server: this.#server.name });
    this.#live(undefined);
    this.#become({ kind: 'idle' });
    this.#events.gone();
    this.#retiring = current.stop().catch((error: unknown) => {
      this.#context.log.error('could not stop', { server: this.#server.name, reason: messageOf(error) });
    });
  }

  #stopped(): SwitchboardError | undefined {
    return this.#state.kind === 'stopped' ? this.#stoppedError() : undefined;
  }

  #stoppedError(): SwitchboardError {
    return new SwitchboardError('STOPPING', `Server '${this.#server.name}' is stopped. ${this.#lossReason}`);
  }
}
