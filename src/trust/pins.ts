import type { Listing } from '../gateway/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { pinStateOf, type PinRecord } from './pin-record.ts';
import { PinStore } from './pin-store.ts';
import type { Records } from './records.ts';

/** A server whose tools are pinned. */
export interface PinnedServer {
  readonly name: string;
  /** Identifies the server and how it is reached. */
  readonly key: string;
  /** Values that must not be written to a file. Default: none. */
  readonly secrets?: (() => Iterable<string>) | undefined;
}

/** Delay that lets servers that start together be compared together, in milliseconds. No list waits for it. */
const LOOK_AFTER = 500;
/** Changes logged per server and run; `switchboard trust` shows all. */
const MOST_LOGGED = 5;
/** Lists of one server waiting to be compared. Beyond this, lists in the middle are dropped. */
const MOST_WAITING = 20;
/** How often changes made by other machines are fetched, in milliseconds. */
const REFRESH_EVERY = 1000;

interface PinsOptions {
  readonly log: Logger;
  /** The command that shows what changed. */
  readonly command: string;
  /** Called when lists have been compared. */
  readonly recorded: () => void;
}

/** Compares servers' tools with their definitions at first use, and records both. */
export class Pins {
  readonly store: PinStore;
  readonly #log: Logger;
  /** The command that shows what changed. */
  readonly #command: string;
  readonly #recorded: () => void;
  readonly #records: Records;
  readonly #servers = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #following: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> | undefined;
  /** The last reason why records could not be updated. */
  #problem: string | undefined;
  #pruned = false;

  constructor(records: Records, { log, command, recorded }: PinsOptions) {
    this.#records = records;
    this.store = new PinStore(records);
    this.#log = log;
    this.#command = command;
    this.#recorded = recorded;
  }

  /** Starts fetching the changes made by other machines. */
  follow(): void {
    if (this.#records.areShared)
      this.#following ??= setInterval(
        () => void this.refresh().then(() => this.#lookAgain()),
        REFRESH_EVERY,
      ).unref();
  }

  /** Whether other machines change the records, too. */
  get areShared(): boolean {
    return this.#records.areShared;
  }

  /** Whether nothing is recorded here, only compared with what gateways that open the store have recorded. */
  get areReadOnly(): boolean {
    return this.#records.isReadOnly;
  }

  /** Whether nothing can be recorded now because the store is unreachable. */
  get isAway(): boolean {
    return this.#records.areAway;
  }

  /** Fetches what other machines have changed about these servers, those in use, and decisions. Never rejects. */
  async refresh(servers: readonly PinnedServer[] = []): Promise<void> {
    for (const { key } of servers) this.store.follow(key);
    // A refresh in progress may not include these.
    if (servers.length > 0) await this.#refreshing;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  /** Stops fetching changes made by other machines. */
  close(): void {
    clearInterval(this.#following);
  }

  /** Called when a server has listed its tools. */
  listed(server: PinnedServer, listing: Listing): void {
    const watched = this.#watched(server);
    watched.waiting.push(listing);
    watched.names = listing.components.map((component) => component.key);
    if (watched.waiting.length > MOST_WAITING) watched.waiting.splice(MOST_WAITING / 2, 1);
    this.#timer ??= setTimeout(() => void this.settle(), LOOK_AFTER).unref();
  }

  /** Compares all lists received so far. */
  async settle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#servers.values()].map((watched) => this.#look(watched)));
    if (this.#pruned) return;
    this.#pruned = true;
    try {
      this.store.prune();
    } catch (error) {
      this.#log.debug('could not remove old pins', { reason: messageOf(error) });
    }
  }

  /** Compares the lists of one server. Rejects if its record cannot be used. */
  async check(server: PinnedServer): Promise<void> {
    const watched = this.#watched(server);
    await this.#look(watched);
    if (watched.problem !== undefined) throw watched.problem;
  }

  async #refresh(): Promise<void> {
    if (this.#records.areAway) return;
    try {
      const { any, problem } = await this.#records.refresh();
      if (any) {
        for (const watched of this.#servers.values()) this.#compareAgain(watched);
        this.#recorded();
      }
      if (problem === undefined) this.#problem = undefined;
      else this.#warnIfOld(problem);
    } catch (error) {
      this.#warnIfOld(error);
    }
  }

  #warnIfOld(error: unknown): void {
    const reason = messageOf(error);
    // The store itself reports that it is away.
    if (error instanceof SwitchboardError && error.code === 'STORE_AWAY') return;
    if (reason !== this.#problem) this.#log.warn('pins and approvals may be old', { reason });
    this.#problem = reason;
  }

  /** The record of another machine has replaced ours, without what this server has listed here: compare that again. */
  #compareAgain(watched: Watched): void {
    const { since, last } = watched.recorded;
    if (since === undefined || last === undefined) return;
    try {
      if (this.store.read(watched.key)?.since === since) return;
    } catch {
      // An unusable record is reported when it is read next.
      return;
    }
    watched.recorded = {};
    watched.waiting.push(last);
    void this.#look(watched);
  }

  /** Compares lists that arrived while the store was away. */
  #lookAgain(): void {
    for (const watched of this.#servers.values()) if (watched.problem !== undefined) void this.#look(watched);
  }

  #watched(server: PinnedServer): Watched {
    const { name, key, secrets } = server;
    let watched = this.#servers.get(key);
    if (watched === undefined) {
      watched = {
        name,
        key,
        secrets,
        waiting: [],
        // What this machine remembers of it may be old.
        looking: this.#records.areShared ? this.refresh([server]) : Promise.resolve(),
        names: [],
        logged: new Set(),
        problem: undefined,
        recorded: {},
      };
      this.#servers.set(key, watched);
    }
    return watched;
  }

  #look(watched: Watched): Promise<void> {
    watched.looking = watched.looking.then(async () => {
      // Lists wait until they can be compared with what other machines have seen.
      if (watched.waiting.length > 0 && this.#records.areAway) {
        watched.problem = new SwitchboardError('STORE_AWAY', 'The store cannot be reached.');
        return;
      }
      const lists = watched.waiting.splice(0);
      if (lists.length === 0) return;
      try {
        await this.#record(watched, lists);
        watched.problem = undefined;
      } catch (error) {
        watched.problem = error instanceof Error ? error : new Error(messageOf(error));
        if (error instanceof SwitchboardError && error.code === 'STORE_AWAY')
          watched.waiting.unshift(...lists);
        const reason = messageOf(error);
        const what = 'could not compare the tools with earlier ones';
        // If nothing can be written, parts of the program that depend on it more report that.
        if (error instanceof SwitchboardError && error.code === 'TRUST_UNREADABLE')
          this.#say(watched, 'problem', what, { reason });
        else this.#log.debug(what, { server: watched.name, reason });
      }
    });
    return watched.looking;
  }

  async #record(watched: Watched, lists: readonly Listing[]): Promise<void> {
    const { key, name, secrets } = watched;
    const others = [...this.#servers.values()]
      .filter((each) => each !== watched)
      .flatMap(({ names }) => names);
    const { recordLists } = await import('./record-lists.ts');
    const record = await recordLists(
      this.store,
      { key, server: name },
      { lists, others, secrets: [...(secrets?.() ?? [])] },
    );
    watched.recorded = { since: record?.since, last: lists.at(-1) };
    if (record !== undefined) this.#tell(watched, record);
    this.#recorded();
  }

  /** Logs differences from the pins, each change once. */
  #tell(watched: Watched, { tools, overflow }: PinRecord): void {
    const listed = new Set(watched.names);
    for (const [tool, pinned] of tools) {
      const state = pinStateOf(pinned);
      if (state === 'pinned' || !listed.has(tool)) continue;
      const what = `${tool} ${pinned.now?.hash ?? ''} ${state}`;
      const why = pinned.findings?.join('; ');
      this.#say(watched, what, WORDS[state], { tool, ...(why === undefined ? {} : { why }) });
    }
    if (overflow) this.#say(watched, 'overflow', 'lists more tools than can be stored', {});
  }

  #say(watched: Watched, what: string, message: string, more: object): void {
    const { logged, name } = watched;
    if (logged.has(what) || logged.size > MOST_LOGGED) return;
    logged.add(what);
    const review = `${this.#command} trust ${name}`;
    if (logged.size > MOST_LOGGED)
      this.#log.warn('more changes of tools are not logged', { server: name, review });
    else this.#log.warn(message, { server: name, ...more, review });
  }
}

interface Watched extends PinnedServer {
  /** Lists that have not been compared yet. */
  readonly waiting: Listing[];
  looking: Promise<void>;
  /** The names of its tools in its latest list. */
  names: readonly string[];
  readonly logged: Set<string>;
  problem: Error | undefined;
  /** The list compared last, and the `since` of the record it was compared with. */
  recorded: { readonly since?: string | undefined; readonly last?: Listing | undefined };
}

const WORDS = {
  changed: 'a tool has changed since it was first used',
  restored: 'a tool has changed and changed back since it was first used',
  new: 'a tool is new since the server was first used',
  suspicious: 'a tool has hidden or misleading text',
};
