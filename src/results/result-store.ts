import { randomBytes } from 'node:crypto';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { Turns } from '../shared/turns.ts';
import {
  bytesPerUnit,
  KeptResult,
  type KeptResultFacts,
  type ResultPlace,
  type TextEncoding,
} from './kept-result.ts';
import { ResultFiles, sweepResultFiles } from './result-files.ts';

export interface StoreLimits {
  /** Memory for all clients together, in bytes; the rest is on disk. */
  readonly memoryBytes: number;
  /** For one client, and for all together, in bytes. */
  readonly clientBytes: number;
  readonly totalBytes: number;
  /** How many results one client may have. */
  readonly clientResults: number;
  /** How long a result is kept after it was created or last read, in milliseconds. */
  readonly keepMs: number;
}

export const STORE_LIMITS: StoreLimits = {
  memoryBytes: 16 * 1024 * 1024,
  clientBytes: 64 * 1024 * 1024,
  totalBytes: 512 * 1024 * 1024,
  clientResults: 1000,
  keepMs: 60 * 60 * 1000,
};

interface Entry {
  readonly result: KeptResult;
  usedAt: number;
}

/** The results of one client, the oldest first. */
interface Client {
  readonly results: Map<string, Entry>;
  bytes: number;
}

/**
 * Results that were too long, by client. A client is identified by its object, so code without that object cannot read
 * its results. The total is bounded; the oldest results are dropped first.
 */
export class ResultStore {
  readonly #limits: StoreLimits;
  readonly #log: Logger;
  readonly #files: ResultFiles;
  readonly #clients = new Map<object, Client>();
  #memory = 0;
  #total = 0;
  #ended = false;
  #expiry: NodeJS.Timeout | undefined;

  /** Stores files in `directory`, and removes the files that other runs have left there. */
  constructor(directory: string, log: Logger, limits: StoreLimits = STORE_LIMITS) {
    this.#limits = limits;
    this.#log = log;
    this.#files = new ResultFiles(directory);
    sweepResultFiles(directory, log);
  }

  /** How long a result is kept, in milliseconds. */
  get keepMs(): number {
    return this.#limits.keepMs;
  }

  /**
   * Keeps a text for a client; undefined, with a line in the log, if that is not possible. `wanted` says whether the
   * client is still waiting for it.
   */
  async add(
    client: object,
    text: string,
    facts: Omit<KeptResultFacts, 'length'>,
    wanted: () => boolean,
  ): Promise<KeptResult | undefined> {
    const encoding: TextEncoding = BEYOND_LATIN1.test(text) ? 'utf16le' : 'latin1';
    const size = text.length * bytesPerUnit(encoding);
    if (size > Math.min(this.#limits.clientBytes, this.#limits.totalBytes)) {
      this.#log.warn('a result is too large to be kept and is passed on whole', { bytes: size });
      return undefined;
    }
    const inMemory = this.#memory + size <= this.#limits.memoryBytes;
    // Reserved before the first await, because other texts are added meanwhile.
    if (inMemory) this.#memory += size;
    let place: ResultPlace;
    try {
      place = inMemory
        ? { kind: 'memory', bytes: await joined(chunksOf(text, encoding), size) }
        : { kind: 'file', file: await this.#files.write(chunksOf(text, encoding)) };
    } catch (error) {
      if (inMemory) this.#memory -= size;
      this.#log.warn('a result could not be kept and is passed on whole', { reason: messageOf(error) });
      return undefined;
    }
    if (this.#ended || !wanted()) {
      this.#discard(place);
      return undefined;
    }
    return this.#enter(client, { ...facts, length: text.length }, encoding, place);
  }

  #enter(owner: object, facts: KeptResultFacts, encoding: TextEncoding, place: ResultPlace): KeptResult {
    let client = this.#clients.get(owner);
    if (client === undefined) this.#clients.set(owner, (client = { results: new Map(), bytes: 0 }));
    let id: string;
    do id = randomBytes(5).toString('hex');
    while (client.results.has(id));
    const result = new KeptResult(id, facts, encoding, place);
    client.results.set(id, { result, usedAt: performance.now() });
    client.bytes += result.size;
    this.#total += result.size;
    const { clientResults, clientBytes, totalBytes } = this.#limits;
    while (client.results.size > clientResults || client.bytes > clientBytes) this.#dropOldest(client);
    // The client with the most loses results first, so nobody can drive out those of others.
    while (this.#total > totalBytes) this.#dropOldest(this.#largest(client));
    this.#expiry ??= setInterval(() => this.#dropOld(), EXPIRY_MS).unref();
    return result;
  }

  /** The result of a client with this id. */
  get(owner: object, id: string): KeptResult | undefined {
    const client = this.#clients.get(owner);
    const entry = client?.results.get(id);
    if (client === undefined || entry === undefined) return undefined;
    if (this.#isOld(entry)) {
      this.#drop(client, entry);
      return undefined;
    }
    entry.usedAt = performance.now();
    return entry.result;
  }

  /** Drops everything of a client. */
  forget(owner: object): void {
    const client = this.#clients.get(owner);
    if (client === undefined) return;
    this.#clients.delete(owner);
    for (const entry of client.results.values()) this.#drop(client, entry);
  }

  /** Drops everything. */
  end(): void {
    this.#ended = true;
    clearInterval(this.#expiry);
    this.#clients.clear();
    this.#files.end();
  }

  #dropOldest(client: Client): void {
    for (const entry of client.results.values()) {
      this.#drop(client, entry);
      return;
    }
  }

  #largest(largest: Client): Client {
    for (const client of this.#clients.values()) if (client.bytes > largest.bytes) largest = client;
    return largest;
  }

  #dropOld(): void {
    for (const [owner, client] of this.#clients) {
      for (const entry of client.results.values()) if (this.#isOld(entry)) this.#drop(client, entry);
      if (client.results.size === 0) this.#clients.delete(owner);
    }
    if (this.#clients.size > 0) return;
    clearInterval(this.#expiry);
    this.#expiry = undefined;
  }

  #isOld({ usedAt }: Entry): boolean {
    return performance.now() - usedAt >= this.#limits.keepMs;
  }

  #drop(client: Client, { result }: Entry): void {
    client.results.delete(result.id);
    client.bytes -= result.size;
    this.#total -= result.size;
    this.#discard(result.place);
  }

  #discard(place: ResultPlace): void {
    if (place.kind === 'memory') this.#memory -= place.bytes.length;
    else void this.#files.remove(place.file);
  }
}

const EXPIRY_MS = 60_000;
const BEYOND_LATIN1 = /[^\0-\u00ff]/;
const CHUNK = 1024 * 1024;

async function* chunksOf(text: string, encoding: TextEncoding): AsyncGenerator<Buffer, void, undefined> {
  const turns = new Turns();
  for (let from = 0; from < text.length; from += CHUNK) {
    yield Buffer.from(text.slice(from, from + CHUNK), encoding);
    const pause = turns.next();
    if (pause) await pause;
  }
}

async function joined(chunks: AsyncIterable<Buffer>, size: number): Promise<Buffer> {
  // Not from the pool, which it would keep alive.
  const whole = Buffer.allocUnsafeSlow(size);
  let at = 0;
  for await (const chunk of chunks) at += chunk.copy(whole, at);
  return whole;
}
