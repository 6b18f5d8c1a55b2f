import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { silentLogger, type Logger } from '../shared/log.ts';
import { didYouMean } from '../shared/nearest.ts';
import { CATALOG_KINDS, LIST_KINDS, Server, type CatalogKind } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';
import { ListWait } from './list-wait.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { NameReservations } from './name-reservations.ts';
import { EMPTY_LISTING } from './component.ts';
import { RemovedTools, type RemovalReason } from './removed-tools.ts';
import type { OverallExposure } from './exposure.ts';
import { logMessage, passLogLevel } from './log-level.ts';
import { onlyRoute, Router, type RouterContext } from './router.ts';
import type { Results } from './results.ts';
import type { Session } from './session.ts';
import { SourceCache } from './source-cache.ts';
import type { Source, SourceListener } from './source.ts';
import { hiddenToolError } from './hidden-tool.ts';
import type { ExposedTool } from './tool-names.ts';
import { keepsResults, listedNames, takeSnapshot, type Snapshot, type SourceListings } from './snapshot.ts';
import {
  targetSession,
  forwardNotification,
  forwardResourceUpdate,
  relayServerRequest,
} from './server-requests.ts';
import { namespaceOf } from './valid-tool-name.ts';

export interface GatewayOptions {
  readonly entries: readonly CatalogEntry[];
  /** Tools that combine tools of several entries. Default none. */
  readonly overall?: readonly OverallExposure[];
  readonly log?: Logger;
  /** How long the first list waits for sources that are still starting, in milliseconds. Default 10 000. */
  readonly firstListMs?: () => number;
  /** Whether sources may be added later, so that every kind of component has to be declared. Default false. */
  readonly allowsNewSources?: boolean;
  /** Keeps results that are too long. Default: none are kept. */
  readonly results?: Results | undefined;
  /** Called when a source could not be listed. */
  readonly onProblem?: () => void;
  /** The hint for a client that calls a removed tool. Default: list the tools. */
  readonly adviseOnRemoval?: (server: string, why: RemovalReason) => string | undefined;
  /** Returns the arguments of a call as they may be logged; undefined: they are not logged. */
  readonly loggedArguments?: RouterContext['loggedArguments'];
  /** Called for every tool call. */
  readonly called?: RouterContext['called'];
  /** Holds the gateway's watcher, which may change at any time. Default: no watcher. */
  readonly watched?: WatchedGateway;
}

/** Is notified of what happens in a gateway. */
export interface GatewayWatcher {
  /** A call is about to be routed. */
  called(call: Call): void;
  /** A client has connected or left. */
  clientsChanged(): void;
}

/** Holds the watcher of a gateway. */
export interface WatchedGateway {
  watcher: GatewayWatcher | undefined;
}

/** Changes within this time are announced to clients together, in milliseconds. */
const COALESCE_MS = 10;

/** The core: exposes a catalog through the exposures of its entries, and routes every call to its source. */
export class Gateway {
  readonly #log: Logger;
  readonly #adviseOnRemoval: GatewayOptions['adviseOnRemoval'];
  readonly #allowsNewSources: boolean;
  readonly #onProblem: (() => void) | undefined;
  readonly #results: Results | undefined;
  readonly #watched: WatchedGateway;
  readonly #removedTools = new RemovedTools();
  readonly #reservations: Readonly<Record<CatalogKind, NameReservations>> = {
    tools: new NameReservations(),
    resources: new NameReservations(),
    resourceTemplates: new NameReservations(),
    prompts: new NameReservations(),
  };
  readonly #router: Router;
  readonly #listWait: ListWait;
  readonly #sessions = new Set<Session>();
  /** Caches of sources whose last start failed. */
  readonly #failing = new WeakSet<SourceCache>();
  #overall: readonly OverallExposure[];
  #catalog: Catalog;
  #caches: ReadonlyMap<Source, SourceCache> = new Map();
  /** Caches of sources that start before they are in the catalog. */
  readonly #starting = new Map<Source, SourceCache>();
  /** Built on first use. */
  #snapshot: Snapshot | undefined;
  #outdated = false;
  /** Sources swapped in quietly whose tools are not listed yet; the caller announces all changes together. */
  readonly #unannounced = new Set<Source>();
  #closed = false;
  #announcing: NodeJS.Timeout | undefined;

  constructor({
    entries,
    overall = [],
    log = silentLogger,
    loggedArguments,
    called,
    adviseOnRemoval,
    onProblem,
    results,
    watched = { watcher: undefined },
    allowsNewSources = false,
    firstListMs = () => 10_000,
  }: GatewayOptions) {
    this.#listWait = new ListWait(firstListMs);
    this.#log = log;
    this.#adviseOnRemoval = adviseOnRemoval;
    this.#onProblem = onProblem;
    this.#results = results;
    this.#watched = watched;
    this.#allowsNewSources = allowsNewSources;
    this.#overall = overall;
    this.#catalog = { generation: 1, entries };
    this.#caches = this.#cachesFor(entries);
    this.#router = new Router(this.#routerContext(loggedArguments, called));
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** The tools that clients see, in catalog order. */
  get tools(): readonly ExposedTool[] {
    return [...this.#current().tools.values()];
  }

  /** The tool with this exposed name. */
  tool(name: string): ExposedTool | undefined {
    return this.#current().tools.get(name);
  }

  /** How long a client may cache one of our lists, in milliseconds: the shortest `ttlMs` of the servers. */
  freshFor(kind: CatalogKind): number {
    let shortest = Infinity;
    for (const { entry, listings } of this.#caches.values()) {
      // A suite changes only with the configuration.
      const counts = entry.offers.has(kind) && (kind !== 'tools' || entry.exposure.needsTools);
      if (!counts || listings[kind] === EMPTY_LISTING) continue;
      shortest = Math.min(shortest, listings[kind]?.ttlMs ?? 0);
    }
    return shortest === Infinity ? 0 : shortest;
  }

  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  /** The kinds we declare to clients: every kind that some source may have, because we do not ask the sources first. */
  get kinds(): ReadonlySet<CatalogKind> {
    if (this.#allowsNewSources) return new Set(CATALOG_KINDS);
    const own: CatalogKind[] = keepsResults(this.#catalog) ? ['resources', 'resourceTemplates'] : [];
    return new Set([...this.#catalog.entries.flatMap((entry) => [...entry.offers]), ...own]);
  }

  /**
   * Replaces the entries. If that fails, the old ones stay. Clients are notified of changed lists unless `quiet` is
   * set; then the caller does that later.
   */
  swap(
    entries: readonly CatalogEntry[],
    {
      overall = this.#overall,
      quiet = false,
    }: { overall?: readonly OverallExposure[]; quiet?: boolean } = {},
  ): void {
    if (this.#closed) {
      // A queued change may run after the gateway has closed: do not leak the sources it created.
      for (const { source } of entries) void source.close();
      throw new SwitchboardError('STOPPING', 'The client disconnected.');
    }
    const catalog = { generation: this.#catalog.generation + 1, entries };
    const caches = this.#cachesFor(entries);
    const snapshot = takeSnapshot(
      catalog,
      overall,
      (entry) => caches.get(entry.source)?.listings,
      this.#reservations,
    );
    for (const [source, cache] of this.#caches) if (!caches.has(source)) cache.close();
    if (quiet)
      for (const source of caches.keys()) if (!this.#caches.has(source)) this.#unannounced.add(source);
    this.#catalog = catalog;
    this.#overall = overall;
    this.#caches = caches;
    this.#show(snapshot);
    if (this.#sessions.size > 0) this.#startWanted();
    if (!quiet) this.#announce();
  }

  /**
   * Starts the source of an entry and fetches its lists, then replaces the old entry with it. If that fails, the old
   * one stays.
   */
  async replace(old: CatalogEntry, entry: CatalogEntry): Promise<void> {
    const { source } = entry;
    const cache = this.#newCache(entry);
    this.#starting.set(source, cache);
    try {
      await cache.fetchAll();
      if (!this.#catalog.entries.includes(old))
        throw new SwitchboardError(
          'STOPPING',
          `Server '${source.name}' was removed or changed in the meantime.`,
        );
      this.swap(this.#catalog.entries.map((each) => (each === old ? entry : each)));
    } catch (error) {
      cache.close();
      throw error;
    } finally {
      this.#starting.delete(source);
    }
    // Shared sources subscribe themselves.
    if (source.subscriptions !== undefined) return;
    for (const uri of cache.subscriptions.uris()) cache.askQuietly('resources/subscribe', { uri });
  }

  /** Starts a source that was added, and lists its tools. Rejects if that fails. */
  async listNow(source: Source): Promise<void> {
    const cache = this.#caches.get(source);
    if (cache === undefined) return;
    await cache.refresh('tools').done;
    this.#unannounced.delete(source);
    cache.requireTools();
  }

  /**
   * A server of this name has listed its tools. If one of our tools represents them, its description may have changed.
   */
  toolsListed(name: string): void {
    const isShown = ({ source, entry }: SourceCache): boolean =>
      source.name === name && !entry.exposure.needsTools;
    if (!this.#closed && this.#sessions.size > 0 && [...this.#caches.values()].some(isShown)) this.#changed();
  }

  /** Why a running source exposes nothing: it could not be listed. */
  problemOf(source: Source): Error | undefined {
    const cache = this.#caches.get(source);
    return cache?.entry.exposure.needsTools === true && cache.listings.tools === undefined
      ? cache.problem
      : undefined;
  }

  /**
   * What clients may use has changed: rebuilds the lists and drops what was kept for clients. `mayRead` returns whether
   * a resource may still be read.
   */
  accessChanged(mayRead: (source: Source, uri: string) => boolean): void {
    for (const session of this.#sessions) this.#results?.forget(session);
    for (const cache of this.#caches.values()) {
      cache.reread();
      const ended = cache.subscriptions.leaveAll(
        (session, uri) => this.#sessions.has(session) && !mayRead(cache.source, uri),
      );
      if (cache.source.state.kind === 'running')
        for (const uri of ended) cache.askQuietly('resources/unsubscribe', { uri });
    }
    this.#changed();
  }

  /** Tells every client that the list of tools has changed, even if it looks the same. */
  announceTools(): void {
    for (const session of this.#sessions) session.seen.delete('tools');
    this.#announce();
  }

  /** A client has connected: starts the servers whose own tools are exposed, in the background. */
  join(session: Session): void {
    const { texts } = this.#current();
    for (const kind of CATALOG_KINDS) session.seen.set(kind, texts[kind]);
    this.#sessions.add(session);
    this.#watched.watcher?.clientsChanged();
    for (const cache of this.#caches.values()) this.#reportProblem(cache, session);
    this.#startWanted();
  }

  leave(session: Session): void {
    this.#sessions.delete(session);
    this.#watched.watcher?.clientsChanged();
    this.#results?.forget(session);
    for (const cache of this.#caches.values()) {
      for (const uri of cache.subscriptions.leave(session)) {
        if (cache.source.state.kind === 'running') cache.askQuietly('resources/unsubscribe', { uri });
      }
    }
  }

  /** Routes a call that is not about the connection itself. */
  handle(call: Call): void {
    this.#watched.watcher?.called(call);
    this.#router.handle(call);
  }

  /** A client has changed its log level: passes the new level to the running sources. */
  logLevelChanged(): void {
    for (const cache of this.#caches.values())
      if (cache.source.state.kind === 'running') passLogLevel(cache, this.#sessions);
  }

  /** Passes a client's notification that belongs to no call to all running sources that can use it. */
  notified(method: string, notification: Message): void {
    // A request without an id would bypass every check that requests go through.
    if (!method.startsWith('notifications/')) return;
    const everyone = method === 'notifications/roots/list_changed';
    if (!everyone && onlyRoute(this.#catalog) === undefined) return;
    for (const { source } of this.#caches.values()) source.notify(notification);
  }

  /** What clients would see if the servers were exposed like this. Changes nothing. */
  preview(entries: readonly CatalogEntry[], overall: readonly OverallExposure[]): Snapshot {
    const listingsOf = ({ source }: CatalogEntry): SourceListings => {
      const cached = this.#caches.get(source)?.listings;
      const listing = (kind: CatalogKind) => cached?.[kind] ?? source.known(kind) ?? source.remembered(kind);
      return {
        tools: listing('tools'),
        resources: listing('resources'),
        resourceTemplates: listing('resourceTemplates'),
        prompts: listing('prompts'),
      };
    };
    const reservations = {
      tools: new NameReservations(),
      resources: new NameReservations(),
      resourceTemplates: new NameReservations(),
      prompts: new NameReservations(),
    };
    return takeSnapshot({ generation: 0, entries }, overall, listingsOf, reservations);
  }

  /** Everything that clients see at the moment. */
  get exposed(): Snapshot {
    return this.#current();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#announcing);
    for (const cache of this.#caches.values()) cache.close();
    const sources = [...this.#catalog.entries.map((entry) => entry.source), ...this.#starting.keys()];
    await Promise.all(sources.map((source) => source.close()));
  }

  /** The gateway's current state, for the router. */
  #routerContext(
    loggedArguments: RouterContext['loggedArguments'],
    called: RouterContext['called'],
  ): RouterContext {
    const snapshot = (): Snapshot => this.#current();
    const caches = (): ReadonlyMap<Source, SourceCache> => this.#caches;
    return {
      get snapshot() {
        return snapshot();
      },
      get caches() {
        return caches();
      },
      sessions: this.#sessions,
      listWait: this.#listWait,
      log: this.#log,
      results: this.#results,
      loggedArguments,
      called,
      unknownTool: (tool) => this.#unknownTool(tool),
      announce: () => this.#announce(),
      reserveNames: (kind) => this.#reservations[kind].reserve(listedNames(this.#current(), kind)),
      reserveName: (kind, ...name) => this.#reservations[kind].reserve([name]),
      isReserved: (kind, name) => this.#reservations[kind].has(name),
    };
  }

  #cachesFor(entries: readonly CatalogEntry[]): Map<Source, SourceCache> {
    const caches = new Map<Source, SourceCache>();
    for (const entry of entries) {
      const known = this.#caches.get(entry.source);
      const cache = known ?? this.#starting.get(entry.source) ?? this.#newCache(entry);
      if (known === undefined) this.#adoptSubscriptions(cache);
      cache.entry = entry;
      caches.set(entry.source, cache);
    }
    return caches;
  }

  /** Keeps clients subscribed to the resources of a source that is replaced. */
  #adoptSubscriptions({ source, subscriptions }: SourceCache): void {
    for (const old of this.#caches.values()) {
      if (old.source.name === source.name && old.subscriptions !== subscriptions)
        subscriptions.adopt(old.subscriptions, (session) => this.#sessions.has(session));
    }
  }

  #newCache(entry: CatalogEntry): SourceCache {
    const cache = new SourceCache(entry, {
      log: this.#log,
      changed: () => {
        if (this.#unannounced.has(entry.source)) this.#outdated = true;
        else this.#changed();
      },
      attempted: (kind, listed) => {
        this.#listWait.recheck();
        if (listed || this.#starting.has(entry.source)) return;
        this.#onProblem?.();
        if (kind === 'tools' && entry.exposure.needsTools)
          for (const session of this.#sessions) this.#reportProblem(cache, session);
      },
    });
    entry.source.listen(this.#listenerFor(cache));
    return cache;
  }

  #listenerFor(cache: SourceCache): SourceListener {
    return {
      started: () => {
        // Its suite was described as unavailable.
        if (this.#failing.delete(cache)) this.#changed();
        cache.restart();
        passLogLevel(cache, this.#sessions);
        // A source shared by several gateways subscribes itself, once for all of them.
        if (cache.source.subscriptions !== undefined) return;
        for (const uri of cache.subscriptions.uris()) cache.askQuietly('resources/subscribe', { uri });
      },
      failed: () => {
        this.#failing.add(cache);
        this.#changed();
      },
      stopped: () => cache.gone(),
      changed: (kind) => cache.listChanged(kind),
      requested: (serverRequest) => relayServerRequest(serverRequest, this.#sessions),
      notified: (notification, callers) =>
        notification.string(Server.method) === 'notifications/resources/updated'
          ? forwardResourceUpdate(notification, cache.subscriptions)
          : forwardNotification(notification, targetSession(callers(), this.#sessions)),
      inUse: () => cache.subscriptions.size > 0,
    };
  }

  #startWanted(): void {
    const wanted = [...this.#caches.values()].filter(
      ({ entry, listings }) =>
        entry.exposure.needsTools &&
        entry.offers.has('tools') &&
        listings.tools === undefined &&
        entry.source.state.kind !== 'unusable' &&
        // A volatile source is started only once.
        (entry.volatile !== true || entry.source.state.kind === 'idle'),
    );
    for (const cache of wanted) cache.startWithRetries();
  }

  /** Warns a client of a server whose tools are missing from its list; a suite would mention it in its description. */
  #reportProblem({ source, entry, problem: unlisted }: SourceCache, session: Session): void {
    const problem = source.problem ?? unlisted;
    if (problem === undefined || !entry.exposure.needsTools || !entry.offers.has('tools')) return;
    session.whenReady(() => {
      const notification = logMessage('warning', `No tools of '${source.name}': ${messageOf(problem)}`);
      forwardNotification(notification, session);
    });
  }

  #takeSnapshot(): Snapshot {
    return takeSnapshot(
      this.#catalog,
      this.#overall,
      (entry) => this.#caches.get(entry.source)?.listings,
      this.#reservations,
    );
  }

  /** The snapshot, rebuilt if something has changed. */
  #current(): Snapshot {
    if (this.#snapshot !== undefined && !this.#outdated) return this.#snapshot;
    return this.#show(this.#takeSnapshot());
  }

  #show(snapshot: Snapshot): Snapshot {
    if (this.#snapshot) this.#removedTools.record(this.#snapshot, snapshot);
    this.#snapshot = snapshot;
    this.#outdated = false;
    return snapshot;
  }

  #unknownTool(name: string): SwitchboardError {
    const gone =
      (this.#reservations.tools.isNobodys(name) ? sharedNameError(name, this.#current()) : undefined) ??
      hiddenToolError(name, [...this.#caches.values()]) ??
      this.#removedTools.explain(name, this.#catalog, this.#adviseOnRemoval);
    if (gone) return gone;
    const absent = this.#unlisted();
    const owner = absent.find(({ source }) => name.startsWith(`${namespaceOf(source.name)}__`));
    const hint =
      (owner && whyUnlisted([owner])) ??
      didYouMean(name, this.#current().tools.keys()) ??
      whyUnlisted(absent) ??
      'Call tools/list to see the available tools.';
    return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${JSON.stringify(name.slice(0, 200))}.`, {
      hint,
    });
  }

  /** Sources whose tools are not known yet: an unknown name may belong to one of them. */
  #unlisted(): SourceCache[] {
    return [...this.#caches.values()].filter(
      ({ entry, listings }) =>
        entry.exposure.needsTools && entry.offers.has('tools') && listings.tools === undefined,
    );
  }

  #changed(): void {
    this.#outdated = true;
    this.#announce();
  }

  /** Notifies each client of changes to the lists it has seen. Changes close together are announced once. */
  #announce(): void {
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      const { texts } = this.#current();
      for (const session of this.#sessions) {
        const stale = CATALOG_KINDS.filter(
          (kind) => !session.awaiting.has(kind) && session.seen.get(kind) !== texts[kind],
        );
        for (const kind of stale) session.seen.set(kind, texts[kind]);
        for (const method of new Set(stale.map((kind) => LIST_KINDS[kind].changed)))
          session.client.notify(method);
      }
    }, COALESCE_MS);
  }
}

/** The error for a name that a client learnt before a second server turned out to have it as well. */
function sharedNameError(name: string, { tools }: Snapshot): SwitchboardError {
  const others = [...tools.keys()].filter((each) => each.endsWith(`__${name}`));
  return new SwitchboardError(
    'TOOL_UNKNOWN',
    `Unknown tool: ${JSON.stringify(name)} is no longer available: several servers have a tool of that name.`,
    {
      hint:
        others.length === 0
          ? 'Call tools/list to see the available tools.'
          : `Use ${others.map((each) => JSON.stringify(each)).join(' or ')}.`,
    },
  );
}

/** Why a tool may be missing: its server is not listed. Undefined if all servers are. */
function whyUnlisted([first, ...others]: readonly SourceCache[]): string | undefined {
  if (first === undefined) return undefined;
  const problem = first.source.problem ?? first.problem;
  const why = problem ? messageOf(problem) : 'It is still starting.';
  const more = others.length === 0 ? '' : ` The same applies to ${others.length} more.`;
  return `It may be a tool of server '${first.source.name}', whose tools are not listed. ${why}${more}`;
}
