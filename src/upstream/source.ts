import type { Deadlines } from '../shared/deadline.ts';
import type { SwitchboardError } from '../shared/errors.ts';
import {
  EMPTY_LISTING,
  type Call,
  type ClientLink,
  type CloseOptions,
  type Listing,
  type Source,
  type SourceInfo,
  type SourceListener,
  type SourceState,
} from '../gateway/index.ts';
import {
  LIST_KINDS,
  MODERN_VERSION,
  type CatalogKind,
  type JsonObject,
  type ListKind,
} from '../protocol/index.ts';
import { RpcCode, type Edit, type Message } from '../wire/index.ts';
import type { Connection, ConnectionEvent } from './connection/connection.ts';
import { asStartError } from './connection/start-errors.ts';
import type { UpstreamContext } from './context.ts';
import type { UpstreamServer } from './server.ts';
import type { ToolHeaders } from './modern/tool-headers.ts';

/** The shortest time for which a list is used, in milliseconds, whatever its server says. */
const RELIST_EVERY = 250;

/** An upstream server as a source. Its lists are kept until the server reports a change. */
export class ServerSource implements Source {
  readonly #server: UpstreamServer;
  readonly #context: UpstreamContext;
  readonly #deadlines: Deadlines;
  #lists: Map<CatalogKind, KeptList> | undefined;
  /** Created on demand: most configured servers are never used, and a host waits for all of them. */
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #headers: ToolHeaders | undefined;
  #idleMs: number | 'never';
  #listener: SourceListener | undefined;
  #ending: CloseOptions | undefined;
  #closing: Promise<void> | undefined;

  constructor(server: UpstreamServer, context: UpstreamContext, deadlines: Deadlines) {
    this.#server = server;
    this.#context = context;
    this.#deadlines = deadlines;
    this.#idleMs = server.timeouts.idleMs;
  }

  get name(): string {
    return this.#server.name;
  }

  get state(): SourceState {
    return this.#connection?.state ?? (this.#closing ? STOPPED : IDLE);
  }

  get problem(): SwitchboardError | undefined {
    return this.#connection?.problem;
  }

  about(): SourceInfo | undefined {
    return this.#connection ? this.#connection.about : this.#context.cache.about;
  }

  list(kind: ListKind): Promise<Listing> {
    return kind === 'tasks' ? this.#fetch(kind) : this.#listOf(kind).get(() => this.#fetch(kind));
  }

  async relist(): Promise<void> {
    this.#listOf('tools').forget();
    await this.list('tools');
    this.#listener?.changed('tools');
  }

  known(kind: CatalogKind): Listing | undefined {
    return this.#lists?.get(kind)?.known;
  }

  remembered(kind: CatalogKind): Listing | undefined {
    return this.#context.cache.list(kind);
  }

  request(edits: Edit[], call: Call): void {
    if (this.#connection) this.#connection.calls.relay(edits, call);
    else void this.#relayLater(edits, call);
  }

  async start(): Promise<void> {
    const connection = await this.#connect();
    await connection.started();
  }

  async ask(method: string, params?: JsonObject): Promise<Message> {
    const connection = await this.#connect();
    return connection.ask(method, params);
  }

  notify(notification: Message): void {
    this.#connection?.run?.notify(notification);
  }

  listen(listener: SourceListener): void {
    this.#listener = listener;
  }

  setIdleTimeout(idleMs: number | 'never'): void {
    this.#idleMs = idleMs;
    this.#connection?.keepFor(idleMs);
  }

  async stop(): Promise<void> {
    await this.#connection?.stop();
  }

  async fail(error: Error): Promise<void> {
    await this.#connection?.run?.fail(asStartError(error, this.name));
  }

  close(ending: CloseOptions = {}): Promise<void> {
    this.#ending ??= ending;
    this.#closing ??= this.#connection?.close(ending) ?? Promise.resolve();
    return this.#closing;
  }

  #connect(): Promise<Connection> {
    this.#connecting ??= this.#open();
    return this.#connecting;
  }

  async #open(): Promise<Connection> {
    const [parts, children] = await Promise.all([loadConnection(), this.#context.children()]);
    const headers = new parts.ToolHeaders();
    const connection = new parts.Connection(
      {
        server: this.#server,
        context: this.#context,
        children,
        deadlines: this.#deadlines,
        learned: { headers },
      },
      {
        tell: (event) => this.#heard(event),
        inUse: () => this.#listener?.inUse() ?? false,
        relist: () => this.relist(),
      },
    );
    connection.keepFor(this.#idleMs);
    if (this.#ending) void connection.close(this.#ending);
    this.#headers = headers;
    this.#connection = connection;
    return connection;
  }

  async #relayLater(edits: Edit[], call: Call): Promise<void> {
    try {
      const { calls } = await this.#connect();
      if (call.open) calls.relay(edits, call);
    } catch (error) {
      call.fail(asStartError(error, this.name));
    }
  }

  async #fetch(kind: ListKind): Promise<Listing> {
    const { cache, listed, log } = this.#context;
    const connection = await this.#connect();
    // Nothing is requested from a server that says it has none. Tools are requested anyway, because some servers forget
    // to declare them.
    if (kind !== 'tools') {
      const { agreed } = await connection.started();
      if (agreed.info.capabilities[LIST_KINDS[kind].capability] === undefined) return EMPTY_LISTING;
    }
    const { listAll } = await loadConnection();
    const screen =
      kind === 'tools' && this.#server.target.kind === 'remote'
        ? (name: string, tool: string) => this.#screen(name, tool)
        : undefined;
    const listing = await listAll(connection, kind, { server: this.name, log, screen });
    log.info('listed', { server: this.name, [kind]: listing.components.length });
    if (kind !== 'tasks') cache.learnList(kind, listing);
    listed(this.name, kind, listing);
    return listing;
  }

  /** The headers that a modern server requires must be known before its tools can be used. */
  #screen(name: string, tool: string): string | undefined {
    const isModern = this.#connection?.about?.protocolVersion === MODERN_VERSION;
    return isModern ? this.#headers?.learn(name, tool) : undefined;
  }

  #heard(event: ConnectionEvent): ClientLink | undefined {
    const listener = this.#listener;
    switch (event.kind) {
      case 'stopped':
        for (const list of this.#lists?.values() ?? []) list.forget();
        listener?.stopped();
        break;
      case 'changed':
        this.#listOf(event.list).outdated(() => this.#listener?.changed(event.list));
        break;
      case 'notified':
        return listener?.notified(event.notification, event.callers);
      case 'requested':
        if (listener) listener.requested(event.request);
        else event.request.refuse(RpcCode.methodNotFound, `Method not found: ${event.request.method}`);
        break;
      case 'started':
      case 'failed':
        listener?.[event.kind]();
    }
    return undefined;
  }

  #listOf(kind: CatalogKind): KeptList {
    this.#lists ??= new Map();
    let list = this.#lists.get(kind);
    if (list === undefined) this.#lists.set(kind, (list = new KeptList()));
    return list;
  }
}

/** Loads what a server needs once it is used. */
export const loadConnection = () => import('./connection/index.ts');

const IDLE: SourceState = { kind: 'idle' };
const STOPPED: SourceState = { kind: 'stopped' };

/** One list of a server, requested once and kept. */
class KeptList {
  known: Listing | undefined;
  #asked: Promise<Listing> | undefined;
  #askedAt = -Infinity;
  #forgetting: NodeJS.Timeout | undefined;

  get(fetch: () => Promise<Listing>): Promise<Listing> {
    if (this.#asked) return this.#asked;
    this.#askedAt = performance.now();
    const fresh = fetch();
    this.#asked = fresh;
    fresh.then(
      (listing) => {
        if (this.#asked === fresh) this.known = listing;
      },
      () => {
        // A failure is not kept: the next caller requests the list again.
        if (this.#asked === fresh) this.#asked = undefined;
      },
    );
    return fresh;
  }

  forget(): void {
    clearTimeout(this.#forgetting);
    this.#forgetting = undefined;
    this.#asked = this.known = undefined;
  }

  /**
   * The server says that the list has changed. If it says so constantly, the list is requested four times a second at
   * most.
   */
  outdated(then: () => void): void {
    const forget = (): void => {
      this.forget();
      then();
    };
    const wait = this.#askedAt + RELIST_EVERY - performance.now();
    if (wait <= 0) forget();
    else this.#forgetting ??= setTimeout(forget, wait).unref();
  }
}
