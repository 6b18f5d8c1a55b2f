import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { silentLogger, type Logger } from '../shared/log.ts';
import { didYouMean } from '../shared/nearest.ts';
import { KEPT_KINDS, KINDS, Server, type KeptKind } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';
import { Arrivals } from './arrivals.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { Claims } from './claims.ts';
import { EMPTY_LISTING } from './component.ts';
import { Departed, type Loss } from './departed.ts';
import type { OverallExposure } from './exposure.ts';
import { logMessage, passLogLevel } from './log-level.ts';
import { onlyRoute, Router, type Board } from './router.ts';
import type { Session } from './session.ts';
import { Shelf } from './shelf.ts';
import type { Source, SourceListener } from './source.ts';
import { refusalOfHidden } from './hidden-tool.ts';
import type { ExposedTool } from './table.ts';
import { namesIn, viewOf, type View } from './view.ts';
import { clientMeant, forwardNotification, forwardUpdate, relayQuestion } from './way-back.ts';

export interface GatewayOptions {
  readonly entries: readonly CatalogEntry[];
  /** Tools made of tools of several entries. Default none. */
  readonly overall?: readonly OverallExposure[];
  readonly log?: Logger;
  /** How long the first list waits for sources that are still starting, in milliseconds. Default 10 000. */
  readonly firstListMs?: () => number;
  /** Whether sources may be added that nobody knows of yet. Default false. */
  readonly mayGrow?: boolean;
  /** Called when a source could not be listed. */
  readonly onProblem?: () => void;
  /** What a client can do that calls a tool which is no longer there. Default: list the tools. */
  readonly adviseOnLoss?: (server: string, why: Loss) => string | undefined;
  /** Shows the arguments of a call as they may be logged; undefined: they are not logged. */
  readonly loggedArguments?: Board['loggedArguments'];
}

/** Changes within so many milliseconds are told to clients as one. */
const COALESCE = 10;

/** The core: a catalog, shown through the exposures of its entries, and every call taken to the source it belongs to. */
export class Gateway {
  readonly #log: Logger;
  readonly #adviseOnLoss: GatewayOptions['adviseOnLoss'];
  readonly #mayGrow: boolean;
  readonly #onProblem: (() => void) | undefined;
  readonly #departed = new Departed();
  readonly #claims: Readonly<Record<KeptKind, Claims>> = {
    tools: new Claims(),
    resources: new Claims(),
    resourceTemplates: new Claims(),
    prompts: new Claims(),
  };
  readonly #router: Router;
  readonly #arrivals: Arrivals;
  readonly #sessions = new Set<Session>();
  /** Those whose source could not be started last. */
  readonly #failing = new WeakSet<Shelf>();
  #overall: readonly OverallExposure[];
  #catalog: Catalog;
  #shelves: ReadonlyMap<Source, Shelf> = new Map();
  /** Made when it is first looked at. */
  #view: View | undefined;
  #outdated = false;
  #closed = false;
  #announcing: NodeJS.Timeout | undefined;

  constructor({
    entries,
    overall = [],
    log = silentLogger,
    loggedArguments,
    adviseOnLoss,
    onProblem,
    mayGrow = false,
    firstListMs = () => 10_000,
  }: GatewayOptions) {
    this.#arrivals = new Arrivals(firstListMs);
    this.#log = log;
    this.#adviseOnLoss = adviseOnLoss;
    this.#onProblem = onProblem;
    this.#mayGrow = mayGrow;
    this.#overall = overall;
    this.#catalog = { generation: 1, entries };
    this.#shelves = this.#shelvesFor(entries);
    this.#router = new Router(this.#boardFor(loggedArguments));
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** The tools a client sees, in catalog order. */
  get tools(): readonly ExposedTool[] {
    return [...this.#current().tools.values()];
  }

  /** The tool that clients know by this name. */
  tool(name: string): ExposedTool | undefined {
    return this.#current().tools.get(name);
  }

  /** How long a client may keep a list of ours, in milliseconds: as long as the server that says least. */
  freshFor(kind: KeptKind): number {
    let shortest = Infinity;
    for (const { entry, listings } of this.#shelves.values()) {
      // What we say of a whole server changes only with the configuration.
      const counts = entry.offers.has(kind) && (kind !== 'tools' || entry.exposure.needsTools);
      if (!counts || listings[kind] === EMPTY_LISTING) continue;
      shortest = Math.min(shortest, listings[kind]?.ttlMs ?? 0);
    }
    return shortest === Infinity ? 0 : shortest;
  }

  get sessions(): ReadonlySet<Session> {
    return this.#sessions;
  }

  /** What a client may expect of us: everything that some source may have, for they are not asked before. */
  get kinds(): ReadonlySet<KeptKind> {
    return this.#mayGrow
      ? new Set(KEPT_KINDS)
      : new Set(this.#catalog.entries.flatMap((entry) => [...entry.offers]));
  }

  /**
   * Shows other entries from now on. Where that fails, the old ones go on serving. Clients are told of what changed,
   * unless whoever swaps does that later (`quiet`).
   */
  swap(
    entries: readonly CatalogEntry[],
    {
      overall = this.#overall,
      quiet = false,
    }: { overall?: readonly OverallExposure[]; quiet?: boolean } = {},
  ): void {
    if (this.#closed) {
      // Something that waited for its turn: nobody is here any more, and what it has made must not stay.
      for (const { source } of entries) void source.close();
      throw new SwitchboardError('STOPPING', 'The client has left.');
    }
    const catalog = { generation: this.#catalog.generation + 1, entries };
    const shelves = this.#shelvesFor(entries);
    const view = viewOf(catalog, overall, (entry) => shelves.get(entry.source)!.listings, this.#claims);
    for (const [source, shelf] of this.#shelves) if (!shelves.has(source)) shelf.close();
    this.#catalog = catalog;
    this.#overall = overall;
    this.#shelves = shelves;
    this.#show(view);
    if (this.#sessions.size > 0) this.#startWanted();
    if (!quiet) this.#announce();
  }

  /** Lists the tools of a source that was added, and starts it for that. Rejects where that fails. */
  async listNow(source: Source): Promise<void> {
    const shelf = this.#shelves.get(source);
    if (shelf === undefined) return;
    await shelf.refresh('tools').done;
    const { tools } = shelf.listings;
    if (tools === undefined || tools.remembered === true)
      throw shelf.problem ?? new Error('It was stopped meanwhile.');
  }

  /** Why a source that runs shows nothing: it could not be listed. */
  problemOf(source: Source): Error | undefined {
    const shelf = this.#shelves.get(source);
    return shelf?.entry.exposure.needsTools === true && shelf.listings.tools === undefined
      ? shelf.problem
      : undefined;
  }

  /** Tells every client that the list of tools has changed, whether or not it looks different. */
  announceTools(): void {
    for (const session of this.#sessions) session.seen.delete('tools');
    this.#announce();
  }

  /** A client is there: servers whose tools are listed one by one start now, in the background. */
  join(session: Session): void {
    const { texts } = this.#current();
    for (const kind of KEPT_KINDS) session.seen.set(kind, texts[kind]);
    this.#sessions.add(session);
    for (const shelf of this.#shelves.values()) this.#tellProblem(shelf, session);
    this.#startWanted();
  }

  leave(session: Session): void {
    this.#sessions.delete(session);
    for (const shelf of this.#shelves.values()) {
      for (const uri of shelf.subscriptions.leave(session)) {
        if (shelf.source.state.kind === 'running') shelf.askQuietly('resources/unsubscribe', { uri });
      }
    }
  }

  /** Takes a call that is not about the connection itself to where it is answered. */
  handle(call: Call): void {
    this.#router.handle(call);
  }

  /** A client wants to hear more or less than before; sources that run are told. */
  logLevelChanged(): void {
    for (const shelf of this.#shelves.values())
      if (shelf.source.state.kind === 'running') passLogLevel(shelf, this.#sessions);
  }

  /** A client's notification that belongs to no call: all sources that run hear of it, where that makes sense. */
  notified(method: string, notification: Message): void {
    // A request in the clothes of a notification would get around everything that is checked for requests.
    if (!method.startsWith('notifications/')) return;
    const everyone = method === 'notifications/roots/list_changed';
    if (!everyone && onlyRoute(this.#catalog) === undefined) return;
    for (const { source } of this.#shelves.values()) source.tell(notification);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#announcing);
    for (const shelf of this.#shelves.values()) shelf.close();
    await Promise.all(this.#catalog.entries.map((entry) => entry.source.close()));
  }

  /** What the router sees of us: always the present. */
  #boardFor(loggedArguments: Board['loggedArguments']): Board {
    const view = (): View => this.#current();
    const shelves = (): ReadonlyMap<Source, Shelf> => this.#shelves;
    return {
      get view() {
        return view();
      },
      get shelves() {
        return shelves();
      },
      sessions: this.#sessions,
      arrivals: this.#arrivals,
      log: this.#log,
      loggedArguments,
      missing: (tool) => this.#missing(tool),
      announce: () => this.#announce(),
      seen: (kind) => this.#claims[kind].note(namesIn(this.#current(), kind)),
    };
  }

  #shelvesFor(entries: readonly CatalogEntry[]): Map<Source, Shelf> {
    const shelves = new Map<Source, Shelf>();
    for (const entry of entries) {
      const shelf = this.#shelves.get(entry.source) ?? this.#newShelf(entry);
      shelf.entry = entry;
      shelves.set(entry.source, shelf);
    }
    return shelves;
  }

  #newShelf(entry: CatalogEntry): Shelf {
    const shelf = new Shelf(entry, {
      log: this.#log,
      restocked: () => this.#changed(),
      tried: (kind, listed) => {
        this.#arrivals.arrived();
        if (listed) return;
        this.#onProblem?.();
        if (kind === 'tools' && entry.exposure.needsTools)
          for (const session of this.#sessions) this.#tellProblem(shelf, session);
      },
    });
    for (const old of this.#shelves.values()) {
      if (old.source.name === entry.source.name && old.subscriptions !== shelf.subscriptions)
        shelf.subscriptions.adopt(old.subscriptions, this.#sessions);
    }
    entry.source.listen(this.#listenerFor(shelf));
    return shelf;
  }

  #listenerFor(shelf: Shelf): SourceListener {
    return {
      started: () => {
        // Its suite said that it was not available.
        if (this.#failing.delete(shelf)) this.#changed();
        shelf.restart();
        passLogLevel(shelf, this.#sessions);
        // A source that several gateways use sees to that itself, once for all of them.
        if (shelf.source.subscriptions !== undefined) return;
        for (const uri of shelf.subscriptions.uris()) shelf.askQuietly('resources/subscribe', { uri });
      },
      failed: () => {
        this.#failing.add(shelf);
        this.#changed();
      },
      gone: () => shelf.gone(),
      changed: (kind) => shelf.changed(kind),
      asked: (question) => relayQuestion(question, this.#sessions),
      notified: (notification, callers) =>
        notification.string(Server.method) === 'notifications/resources/updated'
          ? forwardUpdate(notification, shelf.subscriptions)
          : forwardNotification(notification, clientMeant(callers(), this.#sessions)),
      inUse: () => shelf.subscriptions.size > 0,
    };
  }

  #startWanted(): void {
    const wanted = [...this.#shelves.values()].filter(
      ({ entry, listings }) =>
        entry.exposure.needsTools &&
        entry.offers.has('tools') &&
        listings.tools === undefined &&
        entry.source.state.kind !== 'unusable' &&
        // One that is there only while it runs is started once.
        (entry.volatile !== true || entry.source.state.kind === 'idle'),
    );
    for (const shelf of wanted) shelf.keep();
  }

  /** Tells a client of a server whose tools are missing from its list, and why: a suite would say so itself. */
  #tellProblem({ source, entry, problem: unlisted }: Shelf, session: Session): void {
    const problem = source.problem ?? unlisted;
    if (problem === undefined || !entry.exposure.needsTools || !entry.offers.has('tools')) return;
    session.whenReady(() => {
      const notification = logMessage('warning', `No tools of '${source.name}': ${messageOf(problem)}`);
      forwardNotification(notification, session);
    });
  }

  #viewNow(): View {
    return viewOf(
      this.#catalog,
      this.#overall,
      (entry) => this.#shelves.get(entry.source)!.listings,
      this.#claims,
    );
  }

  /** The view, made anew where something has changed since. */
  #current(): View {
    if (this.#view !== undefined && !this.#outdated) return this.#view;
    return this.#show(this.#viewNow());
  }

  #show(view: View): View {
    if (this.#view) this.#departed.note(this.#view, view);
    this.#view = view;
    this.#outdated = false;
    return view;
  }

  #missing(name: string): SwitchboardError {
    const gone =
      refusalOfHidden(name, [...this.#shelves.values()]) ??
      this.#departed.explain(name, this.#catalog, this.#adviseOnLoss);
    if (gone) return gone;
    const absent = this.#absent();
    const owner = absent.find(({ source }) => name.startsWith(`${source.name}__`));
    const hint =
      (owner && whyAbsent([owner])) ??
      didYouMean(name, this.#current().tools.keys()) ??
      whyAbsent(absent) ??
      'tools/list names the tools there are.';
    return new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${JSON.stringify(name.slice(0, 200))}.`, {
      hint,
    });
  }

  /** Whose tools are not known, so that a name that is missing may be one of theirs. */
  #absent(): Shelf[] {
    return [...this.#shelves.values()].filter(
      ({ entry, listings }) =>
        entry.exposure.needsTools && entry.offers.has('tools') && listings.tools === undefined,
    );
  }

  #changed(): void {
    this.#outdated = true;
    this.#announce();
  }

  /** Tells each client which of the lists it knows are different now. Changes close together are told as one. */
  #announce(): void {
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      const { texts } = this.#current();
      for (const session of this.#sessions) {
        const stale = KEPT_KINDS.filter(
          (kind) => !session.awaiting.has(kind) && session.seen.get(kind) !== texts[kind],
        );
        for (const kind of stale) session.seen.set(kind, texts[kind]);
        for (const method of new Set(stale.map((kind) => KINDS[kind].changed))) session.client.notify(method);
      }
    }, COALESCE);
  }
}

/** Why a tool may be missing: its server is not listed. Undefined where all are. */
function whyAbsent([first, ...others]: readonly Shelf[]): string | undefined {
  if (first === undefined) return undefined;
  const problem = first.source.problem ?? first.problem;
  const why = problem ? messageOf(problem) : 'It is still starting.';
  const more = others.length === 0 ? '' : ` The same goes for ${others.length} more.`;
  return `It may be a tool of server '${first.source.name}', which is not listed. ${why}${more}`;
}
