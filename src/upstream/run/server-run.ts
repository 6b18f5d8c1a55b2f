import type { Deadline } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import { Waiters } from '../../shared/waiters.ts';
import type { ClientLink, ServerRequest, Session } from '../../gateway/index.ts';
import { SERVER_SHAPE, type CatalogKind, type Era, type JsonObject } from '../../protocol/index.ts';
import { Peer, type Message, type OutputFraming, type PeerEvents } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { negotiate, type Agreement } from '../handshake/negotiate.ts';
import { Modern } from '../modern/modern.ts';
import { maskOf } from '../mask.ts';
import type { UpstreamServer } from '../server.ts';
import type { Transport, TransportEnd, TransportEvents } from '../transport.ts';
import { BackgroundWork } from './background-work.ts';
import { NoiseMeter } from './noise.ts';
import { PendingCall } from './pending-call.ts';
import { openTransport } from './open-transport.ts';
import { RandomIds } from './random-ids.ts';
import { routeNotification, routeRequest } from './server-messages.ts';
import { OpenServerRequests } from './server-requests.ts';

/** What a run reports to its listener. */
export type RunEvent =
  /** The server's list of this kind may have changed. */
  | { readonly kind: 'changed'; readonly list: CatalogKind }
  /** A notification that does not belong to a call. */
  | {
      readonly kind: 'notified';
      readonly notification: Message;
      readonly callers: () => ReadonlySet<Session>;
    }
  /** The server sends a request for a client. */
  | { readonly kind: 'requested'; readonly request: ServerRequest }
  /** A call has ended or its client is busy with a request: there may be room for another call. */
  | { readonly kind: 'room' }
  /** The run has ended without being asked to. */
  | { readonly kind: 'lost'; readonly error: SwitchboardError }
  /** The same, but the server is running: it no longer knows the session. */
  | { readonly kind: 'session-lost' };

/** Returns a client that cannot keep up with a notification: the server is not read until it can. */
export type RunListener = (event: RunEvent, run: ServerRun) => ClientLink | undefined;

/** Why a run has ended. */
interface RunEnd {
  /** A sentence for the calls that fail. */
  readonly reason: string;
  /** What their clients can do about it. */
  readonly hint?: string | undefined;
  /** The same as an error, if the run was lost. */
  readonly error?: SwitchboardError | undefined;
}

/** Nothing more is sent to a server that has this much unread output, in bytes. */
const UNREAD_LIMIT = 8 * 1024 * 1024;

/** One run of a server: its transport and the messages over it. A new start creates a new run. */
export class ServerRun {
  readonly setup: ServerSetup;
  readonly transport: Transport;
  readonly peer: Peer;
  /** Hides secrets in what the server reports about itself. Its responses to clients are not ours to change. */
  readonly mask: (text: string) => string;
  /** The server's requests to clients that have not been answered yet. */
  readonly serverRequests: OpenServerRequests;
  readonly background = new BackgroundWork();
  /** The result of the handshake; undefined until it is answered. */
  agreement: Agreement | undefined = undefined;
  /** Set once the server turns out to be of the modern era. */
  modern: Modern | undefined = undefined;
  /** Calls sent and not yet answered, without those whose client is away. */
  inFlight = 0;
  /** Whether a call has been answered. */
  answered = false;
  /** Whether somebody has used the server since this was last set to false. */
  used = false;
  /** Whether it has been logged that the server sends requests without reading the responses. */
  unreadLogged = false;
  /** Why the run has ended; undefined while it continues. */
  end: RunEnd | undefined = undefined;
  readonly #listener: RunListener;
  readonly #noise: NoiseMeter;
  /** Creates the ids of our requests if a client could misuse ids that it guesses. */
  readonly #ids: RandomIds | undefined;
  /**
   * The number of messages that refer to no request of ours. Some come late or twice, but very many may be attempts to
   * guess an id.
   */
  #strays = 0;
  #askAgain: (() => void) | undefined;
  /** Whether the run will be stopped when its last calls are finished. */
  #finishing = false;
  /** Resolved when no call is running. */
  readonly #idle = new Waiters();
  /** Resolved when the run has ended. */
  readonly #overWaiters = new Waiters();

  static async begin(setup: ServerSetup, framing: OutputFraming, listener: RunListener): Promise<ServerRun> {
    const mask = maskOf(setup.server);
    const events: TransportEvents = { ended: (end) => run.#ended(end) };
    const transport = await openTransport({ setup, framing, mask }, events);
    const run: ServerRun = new ServerRun(setup, transport, mask, listener);
    return run;
  }

  private constructor(
    setup: ServerSetup,
    transport: Transport,
    mask: (text: string) => string,
    listener: RunListener,
  ) {
    const { name: server } = setup.server;
    const { log } = setup.context;
    this.setup = setup;
    this.transport = transport;
    this.mask = mask;
    this.#listener = listener;
    this.#noise = new NoiseMeter(server, log, mask);
    // The ids are also the progress tokens. A client that makes a shared server print text could forge messages with
    // ids that it guesses.
    const ids = setup.server.shared === true ? new RandomIds() : undefined;
    this.#ids = ids;
    const events: PeerEvents = {
      request: (message) => routeRequest(this, message),
      notification: (message, requestId) => routeNotification(this, message, requestId),
      refused: (refusal, _id, bytes) => {
        // A response over the limit fails only its call; it does not count as a flood.
        if (refusal === 'too-large')
          log.warn('dropped a message over the limit', { server, bytes: bytes.length });
        else if (this.#noise.hear(refusal, bytes))
          this.#abort('writes too much to stdout that is not a protocol message');
      },
      dropped: (why) => {
        log.debug('dropped a message', { server, why });
        this.#countStray();
      },
      ended: (why) => {
        if (why === 'overrun') this.#abort('sent a message that does not end');
        else transport.inputEnded?.();
      },
    };
    this.peer = new Peer(transport.messages, SERVER_SHAPE, events, ids && (() => ids.next()));
    this.serverRequests = new OpenServerRequests(this);
  }

  tell(event: RunEvent): ClientLink | undefined {
    return this.#listener(event, this);
  }

  /**
   * Resolves when the server has answered the handshake in one of the eras. `discovered`: it has answered
   * `server/discover` before.
   */
  async initialize(eras: readonly Era[], discovered: boolean, timeoutMs: number): Promise<Agreement> {
    const { peer, transport, mask, setup } = this;
    const agreement = await negotiate({
      peer,
      transport,
      server: setup.server.name,
      identity: setup.context.identity(),
      mask,
      eras,
      discovered,
      timeoutMs,
      asked: (again) => (this.#askAgain = again),
    });
    this.agreement = agreement;
    if (agreement.era === 'modern' && !this.end)
      this.modern = new Modern({
        setup,
        peer,
        about: agreement.info,
        changed: (list) => this.tell({ kind: 'changed', list }),
      });
    return agreement;
  }

  /** The result of the handshake, once it is answered. */
  get agreed(): Agreement {
    if (this.agreement === undefined) throw new Error('The handshake has not been answered');
    return this.agreement;
  }

  /** Sends the handshake once more, in both framings at once, unless the server has already sent a valid message. */
  askAgain(): void {
    if (this.peer.transport.inputFraming === undefined) this.#askAgain?.();
  }

  /** What it has printed and written so far, as sentences; empty if nothing. */
  words(): string {
    const { printed } = this.#noise;
    const noise = printed.length === 0 ? [] : [`It printed ${quoted(printed.join(' | '))} to stdout.`];
    return [...noise, this.transport.lastWords()].filter((each) => each !== '').join(' ');
  }

  /**
   * Sends the server a request of our own. Resolves with any answer, including errors, or with `not-taken` if it was
   * not processed.
   */
  ask(method: string, params: JsonObject | undefined): Promise<Message | 'not-taken'> {
    const { server, deadlines } = this.setup;
    const { peer, modern } = this;
    this.used = true;
    const known = modern?.answerTo(method, params);
    if (known) return known;
    const failed = (code: 'CALL_TIMEOUT' | 'SERVER_LOST', why: string, hint?: string): SwitchboardError =>
      new SwitchboardError(code, `Server '${server.name}' did not respond to ${method}${why}`, { hint });
    return new Promise((resolve, reject) => {
      const { rpcMs } = server.timeouts;
      const deadline: Deadline = {
        at: performance.now() + rpcMs,
        place: -1,
        expired: () => {
          if (peer.forget(id)) peer.cancel(id);
          const hint = 'If it needs more time, raise timeouts.rpcMs in the configuration.';
          reject(failed('CALL_TIMEOUT', ` within ${rpcMs} ms.`, hint));
        },
      };
      const id = peer.request(method, modern ? modern.stamped(params) : params, {
        answered: (answer) => {
          deadlines.remove(deadline);
          resolve(answer);
        },
        unanswered: (reason, error) => {
          deadlines.remove(deadline);
          if (reason === 'not-taken') resolve(reason);
          else if (reason === 'closed') reject(error ?? failed('SERVER_LOST', `. ${this.end?.reason ?? ''}`));
          else reject(error ?? failed('SERVER_LOST', `. Its answer was ${reason.replace('-', ' ')}.`));
        },
      });
      deadlines.add(deadline);
    });
  }

  /** Forwards a client's notification. A modern server receives only cancellations. */
  notify(notification: Message): void {
    if (!this.modern && !this.readsNothing) this.peer.transport.forward(notification, []);
  }

  /** A notification was about none of our running requests. It is often just late, but may be a guess. */
  missed(id: number): void {
    if (id > 0 && this.#ids?.isRecent(id) === false) this.#countStray();
  }

  /** Whether so much output is unread that nothing more is sent. */
  get readsNothing(): boolean {
    return this.peer.transport.backlog >= UNREAD_LIMIT;
  }

  /** Whether another call can be sent. */
  get hasRoom(): boolean {
    return !this.isFull && !this.readsNothing && this.transport.open;
  }

  /** Whether the server is working on as many calls as it may. */
  get isFull(): boolean {
    return this.inFlight >= this.setup.server.limits.callsInFlight;
  }

  /** Whether anything is running that must not be interrupted. */
  get busy(): boolean {
    // Subscription streams alone do not count as use; subscribers are counted elsewhere.
    const asked = this.peer.pendingCount - (this.modern?.listening.streams ?? 0);
    return this.inFlight > 0 || asked > 0 || this.serverRequests.size > 0 || this.background.hasTasks;
  }

  pendingCalls(): PendingCall[] {
    return this.peer.listeners().filter((listener) => listener instanceof PendingCall);
  }

  /**
   * The clients that the server may be working for. Computed when a server sends a request instead of being kept: most
   * servers never do.
   */
  callers(): Set<Session> {
    const callers = this.pendingCalls().map((pending) => pending.call.session);
    return new Set(this.setup.server.shared === true ? [...callers, ...this.background.sessions()] : callers);
  }

  /** A call has ended, for whatever reason. */
  callEnded(answered: boolean): void {
    this.inFlight--;
    this.used = true;
    this.answered ||= answered;
    this.#listener(ROOM, this);
    if (this.inFlight === 0) this.#idle.tell();
  }

  /** The client of a call is away or back. While it is away, another call may be sent in its place. */
  callSuspended(away: boolean): void {
    this.inFlight += away ? -1 : 1;
    if (away) this.#listener(ROOM, this);
  }

  /** A call was given up before it was answered. */
  callAbandoned(pending: PendingCall): void {
    this.serverRequests.abandon(pending);
    if (this.setup.server.shared === true) this.background.cancelled(pending.call.session);
  }

  /**
   * Lets a slowly reading client slow the server down instead of filling our memory, unless others share the server.
   */
  yieldTo(client: ClientLink | undefined): void {
    if (client?.congested !== true || this.setup.server.shared === true) return;
    this.peer.transport.pause();
    client.whenDrained(() => this.peer.transport.resume());
  }

  /** Prepares the run for being stopped. Resolves when no call is running, or after this many milliseconds. */
  finishCalls(ms: number): Promise<void> {
    this.#finishing = true;
    if (ms <= 0 || this.inFlight === 0) return Promise.resolve();
    return this.#idle.wait(ms);
  }

  /** Ends the run deliberately, without reporting it as lost. `reason` is a sentence for the calls that fail. */
  async stop(reason = 'The server was stopped.'): Promise<void> {
    this.end ??= { reason };
    this.serverRequests.withdrawAll('The server was stopped.');
    this.#close();
    await this.transport.stop();
  }

  /** The run is unusable: ends it and reports it as lost. */
  async fail(error: SwitchboardError): Promise<void> {
    this.#lost(error);
    await this.transport.stop();
  }

  /** Resolves when the run has ended, for whatever reason. */
  whenOver(): Promise<void> {
    return this.end ? Promise.resolve() : this.#overWaiters.wait();
  }

  #countStray(): void {
    if (++this.#strays > STRAYS + this.peer.asked)
      this.#abort('sends too many responses or progress for requests that it did not get');
  }

  #ended(end: TransportEnd): void {
    switch (end.kind) {
      case 'failed':
        this.#lost(end.error);
        break;
      case 'lost':
        this.#lose(end.how);
        break;
      case 'session-lost':
        if (this.end) return;
        this.#over(
          { kind: 'session-lost' },
          `Server '${this.setup.server.name}' no longer knows the session.`,
        );
        void this.transport.stop();
    }
  }

  /** The run cannot continue: ends the transport from our side. */
  #abort(how: string): void {
    if (this.end) return;
    this.#lose(how);
    this.transport.stop(true).catch((reason: unknown) => {
      const { server, context } = this.setup;
      context.log.error('could not clean up', { server: server.name, reason: String(reason) });
    });
  }

  #lose(how: string): void {
    if (this.end) return;
    const words = this.agreement ? this.transport.lastWords() : this.words();
    const message = `Server '${this.setup.server.name}' ${how}.${words && ` ${words}`}`;
    const startHint =
      this.#noise.printed.length === 0
        ? this.setup.context.startHint
        : 'Its command does not seem to start an MCP server.';
    const hint = this.agreement ? undefined : startHint;
    this.#lost(new SwitchboardError('SERVER_LOST', message, { hint }));
  }

  #lost(error: SwitchboardError): void {
    if (this.end) return;
    this.#over({ kind: 'lost', error }, error.message);
  }

  #over(event: RunEvent, reason: string): void {
    this.end = {
      reason,
      hint: this.#finishing ? undefined : returnHint(this.setup.server),
      error: event.kind === 'lost' ? event.error : undefined,
    };
    this.serverRequests.withdrawAll(reason);
    this.tell(event);
    this.#close();
  }

  #close(): void {
    this.modern?.listening.stop();
    this.#overWaiters.tell();
    this.peer.close();
  }
}

/**
 * How many such messages are allowed beyond one per request. The chance to hit one of 31 bits stays below 1 in 200,000.
 */
const STRAYS = 10_000;

const ROOM: RunEvent = { kind: 'room' };

/** How a lost server comes back. */
export function returnHint({ name, target, comesBack }: UpstreamServer): string {
  if (comesBack === false) return `reload_server {"name":${JSON.stringify(name)}} brings it back.`;
  return target.kind === 'remote'
    ? 'The next call connects to it again.'
    : 'The next call starts the server again.';
}
