import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { CATALOG_KINDS, LIST_KINDS, type JsonObject, type CatalogKind } from '../protocol/index.ts';
import type { PendingList } from './list-wait.ts';
import type { CatalogEntry } from './catalog.ts';
import { EMPTY_LISTING, type Listing } from './component.ts';
import type { Source, SourceState } from './source.ts';
import { Subscriptions } from './subscriptions.ts';

export interface SourceCacheOwner {
  readonly log: Logger;
  /** Some cached list is different now. */
  changed(): void;
  /** A source has been asked for a list for the first time, and gave it or did not. */
  attempted(kind: CatalogKind, listed: boolean): void;
}

/** How long after a failed start a server that is wanted from the beginning is tried again, in milliseconds. */
const RETRY_DELAYS = [1000, 3000, 10_000, 30_000, 60_000];

/**
 * What one source offered when it last told, in this run of the program or an earlier one. It stays when the source
 * crashes or is stopped for being idle: the next call brings the source back, and a client's list does not flicker with
 * the health of a server.
 */
export class SourceCache {
  readonly source: Source;
  readonly subscriptions: Subscriptions;
  readonly #listings: Record<CatalogKind, Listing | undefined> = {
    tools: undefined,
    resources: undefined,
    resourceTemplates: undefined,
    prompts: undefined,
  };
  /** Whether what is remembered of the source has been looked at. */
  #restored = false;
  /** Whether the tools have been asked for, and came in or did not. */
  #toolsAttempted = false;
  /** Why the source could not be listed last. */
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
    this.subscriptions = entry.source.subscriptions ?? new Subscriptions();
    this.#entry = entry;
    this.#owner = owner;
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

  /** Asks for everything of one kind and keeps it. Never rejects: what was known before stays. */
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

  /** Starts a source that is wanted from the beginning, and tries again until it is there. */
  startWithRetries(attempt = 0): void {
    if (this.#closed || (attempt === 0 && this.#started)) return;
    this.#started = true;
    void this.refresh('tools').done.then(() => {
      if (this.listings.tools !== undefined || this.#closed || this.#entry.volatile === true) return;
      const wait = RETRY_DELAYS[Math.min(attempt, RETRY_DELAYS.length - 1)]!;
      this.#owner.log.warn('will be tried again', { server: this.source.name, inMs: wait });
      this.#retry = setTimeout(() => this.startWithRetries(attempt + 1), wait);
      this.#retry.unref();
    });
  }

  /**
   * What has to come in before a list of this kind says all there is; undefined where nothing is missing. A source whose
   * own tools are shown is started for its first list. One that is shown as one tool never is: it adds what it has once
   * it runs.
   */
  pending(kind: CatalogKind): PendingList | undefined {
    if (!this.#entry.offers.has(kind) || this.listings[kind] !== undefined) return undefined;
    // One that failed comes back with a call, or is being tried again; a list does not wait for it.
    if (kind === 'tools') return this.#toolsAttempted ? undefined : this.#inProgress.get(kind);
    if (['crashed', 'stopped', 'unusable'].includes(this.source.state.kind)) return undefined;
    return this.#isStarting && this.#mayHave(kind) ? this.refresh(kind) : undefined;
  }

  /**
   * Lists of these kinds in which something may stand that is not known: those on their way, those nobody has asked for
   * yet of a source that runs or is wanted anyway, and those that could not be had, for what was wrong may have been put
   * right. Nobody is started for a name that nobody may have.
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

  /** The source runs anew: its lists may be others now. */
  restart(): void {
    for (const kind of CATALOG_KINDS) {
      if (!this.#entry.offers.has(kind)) continue;
      if (kind !== 'tools' && !this.#mayHave(kind)) this.#set(kind, EMPTY_LISTING);
      else if (kind !== 'tools' || this.#entry.exposure.needsTools) this.refresh(kind);
    }
  }

  /** The source runs no more. What it offered stays, for a call brings it back, unless it is there only while it runs. */
  gone(): void {
    if (this.#entry.volatile !== true || this.#closed) return;
    for (const kind of CATALOG_KINDS) this.#listings[kind] = undefined;
    this.#owner.changed();
  }

  /** The source says that a list has changed. What nobody has asked for yet is not asked for now. */
  listChanged(kind: CatalogKind): void {
    if (!this.#entry.offers.has(kind)) return;
    if (kind === 'tools' && !this.#entry.exposure.needsTools) return;
    const before = this.#inProgress.get(kind);
    // A list that is on its way may be from before the change.
    if (before) void before.done.then(() => this.refresh(kind));
    else this.refresh(kind);
  }

  /** A request of our own whose answer changes nothing. */
  askQuietly(method: string, params: JsonObject): void {
    this.source.ask(method, params).catch((error: unknown) => {
      this.#owner.log.debug('not answered', { server: this.source.name, method, reason: messageOf(error) });
    });
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    for (const timer of this.#refetching.values()) clearTimeout(timer);
  }

  /** What is there only while it runs offers nothing before. */
  #restore(): void {
    this.#restored = true;
    if (this.#entry.volatile === true) return;
    for (const kind of CATALOG_KINDS) {
      if (this.#listings[kind] !== undefined || !this.#entry.offers.has(kind)) continue;
      if (kind === 'tools' ? !this.#entry.exposure.needsTools : !this.#mayHave(kind)) continue;
      const listing = this.source.remembered(kind);
      // A server without tools would never be called, and so never be asked again.
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
      this.#set(kind, listing);
      if (first) this.#owner.attempted(kind, true);
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error));
      if (first) this.#owner.attempted(kind, false);
      if (this.#closed) return;
      log.warn('could not be listed', { server: source.name, kind, reason: messageOf(error) });
      // What clients see is from before; as long as it runs there is a newer one to be had.
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

/** When a source that starts was let start, on the performance clock; Infinity while it waits for its turn. */
function startedAt(state: SourceState): number {
  return state.kind === 'starting' ? (state.admittedAt ?? -Infinity) : -Infinity;
}
