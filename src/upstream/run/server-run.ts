import type { Deadline } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import { secretMask } from '../../shared/secrets.ts';
import type { ClientLink, ServerRequest, Session, SourceInfo } from '../../gateway/index.ts';
import {
  eraOfVersion,
  SERVER_SHAPE,
  type CatalogKind,
  type Era,
  type EraSupport,
  type JsonObject,
} from '../../protocol/index.ts';
import { Peer, type Message, type OutputFraming } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { erasOf, negotiate, type Agreement } from '../handshake/negotiate.ts';
import { Modern } from '../modern/modern.ts';
import type { UpstreamServer } from '../server.ts';
import type { Transport, TransportEnd, TransportEvents } from '../transport.ts';
import { BackgroundWork } from './background-work.ts';
import { NoiseMeter } from './noise.ts';
import { PendingCall } from './pending-call.ts';
import { openProcessTransport } from './process-transport.ts';
import { routeNotification, routeRequest } from './server-messages.ts';
import { OpenServerRequests } from './server-requests.ts';

/** What a run tells its listener. */
export type RunEvent =
  /** It may have another list of this kind than before. */
  | { readonly kind: 'changed'; readonly list: CatalogKind }
  /** A notification that belongs to no call. */
  | {
      readonly kind: 'notified';
      readonly notification: Message;
      readonly callers: () => ReadonlySet<Session>;
    }
  /** It wants something of a client. */
  | { readonly kind: 'requested'; readonly request: ServerRequest }
  /** A call is over or its client is away: there may be room for another. */
  | { readonly kind: 'room' }
  /** It is over, and not because it was asked to be. */
  | { readonly kind: 'lost'; readonly error: SwitchboardError }
  /** The same, but the server works: it no longer knows the session. */
  | { readonly kind: 'session-lost' };

/** Returns a client that cannot keep up with a notification: the server is not read until it can. */
export type RunListener = (event: RunEvent, run: ServerRun) => ClientLink | undefined;

/** Why a run is over. */
interface RunEnd {
  /** A sentence for the calls that fail. */
  readonly reason: string;
  /** What their client can do about it. */
  readonly hint?: string | undefined;
  /** The same as an error, where the run was lost. */
  readonly error?: SwitchboardError | undefined;
}

/** Output waiting for a server that does not read, beyond which nothing more is sent to it, in bytes. */
const UNREAD_LIMIT = 8 * 1024 * 1024;

/** One run of a server: a transport to it and the conversation over it. A new start is a new one. */
export class ServerRun {
  readonly setup: ServerSetup;
  readonly transport: Transport;
  readonly peer: Peer;
  /** Hides what must not be shown in what the server says of itself. What it answers to clients is not ours to change. */
  readonly mask: (text: string) => string;
  /** Its requests to a client that are not answered yet. */
  readonly serverRequests: OpenServerRequests;
  readonly background = new BackgroundWork();
  /** The eras in which it is tried, in order. */
  eras: readonly Era[] = [];
  /** What it says of itself, once it has answered the handshake. */
  about: SourceInfo | undefined = undefined;
  /** What its start has shown of the eras it supports. */
  support: EraSupport = {};
  /** Set once it turned out to be of the modern era. */
  modern: Modern | undefined = undefined;
  /** Calls sent and not yet answered, without those whose client is away. */
  inFlight = 0;
  /** Whether a call has been answered. */
  answered = false;
  /** Whether somebody used it since this was last set to false. */
  used = false;
  /** It sends requests without reading the responses, and that has been logged. */
  unreadLogged = false;
  /** Why it is over; undefined while it goes on. */
  end: RunEnd | undefined = undefined;
  readonly #listener: RunListener;
  readonly #noise: NoiseMeter;
  #askAgain: (() => void) | undefined;
  /** It is stopped when its last calls are finished. */
  #finishing = false;
  #onFinished: (() => void) | undefined;
  readonly #onOver: (() => void)[] = [];

  /** Begins one: a program is started here, a remote server is reached with the first message. */
  static async begin(setup: ServerSetup, framing: OutputFraming, listener: RunListener): Promise<ServerRun> {
    const mask = maskOf(setup.server);
    const events: TransportEvents = { ended: (end) => run.#ended(end) };
    const transport = await openTransport(setup, framing, mask, events);
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
    this.peer = new Peer(transport.messages, SERVER_SHAPE, {
      request: (message) => routeRequest(this, message),
      notification: (message, requestId) => routeNotification(this, message, requestId),
      refused: (refusal, _id, bytes) => {
        // One answer over the limit fails its call; it is no flood.
        if (refusal === 'too-large')
          log.warn('dropped a message over the limit', { server, bytes: bytes.length });
        else if (this.#noise.hear(refusal, bytes))
          this.#abort('writes too much to stdout that is not a protocol message');
      },
      dropped: (why) => log.debug('dropped a message', { server, why }),
      ended: (why) => {
        if (why === 'overrun') this.#abort('sent a message that does not end');
        else transport.inputEnded?.();
      },
    });
    this.serverRequests = new OpenServerRequests(this);
  }

  tell(event: RunEvent): ClientLink | undefined {
    return this.#listener(event, this);
  }

  /** Resolves with what the server says of itself; rejects when it fails or is silent to the end of its time. */
  async initialize({ began, limit, looked }: StartTime): Promise<SourceInfo> {
    const timeoutMs = began + limit - performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StartTimeout(this.setup.server, performance.now() - began, this.words())),
        timeoutMs,
      );
    });
    const unwatch = looked && this.transport.watch?.(looked);
    try {
      const { era, info, support } = await Promise.race([this.#negotiate(timeoutMs), timeout]);
      this.about = info;
      this.support = support;
      if (era === 'modern' && !this.end) this.modern = this.#createModern(info);
      return info;
    } finally {
      clearTimeout(timer);
      unwatch?.();
    }
  }

  /** Sends the handshake once more, in both framings at once; not to one that has shown that it can speak. */
  askAgain(): void {
    if (this.peer.transport.inputFraming === undefined) this.#askAgain?.();
  }

  /** What it has printed and written so far, in sentences; empty where that is nothing. */
  words(): string {
    const { printed } = this.#noise;
    const noise = printed.length === 0 ? [] : [`It printed ${quoted(printed.join(' | '))} to stdout.`];
    return [...noise, this.transport.lastWords()].filter((each) => each !== '').join(' ');
  }

  /** Asks the server something of our own. Resolves with the answer, whatever it says, or with that it was not looked at. */
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

  /** Passes a client's notification on. A modern server is told nothing but that a request is cancelled. */
  notify(notification: Message): void {
    if (!this.modern && !this.readsNothing) this.peer.transport.forward(notification, []);
  }

  /** Whether so much waits for it that nothing more is sent. */
  get readsNothing(): boolean {
    return this.peer.transport.backlog >= UNREAD_LIMIT;
  }

  /** Whether another call can be sent. */
  get hasRoom(): boolean {
    return !this.isFull && !this.readsNothing && this.transport.open;
  }

  /** Whether it works on as many calls as it may. */
  get isFull(): boolean {
    return this.inFlight >= this.setup.server.limits.callsInFlight;
  }

  /** Whether something is under way that must not be cut off. */
  get busy(): boolean {
    // Listening streams alone do not count as use; whoever subscribed is counted elsewhere.
    const asked = this.peer.pendingCount - (this.modern?.listening.streams ?? 0);
    return this.inFlight > 0 || asked > 0 || this.serverRequests.size > 0 || this.background.hasTasks;
  }

  pendingCalls(): PendingCall[] {
    return this.peer.listeners().filter((listener) => listener instanceof PendingCall);
  }

  /** The clients that it may be at work for. Looked up when a server asks, not kept: most servers never do. */
  callers(): Set<Session> {
    const callers = this.pendingCalls().map((pending) => pending.call.session);
    return new Set(this.setup.server.shared === true ? [...callers, ...this.background.sessions()] : callers);
  }

  /** A call is over, however it ended. */
  callEnded(answered: boolean): void {
    this.inFlight--;
    this.used = true;
    this.answered ||= answered;
    this.#listener(ROOM, this);
    if (this.inFlight === 0) this.#onFinished?.();
  }

  /** The client of a call is away, or back: as long as it is away, another call may be sent in its place. */
  callSuspended(away: boolean): void {
    this.inFlight += away ? -1 : 1;
    if (away) this.#listener(ROOM, this);
  }

  /** A call was given up before it was answered. */
  callAbandoned(pending: PendingCall): void {
    this.serverRequests.abandon(pending);
    if (this.setup.server.shared === true) this.background.cancelled(pending.call.session);
  }

  /** A client that reads slowly slows the server down, not our memory up; not where others use the server too. */
  yieldTo(client: ClientLink | undefined): void {
    if (client?.congested !== true || this.setup.server.shared === true) return;
    this.peer.transport.pause();
    client.whenDrained(() => this.peer.transport.resume());
  }

  /** It is to be stopped. Resolves when no call is under way any more, or after so many milliseconds. */
  finishCalls(ms: number): Promise<void> {
    this.#finishing = true;
    if (ms <= 0 || this.inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onFinished = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Ends it on our own account; nobody is told that it was lost. `reason` is a sentence for the calls that fail. */
  async stop(reason = 'The server was stopped.'): Promise<void> {
    this.end ??= { reason };
    this.serverRequests.withdrawAll('The server was stopped.');
    this.#close();
    await this.transport.stop();
  }

  /** It is of no use: ends it, and it counts as lost. */
  async fail(error: SwitchboardError): Promise<void> {
    this.#lost(error);
    await this.transport.stop();
  }

  /** Resolves when it is over, however that came. */
  whenOver(): Promise<void> {
    if (this.end) return Promise.resolve();
    return new Promise((resolve) => this.#onOver.push(resolve));
  }

  #negotiate(timeoutMs: number): Promise<Agreement> {
    const { server, context, learned } = this.setup;
    const { about, support: known } = context.cache;
    const support = learned.endsOnDiscover === true ? { ...known, modern: false } : known;
    this.eras = erasOf(server, {
      wanted: context.era(),
      last: about && eraOfVersion(about.protocolVersion),
      support,
      transport: learned.transport,
    });
    return negotiate({
      peer: this.peer,
      transport: this.transport,
      server: server.name,
      identity: context.identity(),
      mask: this.mask,
      eras: this.eras,
      timeoutMs,
      discovered: support.modern === true,
      asked: (again) => (this.#askAgain = again),
    });
  }

  #createModern(about: SourceInfo): Modern {
    const { peer, setup } = this;
    return new Modern({ setup, peer, about, changed: (list) => this.tell({ kind: 'changed', list }) });
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

  /** The server cannot be gone on with: the transport is ended from our side. */
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
    const words = this.about ? this.transport.lastWords() : this.words();
    const message = `Server '${this.setup.server.name}' ${how}.${words && ` ${words}`}`;
    const startHint =
      this.#noise.printed.length === 0
        ? this.setup.context.startHint
        : 'Its command does not seem to start an MCP server.';
    const hint = this.about ? undefined : startHint;
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
    for (const listener of this.#onOver.splice(0)) listener();
    this.peer.close();
  }
}

const ROOM: RunEvent = { kind: 'room' };

function openTransport(
  setup: ServerSetup,
  framing: OutputFraming,
  mask: (text: string) => string,
  events: TransportEvents,
): Transport | Promise<Transport> {
  const { server, context, learned } = setup;
  const { name, target, limits } = server;
  if (target.kind === 'process') return openProcessTransport(setup, target, framing, mask, events);
  // Loaded when the first remote server is used: most configurations have none.
  return import('../http/index.ts').then(
    ({ RemoteTransport }) =>
      new RemoteTransport(
        {
          server: name,
          target,
          messageBytes: limits.messageBytes,
          log: context.log,
          learned,
          headers: learned.headers,
        },
        events,
      ),
  );
}

/** Hides the secrets of a server, and what looks like a token that it was sent. */
function maskOf({ secrets }: UpstreamServer): (text: string) => string {
  const mask = secretMask(secrets?.() ?? []);
  return (text) => mask(text).replace(BEARER, 'Bearer ***');
}

const BEARER = /\bBearer\s+[\w.~+/=-]{8,}/gi;

/** How a server that was lost comes back. */
export function returnHint({ name, target, comesBack }: UpstreamServer): string {
  if (comesBack === false) return `reload_server {"name":${JSON.stringify(name)}} brings it back.`;
  return target.kind === 'remote'
    ? 'The next call connects to it again.'
    : 'The next call starts the server again.';
}

/** The time that a start has. */
export interface StartTime {
  /** When it began, on the performance clock. */
  readonly began: number;
  /** In milliseconds. */
  readonly limit: number;
  /** Told now and then for how many milliseconds a program has shown no sign of life. */
  readonly looked?: ((idleMs: number) => void) | undefined;
}

/** The server is alive but has not answered `initialize` in time. */
export class StartTimeout extends SwitchboardError {
  constructor({ name, target }: UpstreamServer, elapsed: number, words: string) {
    super(
      'START_TIMEOUT',
      `Server '${name}' did not respond to initialize within ${inSeconds(elapsed)}.${words && ` ${words}`}`,
      {
        hint:
          target.kind === 'remote'
            ? 'If it just needs more time, raise timeouts.childSpawnMs; otherwise check that its url is that of an MCP server.'
            : 'If it just needs more time, raise timeouts.childSpawnMs; if it prints nothing, check that its command starts an MCP server.',
      },
    );
  }
}

/** `0.3 s`, `12 s`. */
export function inSeconds(ms: number): string {
  return `${ms < 9950 ? (ms / 1000).toFixed(1) : Math.round(ms / 1000)} s`;
}
