import type { Listing } from '../gateway/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { pinStateOf, type PinRecord } from './pin-record.ts';
import { PinStore } from './pin-store.ts';

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
  readonly #servers = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #pruned = false;

  constructor(stateDirectory: string, { log, command, recorded }: PinsOptions) {
    this.store = new PinStore(stateDirectory);
    this.#log = log;
    this.#command = command;
    this.#recorded = recorded;
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

  #watched({ name, key, secrets }: PinnedServer): Watched {
    let watched = this.#servers.get(key);
    if (watched === undefined) {
      watched = {
        name,
        key,
        secrets,
        waiting: [],
        looking: Promise.resolve(),
        names: [],
        logged: new Set(),
        problem: undefined,
      };
      this.#servers.set(key, watched);
    }
    return watched;
  }

  #look(watched: Watched): Promise<void> {
    watched.looking = watched.looking.then(async () => {
      const lists = watched.waiting.splice(0);
      if (lists.length === 0) return;
      try {
        await this.#record(watched, lists);
        watched.problem = undefined;
      } catch (error) {
        watched.problem = error instanceof Error ? error : new Error(messageOf(error));
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
    if (overflow) this.#say(watched, 'overflow', 'lists more tools than can be remembered', {});
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
}

const WORDS = {
  changed: 'a tool has changed since it was first used',
  restored: 'a tool had changed, and is as it was first used again',
  new: 'a tool is new since the server was first used',
  suspicious: 'a tool hides something',
};
