import { messageOf } from '../../shared/errors.ts';
import { sha256 } from '../../shared/sha256.ts';
import type { Logger } from '../../shared/log.ts';
import { inLaterTurn } from '../../shared/turns.ts';
import type { Listing, SourceInfo } from '../../gateway/index.ts';
import type { CatalogKind, EraSupport } from '../../protocol/index.ts';
import type { Framing } from '../../wire/index.ts';
import { ServerCacheFiles } from './server-cache-files.ts';
import {
  fits,
  MAX_RECORD_BYTES,
  parseList,
  parseRecord,
  printList,
  printRecord,
  type Lines,
  type ServerRecord,
} from './server-cache-record.ts';

/** What is remembered about one server: what it last reported, in this run or an earlier one. */
export interface ServerCacheEntry {
  /** The same object as long as nothing new is learned. */
  readonly about: SourceInfo | undefined;
  /** The framing that it uses, if that is not the usual one. */
  readonly framing: Framing | undefined;
  /** The eras that it supports. */
  readonly support: EraSupport;
  list(kind: CatalogKind): Listing | undefined;
  learn(facts: ServerFacts): void;
  learnList(kind: CatalogKind, listing: Listing): void;
}

/** What a start has shown. Facts that are left out stay as they were. */
export interface ServerFacts {
  readonly about?: SourceInfo;
  readonly framing?: Framing;
  /** An era that is set to undefined becomes unknown again. */
  readonly support?: EraSupport;
}

export interface CachedServer {
  /** Created by `serverCacheKey` from everything in the configuration that may affect what the server lists. */
  readonly key: () => string;
  /** Values that must not be written to a file. A list that contains any of them is not remembered. */
  readonly secrets: () => Iterable<string>;
}

/** What is remembered about all servers. */
export interface ServerCache {
  of(server: CachedServer): ServerCacheEntry;
  /** Writes new facts immediately. */
  save(): void;
}

/** Delay that lets the facts of servers that start together be written once, in milliseconds. */
const SAVE_AFTER = 500;

/**
 * A client must not wait for servers before it is initialized and gets its first lists, and servers that nobody needs
 * are not started at all. In both cases we still have to say what they offer, so what each server last listed is kept
 * in a file. Nothing is read until it is needed, and an unusable file counts as missing.
 */
export function createServerCache(
  directory: string,
  log: Logger,
  /** Called with each record that is written or confirmed. Default: not called. */
  saved: (key: string, record: string) => void = () => undefined,
): ServerCache {
  const files = new ServerCacheFiles(directory);
  const known = new Map<string, Known>();
  let onDisk: ReadonlySet<string> | undefined;
  let saving: NodeJS.Timeout | undefined;
  let pruned = false;

  const read = (key: string): ServerRecord | undefined => {
    try {
      const text = files.read(key);
      return text === undefined ? undefined : parseRecord(text);
    } catch (error) {
      log.debug('could not read the cached data of a server', { key, reason: messageOf(error) });
      return undefined;
    }
  };
  const recall = (key: string): Known => {
    let found = known.get(key);
    if (found === undefined) {
      onDisk ??= files.keys();
      found = new Known(onDisk.has(key) ? read(key) : undefined);
      known.set(key, found);
    }
    return found;
  };
  const saveOne = (key: string, learned: Learned): void => {
    // Another gateway may have written in the meantime; keep what it has learned.
    const before = files.read(key);
    const record = before === undefined ? undefined : parseRecord(before);
    const lists = new Map(record?.lists);
    for (const [kind, lines] of learned.lists) {
      if (lines === undefined) lists.delete(kind);
      else lists.set(kind, lines);
    }
    const text = printRecord({
      about: learned.about ?? record?.about,
      framing: learned.framing ?? record?.framing,
      support: { ...record?.support, ...learned.support },
      lists,
    });
    if (text === before) files.confirm(key);
    else files.write(key, text);
    saved(key, text);
  };
  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      log.debug('could not write the server cache', { directory, reason: messageOf(error) });
    }
  };
  /** Writes the new facts about one server. Returns whether there were any. */
  const saveNext = (): boolean => {
    for (const [key, each] of known) {
      const { learned } = each;
      if (learned === undefined) continue;
      each.learned = undefined;
      attempt(() => saveOne(key, learned));
      return true;
    }
    return false;
  };
  const finishSaving = (): void => {
    saving = undefined;
    if (!pruned) attempt(() => files.prune());
    pruned = true;
  };
  const save = (): void => {
    if (saving === undefined) return;
    clearTimeout(saving);
    while (saveNext());
    finishSaving();
  };
  const saveInTurns = (): void => {
    if (saving === undefined) return;
    if (saveNext()) inLaterTurn(saveInTurns);
    else finishSaving();
  };

  const access: CacheAccess = {
    recall,
    isEmpty() {
      onDisk ??= files.keys();
      return known.size === 0 && onDisk.size === 0;
    },
    learnedOf(entry) {
      saving ??= setTimeout(saveInTurns, SAVE_AFTER).unref();
      return (entry.learned ??= { lists: new Map() });
    },
  };

  return {
    of: (server) => new CacheEntry(server, access),
    save,
  };
}

/** Stores what another gateway has learned about a server, if nothing is known about it here. */
export function addServerRecord(directory: string, key: string, record: string): void {
  const files = new ServerCacheFiles(directory);
  if (
    Buffer.byteLength(record) <= MAX_RECORD_BYTES &&
    !files.keys().has(key) &&
    parseRecord(record) !== undefined
  )
    files.write(key, record);
}

/** Distinguishes configurations without keeping their content: arguments and variables may contain secrets. */
export function serverCacheKey(...parts: readonly unknown[]): string {
  return sha256(JSON.stringify(parts)).slice(0, 32);
}

/** What the entry of one server needs from the cache. */
interface CacheAccess {
  /** Whether nothing is known about any server, so that no key is needed. */
  isEmpty(): boolean;
  recall(key: string): Known;
  /** Where to record new facts; they are written soon. */
  learnedOf(entry: Known): Learned;
}

class CacheEntry implements ServerCacheEntry {
  readonly #server: CachedServer;
  readonly #cache: CacheAccess;
  #recalled: Known | undefined;

  constructor(server: CachedServer, cache: CacheAccess) {
    this.#server = server;
    this.#cache = cache;
  }

  get about(): SourceInfo | undefined {
    return this.#found?.about;
  }

  get framing(): Framing | undefined {
    return this.#found?.framing;
  }

  get support(): EraSupport {
    return this.#found?.support ?? {};
  }

  list(kind: CatalogKind): Listing | undefined {
    return this.#found?.list(kind);
  }

  learn({ about, framing, support }: ServerFacts): void {
    const known = this.#known;
    const learned = this.#cache.learnedOf(known);
    if (about !== undefined) {
      known.about = about;
      learned.about = this.#holdsSecret(JSON.stringify(about)) ? withoutWords(about) : about;
    }
    if (framing !== undefined) {
      known.framing = framing === 'newline' ? undefined : framing;
      learned.framing = framing;
    }
    if (support !== undefined) {
      known.support = { ...known.support, ...support };
      learned.support = { ...learned.support, ...support };
    }
  }

  learnList(kind: CatalogKind, listing: Listing): void {
    this.#known.learnList(kind, listing);
    const lines = printList(listing);
    const isKept = lines !== undefined && fits(lines) && !this.#holdsSecret(lines.join('\n'));
    this.#cache.learnedOf(this.#known).lists.set(kind, isKept ? lines : undefined);
  }

  /** What is already known. */
  get #found(): Known | undefined {
    return this.#recalled === undefined && this.#cache.isEmpty() ? undefined : this.#known;
  }

  get #known(): Known {
    this.#recalled ??= this.#cache.recall(this.#server.key());
    return this.#recalled;
  }

  #holdsSecret(text: string): boolean {
    return [...this.#server.secrets()].some((each) => text.includes(each) || text.includes(escaped(each)));
  }
}

/** What this run has learned but not yet written. */
interface Learned {
  about?: SourceInfo;
  framing?: Framing;
  support?: EraSupport;
  /** Undefined for a list that must not be kept. */
  readonly lists: Map<CatalogKind, Lines | undefined>;
}

/** What is known about one server so far. Lists are parsed when they are needed. */
class Known {
  about: SourceInfo | undefined;
  framing: Framing | undefined;
  support: EraSupport;
  learned: Learned | undefined;
  readonly #lines: Map<CatalogKind, Lines>;
  readonly #lists = new Map<CatalogKind, Listing | undefined>();

  constructor(record: ServerRecord | undefined) {
    this.about = record?.about;
    this.framing = record?.framing;
    this.support = record?.support ?? {};
    this.#lines = new Map(record?.lists);
  }

  list(kind: CatalogKind): Listing | undefined {
    const lines = this.#lines.get(kind);
    if (lines !== undefined) {
      this.#lines.delete(kind);
      this.#lists.set(kind, parseList(lines, kind));
    }
    return this.#lists.get(kind);
  }

  learnList(kind: CatalogKind, listing: Listing): void {
    this.#lines.delete(kind);
    // The next reader may be another process that has not listed anything yet.
    this.#lists.set(kind, { ...listing, remembered: true });
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** The server's capabilities, without any of its texts. */
function withoutWords({ protocolVersion, capabilities }: SourceInfo): SourceInfo {
  return { protocolVersion, serverInfo: {}, capabilities, instructions: undefined };
}
