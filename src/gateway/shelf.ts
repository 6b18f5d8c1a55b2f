import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { KEPT_KINDS, KINDS, type JsonObject, type KeptKind } from '../protocol/index.ts';
import type { Awaited } from './arrivals.ts';
import type { CatalogEntry } from './catalog.ts';
import { EMPTY_LISTING, type Listing } from './component.ts';
import type { Source, SourceState } from './source.ts';
import { Subscriptions } from './subscriptions.ts';

export interface ShelfOwner {
  readonly log: Logger;
  /** Something on a shelf is different now. */
  restocked(): void;
  /** A source has been asked for a list for the first time, and gave it or did not. */
  tried(kind: KeptKind, listed: boolean): void;
}

/** How long after a failed start a server that is wanted from the beginning is tried again, in milliseconds. */
const RETRIES = [1000, 3000, 10_000, 30_000, 60_000];

/**
 * What one source offered when it last told, in this run of the program or an earlier one. It stays when the source
 * crashes or is stopped for being idle: the next call brings the source back, and a client's list does not flicker with
 * the health of a server.
 */
export class Shelf {
  readonly source: Source;
  readonly subscriptions: Subscriptions;
  readonly #listings: Record<KeptKind, Listing | undefined> = {
    tools: undefined,
    resources: undefined,
    resourceTemplates: undefined,
    prompts: undefined,
  };
  /** Whether what is remembered of the source has been looked at. */
  #recalled = false;
  /** Whether the tools have been asked for, and came in or did not. */
  #toolsTried = false;
  /** Why the source could not be listed last. */
  problem: Error | undefined;
  readonly #owner: ShelfOwner;
  readonly #underWay = new Map<KeptKind, Awaited>();
  #entry: CatalogEntry;
  #keeping = false;
  readonly #relisting = new Map<KeptKind, NodeJS.Timeout>();
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(entry: CatalogEntry, owner: ShelfOwner) {
    this.source = entry.source;
    this.subscriptions = entry.source.subscriptions ?? new Subscriptions();
    this.#entry = entry;
    this.#owner = owner;
  }

  get entry(): CatalogEntry {
    return this.#entry;
  }

  set entry(entry: CatalogEntry) {
    if (entry !== this.#entry) this.#recalled = false;
    this.#entry = entry;
  }

  get listings(): Readonly<Record<KeptKind, Listing | undefined>> {
    if (!this.#recalled) this.#recall();
    return this.#listings;
  }

  /** Asks for everything of one kind and keeps it. Never rejects: what was known before stays. */
  refresh(kind: KeptKind): Awaited {
    const running = this.#underWay.get(kind);
    if (running) return running;
    const done = this.#ask(kind).finally(() => {
      this.#underWay.delete(kind);
      if (kind === 'tools') this.#toolsTried = true;
    });
    const since = performance.now();
    const asked = { done, startedAt: () => Math.max(since, startedAt(this.source.state)) };
    this.#underWay.set(kind, asked);
    return asked;
  }

  /** Starts a source that is wanted from the beginning, and tries again until it is there. */
  keep(attempt = 0): void {
    if (this.#closed || (attempt === 0 && this.#keeping)) return;
    this.#keeping = true;
    void this.refresh('tools').done.then(() => {
      if (this.listings.tools !== undefined || this.#closed || this.#entry.volatile === true) return;
      const wait = RETRIES[Math.min(attempt, RETRIES.length - 1)]!;
      this.#owner.log.warn('will be tried again', { server: this.source.name, inMs: wait });
      this.#retry = setTimeout(() => this.keep(attempt + 1), wait);
      this.#retry.unref();
    });
  }

  /**
   * What has to come in before a list of this kind says all there is; undefined where nothing is missing. A source whose
   * own tools are shown is started for its first list. One that is shown as one tool never is: it adds what it has once
   * it runs.
   */
  awaited(kind: KeptKind): Awaited | undefined {
    if (!this.#entry.offers.has(kind) || this.listings[kind] !== undefined) return undefined;
    // One that failed comes back with a call, or is being tried again; a list does not wait for it.
    if (kind === 'tools') return this.#toolsTried ? undefined : this.#underWay.get(kind);
    if (['crashed', 'stopped', 'unusable'].includes(this.source.state.kind)) return undefined;
    return this.#comesUp && this.#mayHave(kind) ? this.refresh(kind) : undefined;
  }

  /**
   * Lists of these kinds in which something may stand that is not known: those on their way, those nobody has asked for
   * yet of a source that runs or is wanted anyway, and those that could not be had, for what was wrong may have been put
   * right. Nobody is started for a name that nobody may have.
   */
  sought(...kinds: KeptKind[]): Awaited[] {
    return kinds.flatMap((kind) => {
      const awaited = this.#underWay.get(kind) ?? (this.#comesUp ? this.awaited(kind) : undefined);
      if (awaited) return [awaited];
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

  get #comesUp(): boolean {
    const { kind } = this.source.state;
    return kind === 'running' || kind === 'starting' || this.#entry.exposure.needsTools;
  }

  /** The source runs anew: its lists may be others now. */
  restart(): void {
    for (const kind of KEPT_KINDS) {
      if (!this.#entry.offers.has(kind)) continue;
      if (kind !== 'tools' && !this.#mayHave(kind)) this.#put(kind, EMPTY_LISTING);
      else if (kind !== 'tools' || this.#entry.exposure.needsTools) this.refresh(kind);
    }
  }

  /** The source runs no more. What it offered stays, for a call brings it back, unless it is there only while it runs. */
  gone(): void {
    if (this.#entry.volatile !== true || this.#closed) return;
    for (const kind of KEPT_KINDS) this.#listings[kind] = undefined;
    this.#owner.restocked();
  }

  /** The source says that a list has changed. What nobody has asked for yet is not asked for now. */
  changed(kind: KeptKind): void {
    if (!this.#entry.offers.has(kind)) return;
    if (kind === 'tools' && !this.#entry.exposure.needsTools) return;
    const before = this.#underWay.get(kind);
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
    for (const timer of this.#relisting.values()) clearTimeout(timer);
  }

  /** What is there only while it runs offers nothing before. */
  #recall(): void {
    this.#recalled = true;
    if (this.#entry.volatile === true) return;
    for (const kind of KEPT_KINDS) {
      if (this.#listings[kind] !== undefined || !this.#entry.offers.has(kind)) continue;
      if (kind === 'tools' ? !this.#entry.exposure.needsTools : !this.#mayHave(kind)) continue;
      const listing = this.source.remembered(kind);
      // A server without tools would never be called, and so never be asked again.
      if (kind !== 'tools' || listing?.components.length !== 0) this.#listings[kind] = listing;
    }
  }

  #mayHave(kind: KeptKind): boolean {
    const about = this.source.about();
    return about === undefined || about.capabilities[KINDS[kind].capability] !== undefined;
  }

  async #ask(kind: KeptKind): Promise<void> {
    const { source } = this;
    const { log } = this.#owner;
    const first = this.listings[kind] === undefined;
    try {
      const unstarted = kind === 'tools' && source.listsToolsUnstarted === true;
      if (!unstarted && source.state.kind !== 'running') await source.start();
      const listing = await source.list(kind);
      this.#put(kind, listing);
      if (first) this.#owner.tried(kind, true);
    } catch (error) {
      this.problem = error instanceof Error ? error : new Error(String(error));
      if (first) this.#owner.tried(kind, false);
      if (this.#closed) return;
      log.warn('could not be listed', { server: source.name, kind, reason: messageOf(error) });
      // What clients see is from before; as long as it runs there is a newer one to be had.
      if (!first && source.state.kind === 'running') this.#askAgain(kind);
    }
  }

  #put(kind: KeptKind, listing: Listing): void {
    if (this.listings[kind] === listing) return;
    this.#listings[kind] = listing;
    this.#owner.restocked();
  }

  #askAgain(kind: KeptKind): void {
    if (this.#relisting.has(kind)) return;
    const timer = setTimeout(() => {
      this.#relisting.delete(kind);
      if (this.source.state.kind === 'running') this.refresh(kind);
    }, RETRIES[1]);
    this.#relisting.set(kind, timer.unref());
  }
}

/** When a source that starts was let start, on the performance clock; Infinity while it waits for its turn. */
function startedAt(state: SourceState): number {
  return state.kind === 'starting' ? (state.admittedAt ?? -Infinity) : -Infinity;
}
