import { SwitchboardError } from '../../shared/errors.ts';
import type { Deadlines } from '../../shared/deadline.ts';
import type { Logger } from '../../shared/log.ts';
import { quoted } from '../../shared/printable.ts';
import { secretMask } from '../../shared/secrets.ts';
import type { Call, Listing, ServerRequest, Session, SourceInfo, LimitedStart } from '../../gateway/index.ts';
import type { ChildProcesses } from '../../process/index.ts';
import {
  eraOfVersion,
  SERVER_SHAPE,
  type CatalogKind,
  type Era,
  type EraSupport,
  type ListKind,
} from '../../protocol/index.ts';
import { Peer, type Edit, type Framing, type Message, type OutputFraming } from '../../wire/index.ts';
import type { ClientIdentity } from '../handshake/handshake.ts';
import type { Transport, TransportEnd, TransportEvents } from '../transport.ts';
import type { ServerCacheEntry } from '../lists/server-cache.ts';
import { Modern } from '../modern/modern.ts';
import { erasOf, negotiate, type Agreement } from '../handshake/negotiate.ts';
import { NoiseMeter } from './noise.ts';
import { openProcessTransport } from './process-transport.ts';
import { OpenServerRequests } from './open-server-requests.ts';
import { whenSilent } from '../handshake/silence.ts';
import type { UpstreamServer } from '../server.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';

export interface ServerRunEvents {
  request(message: Message): void;
  /** `requestId`: the request of ours on whose response stream it arrived, if known. */
  notification(message: Message, requestId?: number): void;
  /** It wants something of a client. */
  asked(question: ServerRequest): void;
  /** It may have another list of this kind than before. */
  changed(kind: CatalogKind): void;
  /** Clients for whom it may be at work though they have no call running. */
  othersAtWork(): ReadonlySet<Session>;
  /** It is over, and not because it was asked to be. Told once. */
  lost(error: SwitchboardError): void;
  /** The server works but no longer knows the session. Called at most once, instead of `lost`. */
  sessionLost(): void;
}

export interface UpstreamContext {
  readonly children: ChildProcesses;
  readonly log: Logger;
  /** What to do about a server that does not start, as a sentence. */
  readonly startHint: string;
  /** How we introduce ourselves to a server; asked for when it starts. */
  readonly identity: () => ClientIdentity;
  /** The era of the clients that use the server; asked for when it starts. Undefined: none of them is there yet. */
  readonly era: () => Era | undefined;
  /** How calls reach another connection that speaks the other era; undefined: this one may speak either. */
  readonly other: () => ((edits: Edit[], call: Call) => void) | undefined;
  /** Takes each line a server writes to stderr, already prefixed and safe to print. */
  readonly stderr: (line: string) => void;
  /** Why no further process may be started now; undefined where one may. */
  readonly mayNotStart: () => SwitchboardError | undefined;
  /** Starts a process when it is its turn, so that not all start at the same moment. */
  readonly inTurn: <T>(start: LimitedStart<T>) => Promise<T>;
  /** How long somebody waits for a server to start before being told to come back, in milliseconds. */
  readonly callerMs: number;
  /** What is remembered of the server, across runs of this program. */
  readonly cache: ServerCacheEntry;
  /** The state of a server is another one now. */
  readonly stateChanged: (server: string) => void;
  /** A server has listed what it offers. */
  readonly listed: (server: string, kind: ListKind, listing: Listing) => void;
}

/** What was found out about a server in one life and holds for the next. */
export interface LearnedFacts {
  /** The framing that worked. */
  framing?: Framing;
  /** The transport that answered. */
  transport?: 'http' | 'sse';
  /** It ended when it was asked the modern way first. */
  endsOnDiscover?: boolean;
  /** What its tools want to see in headers; only asked over HTTP. */
  readonly headers: ToolHeaders;
}

/** One life of a server: a link to it and the conversation over it. A new start is a new one. */
export class ServerRun {
  readonly peer: Peer;
  readonly transport: Transport;
  /** Its requests to a client that are not answered yet. */
  readonly serverRequests: OpenServerRequests;
  /** The eras in which it is tried, in order. */
  eras: readonly Era[] = [];
  /** What its start has shown of the eras it supports. */
  support: EraSupport = {};
  /** Set once it turned out to be of the modern era. */
  modern: Modern | undefined = undefined;
  readonly #learned: LearnedFacts;
  readonly #server: UpstreamServer;
  readonly #context: UpstreamContext;
  readonly #events: ServerRunEvents;
  /** Hides what must not be shown in what the server says of itself. What it answers to clients is not ours to change. */
  readonly mask: (text: string) => string;
  readonly #noise: NoiseMeter;
  #initialized = false;
  #askAgain: (() => void) | undefined;
  #over = false;
  readonly #onOver: (() => void)[] = [];

  /** Begins one: a program is started here, a remote server is reached with the first message. */
  static async begin(
    server: UpstreamServer,
    framing: OutputFraming,
    learned: LearnedFacts,
    context: UpstreamContext,
    deadlines: Deadlines,
    events: ServerRunEvents,
  ): Promise<ServerRun> {
    const run = (): ServerRun => begun;
    const mask = maskOf(server);
    const transport = await openTransport(server, framing, learned, context, mask, {
      ended: (end) => run().#ended(end),
    });
    const begun = new ServerRun(server, learned, transport, mask, context, deadlines, events);
    return begun;
  }

  private constructor(
    server: UpstreamServer,
    learned: LearnedFacts,
    transport: Transport,
    mask: (text: string) => string,
    context: UpstreamContext,
    deadlines: Deadlines,
    events: ServerRunEvents,
  ) {
    const { name } = server;
    const { log } = context;
    this.#server = server;
    this.#learned = learned;
    this.#context = context;
    this.#events = events;
    this.transport = transport;
    this.mask = mask;
    const noise = new NoiseMeter(name, log, mask);
    this.#noise = noise;
    this.peer = new Peer(transport.messages, SERVER_SHAPE, {
      request: (message) => events.request(message),
      notification: (message, requestId) => events.notification(message, requestId),
      refused: (refusal, _id, bytes) => {
        // One answer over the limit fails its call; it is no flood.
        if (refusal === 'too-large')
          log.warn('dropped a message over the limit', { server: name, bytes: bytes.length });
        else if (noise.hear(refusal, bytes))
          this.#abort('writes too much to stdout that is not a protocol message');
      },
      dropped: (why) => log.debug('dropped a message', { server: name, why }),
      ended: (why) => {
        if (why === 'overrun') this.#abort('sent a message that does not end');
        else transport.inputEnded?.();
      },
    });
    this.serverRequests = new OpenServerRequests({
      server: name,
      peer: this.peer,
      deadlines,
      timeoutMs: server.timeouts.callMaxMs,
      log,
      asked: (question) => events.asked(question),
      othersAtWork: () => events.othersAtWork(),
    });
  }

  /** Resolves with what the server says of itself; rejects when it fails or is silent to the end of its time. */
  async initialize({ began, limit, looked }: StartTime): Promise<SourceInfo> {
    const timeoutMs = began + limit - performance.now();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StartTimeout(this.#server, performance.now() - began, this.words())),
        timeoutMs,
      );
    });
    const unwatch = looked && this.transport.watch?.(looked);
    try {
      const { era, info, support } = await Promise.race([this.#negotiate(timeoutMs), timeout]);
      this.#initialized = true;
      this.support = support;
      if (era === 'modern') this.#becomeModern(info);
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

  #negotiate(timeoutMs: number): Promise<Agreement> {
    const { identity, cache, era } = this.#context;
    const learned = this.#learned;
    const { about } = cache;
    const support = learned.endsOnDiscover === true ? { ...cache.support, modern: false } : cache.support;
    this.eras = erasOf(this.#server, {
      wanted: era(),
      last: about && eraOfVersion(about.protocolVersion),
      support,
      transport: learned.transport,
    });
    return negotiate({
      peer: this.peer,
      server: this.#server.name,
      identity: identity(),
      mask: this.mask,
      eras: this.eras,
      whenSilent: (then) => whenSilent(this.transport, timeoutMs, support.modern === true, then),
      asked: (again) => (this.#askAgain = again),
    });
  }

  #becomeModern(info: SourceInfo): void {
    const { log, identity } = this.#context;
    if (this.#over) return;
    this.modern = new Modern({
      server: this.#server.name,
      peer: this.peer,
      info,
      identity,
      log,
      remote: this.#server.target.kind === 'remote',
      changed: (kind) => this.#events.changed(kind),
    });
  }

  /** Ends it on our own account; nobody is told that it was lost. */
  async stop(): Promise<void> {
    this.#becomeOver();
    this.serverRequests.withdrawAll('The server was stopped.');
    this.peer.close();
    await this.transport.stop();
  }

  /** Resolves when it is over, however that came. */
  whenOver(): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => this.#onOver.push(resolve));
  }

  #becomeOver(): void {
    this.#over = true;
    this.modern?.stop();
    for (const listener of this.#onOver.splice(0)) listener();
  }

  #ended(end: TransportEnd): void {
    switch (end.kind) {
      case 'failed':
        this.#end(end.error);
        break;
      case 'lost':
        this.#lose(end.how);
        break;
      case 'session-lost':
        this.#sessionLost();
    }
  }

  /** The server cannot be gone on with: the link is ended from our side. */
  #abort(how: string): void {
    if (this.#over) return;
    this.#lose(how);
    this.transport.stop(true).catch((reason: unknown) => {
      this.#context.log.error('could not clean up', {
        server: this.#server.name,
        reason: String(reason),
      });
    });
  }

  #lose(how: string): void {
    if (this.#over) return;
    const words = this.#initialized ? this.transport.lastWords() : this.words();
    const message = `Server '${this.#server.name}' ${how}.${words && ` ${words}`}`;
    this.#end(
      new SwitchboardError('SERVER_LOST', message, {
        hint: this.#initialized ? undefined : this.#startHint(),
      }),
    );
  }

  #startHint(): string {
    return this.#noise.printed.length === 0
      ? this.#context.startHint
      : 'Its command does not seem to start an MCP server.';
  }

  #end(error: SwitchboardError): void {
    if (this.#over) return;
    this.serverRequests.withdrawAll(error.message);
    this.#events.lost(error);
    this.#becomeOver();
    this.peer.close();
  }

  #sessionLost(): void {
    if (this.#over) return;
    this.serverRequests.withdrawAll('The server no longer knows the session.');
    this.#events.sessionLost();
    this.#becomeOver();
    this.peer.close();
    void this.transport.stop();
  }
}

function openTransport(
  server: UpstreamServer,
  framing: OutputFraming,
  learned: LearnedFacts,
  { children, log, stderr }: UpstreamContext,
  mask: (text: string) => string,
  events: TransportEvents,
): Transport | Promise<Transport> {
  const { name, target, limits } = server;
  const { messageBytes } = limits;
  if (target.kind === 'process') {
    return openProcessTransport(
      { server: name, target, framing, messageBytes, children, log, stderr, mask },
      events,
    );
  }
  // Loaded when the first remote server is used: most configurations have none.
  return import('../http/index.ts').then(
    ({ RemoteTransport }) =>
      new RemoteTransport(
        { server: name, target, messageBytes, log, learned, headers: learned.headers },
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

/** The time that a start has. */
export interface StartTime {
  /** When it began, on the performance clock. */
  readonly began: number;
  /** In milliseconds. */
  readonly limit: number;
  /** Told now and then for how many milliseconds a program has shown no sign of life. */
  readonly looked?: (idleMs: number) => void;
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
