import type { Deadlines } from '../shared/deadline.ts';
import {
  EMPTY_LISTING,
  type ClientLink,
  type Listing,
  type Source,
  type SourceListener,
  type SourceState,
} from '../gateway/index.ts';
import {
  CATALOG_KINDS,
  LIST_KINDS,
  MODERN_VERSION,
  type CatalogKind,
  type ListKind,
} from '../protocol/index.ts';
import { RpcCode } from '../wire/index.ts';
import { Connection, type ConnectionEvent } from './connection/connection.ts';
import { asStartError } from './connection/start-errors.ts';
import type { UpstreamContext } from './context.ts';
import { listAll } from './lists/list.ts';
import type { UpstreamServer } from './server.ts';
import { ToolHeaders } from './modern/tool-headers.ts';

/** How long a list is used at least, in milliseconds, whatever its server says. */
const RELIST_EVERY = 250;

/** An upstream server as a source: its lists are kept until it says that they changed. */
export function createServerSource(
  server: UpstreamServer,
  context: UpstreamContext,
  deadlines: Deadlines,
): Source {
  let lists: ReadonlyMap<CatalogKind, KeptList> | undefined;
  let connection: Connection | undefined;
  let listener: SourceListener | undefined;
  let closing: Promise<void> | undefined;
  let headers: ToolHeaders | undefined;
  const listOf = (kind: CatalogKind): KeptList => {
    lists ??= new Map(CATALOG_KINDS.map((each) => [each, new KeptList()]));
    return lists.get(kind)!;
  };
  const heard = (event: ConnectionEvent): ClientLink | undefined => {
    switch (event.kind) {
      case 'stopped':
        for (const list of lists?.values() ?? []) list.forget();
        listener?.stopped();
        break;
      case 'changed':
        listOf(event.list).outdated(() => listener?.changed(event.list));
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
  };
  const relist = async (): Promise<void> => {
    listOf('tools').forget();
    await source.list('tools');
    listener?.changed('tools');
  };
  // Made when it is needed: of many configured servers most are never used, and a host waits for all of them.
  const connect = (): Connection => {
    if (connection) return connection;
    headers = new ToolHeaders();
    const setup = { server, context, deadlines, learned: { headers } };
    connection = new Connection(setup, { tell: heard, inUse: () => listener?.inUse() ?? false, relist });
    if (closing) void connection.close();
    return connection;
  };

  /** What a modern server wants in headers has to be known before its tools can be used. */
  const screen = (name: string, tool: string): string | undefined =>
    connection?.about?.protocolVersion === MODERN_VERSION ? headers?.learn(name, tool) : undefined;

  const fetch = async (kind: ListKind): Promise<Listing> => {
    // Nothing is asked of a server that says it has none; tools are asked for all the same, for servers forget to say.
    if (kind !== 'tools') {
      const { agreement } = await connect().started();
      if (agreement!.info.capabilities[LIST_KINDS[kind].capability] === undefined) return EMPTY_LISTING;
    }
    const screened = kind === 'tools' && server.target.kind === 'remote' ? screen : undefined;
    const listing = await listAll(connect(), kind, server.name, context.log, screened);
    context.log.info('listed', { server: server.name, [kind]: listing.components.length });
    if (kind !== 'tasks') context.cache.learnList(kind, listing);
    context.listed(server.name, kind, listing);
    return listing;
  };

  const source: Source = {
    name: server.name,
    get state() {
      return connection?.state ?? (closing ? STOPPED : IDLE);
    },
    get problem() {
      return connection?.problem;
    },
    about: () => (connection ? connection.about : context.cache.about),
    list: (kind) => (kind === 'tasks' ? fetch(kind) : listOf(kind).get(() => fetch(kind))),
    known: (kind) => lists?.get(kind)!.known,
    remembered: (kind) => context.cache.list(kind),
    request: (edits, call) => (connection ?? connect()).calls.relay(edits, call),
    start: async () => {
      await connect().started();
    },
    ask: (method, params) => connect().ask(method, params),
    notify: (notification) => connection?.run?.notify(notification),
    listen: (given) => {
      listener = given;
    },
    setIdleTimeout: (idleMs) => connect().keepFor(idleMs),
    fail: async (error) => connection?.run?.fail(asStartError(error, server.name)),
    close: (ending) => (closing ??= connection?.close(ending) ?? Promise.resolve()),
  };
  return source;
}

const IDLE: SourceState = { kind: 'idle' };
const STOPPED: SourceState = { kind: 'stopped' };

/** One list of a server, asked for once and kept. */
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
        // A failure is not kept: the next one to ask asks the server again.
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

  /** The server says that it has changed; one that says so all the time is believed four times a second. */
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
