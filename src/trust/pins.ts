import type { Listing } from '../gateway/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { pinStateOf, type PinRecord } from './pin-record.ts';
import { PinStore } from './pin-store.ts';
import type { Records } from './records.ts';

/** A server whose tools are pinned. */
export interface PinnedServer {
  readonly name: string;
  /** Stands for the server and how it is reached. */
  readonly key: string;
  /** What must not be written to a file. Default: nothing. */
  readonly secrets?: (() => Iterable<string>) | undefined;
}

/** Servers that start together are looked at together, in milliseconds; no list waits for that. */
const LOOK_AFTER = 500;
/** Changes that are logged of one server in one run; `switchboard trust` shows all. */
const MOST_LOGGED = 5;
/** Lists of one server that wait to be looked at. Of more than these, the ones between are counted as one. */
const MOST_WAITING = 20;
/** How often what other machines have changed is taken over, in milliseconds. */
const REFRESH_EVERY = 1000;

interface PinsOptions {
  readonly log: Logger;
  /** The command that shows what changed. */
  readonly command: string;
  /** Called when lists have been compared. */
  readonly recorded: () => void;
}

/** Compares what servers list with what they listed when their tools were first used, and keeps both. */
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
  /** Why records could not be brought up to date. */
  #problem: string | undefined;
  #pruned = false;

  constructor(records: Records, { log, command, recorded }: PinsOptions) {
    this.#records = records;
    this.store = new PinStore(records);
    this.#log = log;
    this.#command = command;
    this.#recorded = recorded;
  }

  /** Takes over what other machines change, from now on. */
  follow(): void {
    if (this.#records.areShared)
      this.#following ??= setInterval(
        () => void this.refresh().then(() => this.#lookAgain()),
        REFRESH_EVERY,
      ).unref();
  }

  /** Whether other machines change what is remembered, too. */
  get areShared(): boolean {
    return this.#records.areShared;
  }

  /** Whether nothing is recorded here, but only compared with what gateways have recorded that open the store. */
  get areReadOnly(): boolean {
    return this.#records.isReadOnly;
  }

  /** Whether nothing can be recorded now, for the store cannot be reached. */
  get isAway(): boolean {
    return this.#records.areAway;
  }

  /** Takes over what other machines have changed of these servers, of those in use, and of decisions. Never rejects. */
  async refresh(servers: readonly PinnedServer[] = []): Promise<void> {
    for (const { key } of servers) this.store.follow(key);
    // One that runs already may not know of these.
    if (servers.length > 0) await this.#refreshing;
    this.#refreshing ??= this.#refresh().finally(() => (this.#refreshing = undefined));
    await this.#refreshing;
  }

  /** Stops following changes from other machines. */
  close(): void {
    clearInterval(this.#following);
  }

  /** A server has listed its tools. */
  listed(server: PinnedServer, listing: Listing): void {
    const watched = this.#watched(server);
    watched.waiting.push(listing);
    watched.names = listing.components.map((component) => component.key);
    if (watched.waiting.length > MOST_WAITING) watched.waiting.splice(MOST_WAITING / 2, 1);
    this.#timer ??= setTimeout(() => void this.settle(), LOOK_AFTER).unref();
  }

  /** Looks at all lists that came so far. */
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

  /** The same for the lists of one server. Rejects where what is remembered of it cannot be used. */
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
      else this.#sayOld(problem);
    } catch (error) {
      this.#sayOld(error);
    }
  }

  #sayOld(error: unknown): void {
    const reason = messageOf(error);
    // That the store is away is said by the store.
    if (error instanceof SwitchboardError && error.code === 'STORE_AWAY') return;
    if (reason !== this.#problem) this.#log.warn('pins and approvals may be old', { reason });
    this.#problem = reason;
  }

  /** What others remember of a server has taken the place of what began here: what it has listed is not noted there. */
  #compareAgain(watched: Watched): void {
    const { since, last } = watched.recorded;
    if (since === undefined || last === undefined) return;
    try {
      if (this.store.read(watched.key)?.since === since) return;
    } catch {
      // A record that cannot be used is told when it is looked at next.
      return;
    }
    watched.recorded = {};
    watched.waiting.push(last);
    void this.#look(watched);
  }

  /** Looks at lists that came while the store was away. */
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
      // They wait until they can be compared with what others have seen.
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
        // Where nothing can be written, other parts that need it more say so.
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

  /** Says what is not as it was, once for each change. */
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
  /** Lists that were not looked at yet. */
  readonly waiting: Listing[];
  looking: Promise<void>;
  /** Of its tools, as it listed them last. */
  names: readonly string[];
  readonly logged: Set<string>;
  problem: Error | undefined;
  /** What was compared last, and since when the tools are remembered that it was compared with. */
  recorded: { readonly since?: string | undefined; readonly last?: Listing | undefined };
}

const WORDS = {
  changed: 'a tool has changed since it was first used',
  restored: 'a tool has changed and changed back since it was first used',
  new: 'a tool is new since the server was first used',
  suspicious: 'a tool has hidden or misleading text',
};
