import { createClient, type RedisClientType } from '@redis/client';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { SharedCallCounts } from './call-counts.ts';

export interface StoreOptions {
  /** The address, such as `redis://:password@10.0.0.5:6379/0`. Must never be logged. */
  readonly url: string;
  /** Gateways with the same store and group act as one. All keys of a group begin with its name. */
  readonly group: string;
  readonly log: Logger;
}

/** Time limit of a command, in milliseconds. After that it counts as failed, whether it was executed or not. */
const COMMAND_MS = 1000;
const CONNECT_MS = 2000;
/** How long the start of the program waits for the first connection, in milliseconds. */
const FIRST_CONNECT_MS = 3000;
/** A connection without traffic for this long is closed, in milliseconds. Pings ensure that there is traffic. */
const SILENCE_MS = 5000;
const PING_MS = 2000;
const FIRST_WAIT_MS = 100;
/** Short, so that the gateways find each other soon after the store comes back. */
const LONGEST_WAIT_MS = 1000;
const MOST_WAITING = 10_000;

/** Sets a key to the second value if it has the first one; an empty value represents a key that does not exist. */
const REPLACE = `
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`;

/** Adds to a number whose initial value is the third argument. Its lifetime begins when it is created. */
const ADD = `
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[2]) end
return redis.call('INCRBY', KEYS[1], ARGV[1])`;

/**
 * What several gateways share: texts and numbers by key in Redis or Valkey, each for a limited time. While the store is
 * unreachable, commands fail with STORE_AWAY without waiting long, and the client reconnects by itself.
 */
export class Store {
  readonly #client: RedisClientType;
  readonly #log: Logger;
  /** When it became reachable, on the performance clock; undefined while it is away. */
  #reachableSince: number | undefined;
  #told: 'reachable' | 'away' | undefined;
  #closed = false;

  private constructor(client: RedisClientType, log: Logger) {
    this.#client = client;
    this.#log = log;
    client.on('ready', () => this.#reached());
    client.on('error', (error) => this.#lost(error));
    client.on('reconnecting', () => this.#lost(undefined));
  }

  /** Connects, or continues without the store if that takes too long. Throws STORE_INVALID for an unusable address. */
  static async open({ url, group, log }: StoreOptions): Promise<Store> {
    const client = createClient({
      url,
      keyPrefix: `switchboard:${group}:`,
      name: 'switchboard',
      disableOfflineQueue: true,
      commandsQueueMaxLength: MOST_WAITING,
      pingInterval: PING_MS,
      socket: {
        connectTimeout: CONNECT_MS,
        socketTimeout: SILENCE_MS,
        reconnectStrategy: (retries) =>
          Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(retries, 10)) * (1 + Math.random() * 0.2),
      },
    }) as RedisClientType;
    const store = new Store(client, log);
    const connecting = client.connect().catch((error: unknown) => store.#lost(error));
    await withTimeout(connecting, FIRST_CONNECT_MS, () => store.#lost(undefined));
    return store;
  }

  /** How long it has been reachable, in milliseconds; undefined while it is away. */
  get reachableFor(): number | undefined {
    return this.#reachableSince === undefined ? undefined : performance.now() - this.#reachableSince;
  }

  get(key: string): Promise<string | undefined> {
    return this.#run(async (client) => (await client.get(key)) ?? undefined);
  }

  /** Undefined for each key that does not exist. */
  getMany(keys: readonly string[]): Promise<(string | undefined)[]> {
    if (keys.length === 0) return Promise.resolve([]);
    return this.#run(async (client) => (await client.mGet([...keys])).map((value) => value ?? undefined));
  }

  /** The first characters of each value; empty for a key that does not exist. */
  getStarts(keys: readonly string[], length: number): Promise<string[]> {
    return this.#run(async (client) => {
      const starts = await Promise.all(keys.map((key) => client.getRange(key, 0, length - 1)));
      return starts.map((start) => start ?? '');
    });
  }

  set(key: string, value: string, ms: number): Promise<void> {
    return this.#run(async (client) => {
      await client.set(key, value, { expiration: { type: 'PX', value: ms } });
    });
  }

  /** Extends the lifetime of an existing key. */
  keep(key: string, ms: number): Promise<void> {
    return this.#run(async (client) => {
      await client.pExpire(key, ms);
    });
  }

  /** Sets a key if its value is still `before` (undefined: it does not exist). Returns whether it did. */
  replace(key: string, before: string | undefined, value: string, ms: number): Promise<boolean> {
    const args = [before ?? '', value, ms];
    return this.script(REPLACE, { keys: [key], args }).then((replaced) => replaced === 1);
  }

  /** Adds to a number that starts at `first` and expires `ms` milliseconds after it was created. Returns the sum. */
  add(key: string, count: number, ms: number, first = 0): Promise<number> {
    return this.script(ADD, { keys: [key], args: [count, ms, first] }).then(Number);
  }

  /** Runs a Lua script. The store executes nothing else in the meantime. */
  script(
    text: string,
    { keys, args }: { readonly keys: readonly string[]; readonly args: readonly (string | number)[] },
  ): Promise<unknown> {
    return this.#run((client) => client.eval(text, { keys: [...keys], arguments: args.map(String) }));
  }

  /** Counts calls together with all gateways that share the store. */
  callCounts(): SharedCallCounts {
    return new SharedCallCounts(this);
  }

  delete(key: string): Promise<void> {
    return this.#run(async (client) => {
      await client.del(key);
    });
  }

  close(): void {
    this.#closed = true;
    this.#reachableSince = undefined;
    if (this.#client.isOpen) this.#client.destroy();
  }

  async #run<T>(command: (client: RedisClientType) => Promise<T>): Promise<T> {
    if (this.#reachableSince === undefined) throw away();
    const late = (): never => {
      throw away(new Error(`it did not answer within ${COMMAND_MS} ms`));
    };
    try {
      return await withTimeout(command(this.#client), COMMAND_MS, late, { ref: false });
    } catch (error) {
      throw error instanceof SwitchboardError ? error : away(error);
    }
  }

  #reached(): void {
    this.#reachableSince = performance.now();
    if (this.#told === 'away') this.#log.info('the store is reachable again');
    else if (this.#told === undefined) this.#log.info('connected to the store');
    this.#told = 'reachable';
  }

  #lost(error: unknown): void {
    this.#reachableSince = undefined;
    if (this.#closed || this.#told === 'away') return;
    this.#told = 'away';
    this.#log.warn('the store is away: other replicas may not be found, and what they share may be old', {
      reason: error === undefined ? 'the connection is lost' : messageOf(error),
    });
  }
}

function away(cause?: unknown): SwitchboardError {
  const why = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new SwitchboardError('STORE_AWAY', `The store cannot be reached${why}.`, {
    hint: 'Check that Redis or Valkey runs at the address of "store", and try again.',
    ...(cause === undefined ? {} : { cause }),
  });
}
