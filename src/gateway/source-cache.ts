import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { Turns } from '../shared/turns.ts';
import { CATALOG_KINDS, LIST_KINDS, type JsonObject, type CatalogKind } from '../protocol/index.ts';
import { MAX_PARSED } from '../wire/index.ts';
import type { PendingList } from './list-wait.ts';
import type { CatalogEntry } from './catalog.ts';
import { EMPTY_LISTING, type Listing } from './component.ts';
import type { Source, SourceState } from './source.ts';
import { Subscriptions } from './subscriptions.ts';
import { filterTools } from './tool-filter.ts';
import { validToolName } from './valid-tool-name.ts';

export interface SourceCacheOwner {
  readonly log: Logger;
  /** A cached list has changed. */
  changed(): void;
  /** The first attempt to fetch a list has succeeded or failed. */
  attempted(kind: CatalogKind, listed: boolean): void;
}

/** Delays between start attempts of a server whose tools are exposed, in milliseconds. */
const RETRY_DELAYS = [1000, 3000, 10_000, 30_000];
/** The delay after those. */
const LAST_RETRY_DELAY = 60_000;

/**
 * The lists of one source, as last fetched in this or an earlier run of the program. They stay when the source crashes
 * or is stopped for being idle: the next call restarts it, and a client's list does not change with the health of a
 * server.
 */
export class SourceCache {
  readonly source: Source;
  readonly #subscriptions = new Subscriptions();
  readonly #listings: Record<CatalogKind, Listing | undefined> = {
    tools: undefined,
    resources: undefined,
    resourceTemplates: undefined,
    prompts: undefined,
  };
  /** Whether the lists of an earlier run have been loaded. */
  #restored = false;
  /** Whether fetching the tools was attempted, with or without success. */
  #toolsAttempted = false;
  /** Why the last fetch failed. */
  problem: Error | undefined;
  readonly #owner: SourceCacheOwner;
  readonly #inProgress = new Map<CatalogKind, PendingList>();
  #entry: CatalogEntry;
  #started = false;
  readonly #refetching = new Map<CatalogKind, NodeJS.Timeout>();
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(entry: CatalogEntry, owner: SourceCacheOwner) {
    this.source = entry.source;
    this.#entry = entry;
    this.#owner = owner;
  }

  /** Its subscriptions, or those of a shared source, which may differ after the source has changed. */
  get subscriptions(): Subscriptions {
    return this.source.subscriptions ?? this.#subscriptions;
  }

  get entry(): CatalogEntry {
    return this.#entry;
  }

  set entry(entry: CatalogEntry) {
    if (entry !== this.#entry) this.#restored = false;
    this.#entry = entry;
  }

  get listings(): Readonly<Record<CatalogKind, Listing | undefined>> {
    if (!this.#restored) this.#restore();
    return this.#listings;
  }

  /** Fetches a list and caches it. Never rejects: on failure the old list stays. */
  refresh(kind: CatalogKind): PendingList {
    const running = this.#inProgress.get(kind);
    if (running) return running;
    const done = this.#fetch(kind).finally(() => {
      this.#inProgress.delete(kind);
      if (kind === 'tools') this.#toolsAttempted = true;
    });
    const since = performance.now();
    const asked = { done, startedAt: () => Math.max(since, startedAt(this.source.state)) };
    this.#inProgress.set(kind, asked);
    return asked;
  }

  /** Starts the source and fetches all lists that clients see. Rejects if it does not start or has no list of tools. */
  async fetchAll(): Promise<void> {
    await this.source.start();
    const kinds = CATALOG_KINDS.filter(
      (kind) => kind === 'tools' || (this.#entry.offers.has(kind) && this.#mayHave(kind)),
    );
    await Promise.all(kinds.map((kind) => this.refresh(kind).done));
    this.requireTools();
  }

  /** Throws if the tools could not be listed in this run of the source. */
  requireTools(): void {
    const { tools } = this.listings;
    if (tools === undefined || tools.remembered === true)
      throw this.problem ?? new Error('It was stopped in the meantime.');
  }

  /** Starts a source whose tools are exposed, and retries until it is up. */
  startWithRetries(attempt = 0): void {
    if (this.#closed || (attempt === 0 && this.#started)) return;
    this.#started = true;
    void this.refresh('tools').done.then(() => {
      if (this.listings.tools !== undefined || this.#closed || this.#entry.volatile === true) return;
      const wait = RETRY_DELAYS[attempt] ?? LAST_RETRY_DELAY;
      this.#owner.log.warn('will retry', { server: this.source.name, inMs: wait });
      this.#retry = setTimeout(() => this.startWithRetries(attempt + 1), wait);
      this.#retry.unref();
    });
  }

  /**
   * The fetch that a complete list of this kind has to wait for; undefined if none is needed. A source whose own tools
   * are exposed is started for its first list. A suite is not: its components are added once it runs.
   */
  pending(kind: CatalogKind): PendingList | undefined {
    if (!this.#entry.offers.has(kind) || this.listings[kind] !== undefined) return undefined;
    // A failed source restarts with a call or is being retried; lists do not wait for it.
    if (kind === 'tools') return this.#toolsAttempted ? undefined : this.#inProgress.get(kind);
    if (['crashed', 'stopped', 'unusable'].includes(this.source.state.kind)) return undefined;
    return this.#isStarting && this.#mayHave(kind) ? this.refresh(kind) : undefined;
  }

  /**
   * Lists of these kinds that may contain an unknown name: those being fetched, those not yet fetched of a source that
   * runs or starts anyway, and those that failed, because the cause may be fixed. No other source is started for an
   * unknown name.
   */
  missing(...kinds: CatalogKind[]): PendingList[] {
    return kinds.flatMap((kind) => {
      const pending = this.#inProgress.get(kind) ?? (this.#isStarting ? this.pending(kind) : undefined);
      if (pending) return [pending];
      const missing =
        kind === 'tools' &&
        this.problem !== undefined &&
        this.listings.tools === undefined &&
        this.#entry.exposure.needsTools &&
        this.#entry.offers.has('tools') &&
        this.#entry.volatile !== true;
      return missing ? [this.refresh('tools')] : [];
    });
  }

  get #isStarting(): boolean {
    const { kind } = this.source.state;
    return kind === 'running' || kind === 'starting' || this.#entry.exposure.needsTools;
  }

  /** What clients may see of the source has changed: takes the same lists again, without a request. */
  reread(): void {
    for (const kind of CATALOG_KINDS) {
      const listing = this.source.known(kind) ?? this.source.remembered(kind);
      if (this.#listings[kind] !== undefined && listing !== undefined) this.#listings[kind] = listing;
    }
  }

  /** The source has restarted: its lists may have changed. */
  restart(): void {
    for (const kind of CATALOG_KINDS) {
      if (!this.#entry.offers.has(kind)) continue;
      if (kind !== 'tools' && !this.#mayHave(kind)) this.#set(kind, EMPTY_LISTING);
      else if (kind !== 'tools' || this.#entry.exposure.needsTools) this.refresh(kind);
    }
  }

  /** The source has stopped. Its lists stay, because a call restarts it, unless it is volatile. */
  gone(): void {
    if (this.#entry.volatile !== true || this.#closed) return;
    for (const kind of CATALOG_KINDS) this.#listings[kind] = undefined;
    this.#owner.changed();
  }

  /** The source says that a list has changed. */
  listChanged(kind: CatalogKind): void {
    if (!this.#entry.offers.has(kind)) return;
    if (kind === 'tools' && !this.#entry.exposure.needsTools) return;
    const before = this.#inProgress.get(kind);
    // The fetch in progress may return the list from before the change.
    if (before) void before.done.then(() => this.refresh(kind));
    else this.refresh(kind);
  }

  /** Sends a request of our own and ignores its answer. */
  askQuietly(method: string, params: JsonObject): void {
    this.source.ask(method, params).catch((error: unknown) => {
      this.#owner.log.debug('request failed', { server: this.source.name, method, reason: messageOf(error) });
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    for (const timer of this.#refetching.values()) clearTimeout(timer);
  }

  /** Loads the lists of an earlier run, unless the source is volatile. */
  #restore(): void {
    this.#restored = true;
    if (this.#entry.volatile === true) return;
    for (const kind of CATALOG_KINDS) {
      if (this.#listings[kind] !== undefined || !this.#entry.offers.has(kind)) continue;
      if (kind === 'tools' ? !this.#entry.exposure.needsTools : !this.#mayHave(kind)) continue;
      const listing = this.source.remembered(kind);
      // A server with an empty list would never be called, and so never be listed again.
      if (kind !== 'tools' || listing?.components.length !== 0) this.#listings[kind] = listing;
    }
  }

  #mayHave(kind: CatalogKind): boolean {
    const about = this.source.about();
    return about === undefined || about.capabilities[LIST_KINDS[kind].capability] !== undefined;
  }

  async #fetch(kind: CatalogKind): Promise<void> {
    const { source } = this;
    const { log } = this.#owner;
    const first = this.listings[kind] === undefined;
    try {
      const unstarted = kind === 'tools' && source.listsToolsUnstarted === true;
      if (!unstarted && source.state.kind !== 'running') await source.start();
      const listing = await source.list(kind);
      if (kind === 'tools') await presentInTurns(this.#entry, listing);
      this.#set(kind, listing);
      if (first) this.#owner.attempted(kind, true);
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error));
      if (first) this.#owner.attempted(kind, false);
      if (this.#closed) return;
      log.warn('could not be listed', { server: source.name, kind, reason: messageOf(error) });
      // Clients see the old list; a running source may return a new one later.
      if (!first && source.state.kind === 'running') this.#fetchLater(kind);
    }
  }

  #set(kind: CatalogKind, listing: Listing): void {
    if (this.listings[kind] === listing) return;
    this.#listings[kind] = listing;
    this.#owner.changed();
  }

  #fetchLater(kind: CatalogKind): void {
    if (this.#refetching.has(kind)) return;
    const timer = setTimeout(() => {
      this.#refetching.delete(kind);
      if (this.source.state.kind === 'running') this.refresh(kind);
    }, RETRY_DELAYS[1]);
    this.#refetching.set(kind, timer.unref());
  }
}

/**
 * Builds the definitions of very long lists of tools under their likely names, yielding to other work now and then.
 * Otherwise the definitions of several servers would be built in one go, together with the list of all tools.
 */
async function presentInTurns(entry: CatalogEntry, listing: Listing): Promise<void> {
  const length = listing.components.reduce((sum, { text }) => sum + text.length, 0);
  if (!entry.exposure.needsTools || length < MAX_PARSED) return;
  const turns = new Turns();
  for (const tool of entry.exposure.present(entry, filterTools(listing, entry.rules))) {
    tool.definition(validToolName(tool.names[0] ?? ''));
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
}

/** When a starting source got its start slot, on the performance clock; Infinity if it waits for one. */
function startedAt(state: SourceState): number {
  return state.kind === 'starting' ? (state.admittedAt ?? -Infinity) : -Infinity;
}
