import { hkdfSync, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../store/index.ts';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import { parseJson } from '../shared/parse-json.ts';
import { ProofReader, writeProof, type PassedRequest } from './proof.ts';

export interface ReplicasOptions {
  readonly store: Store;
  /** The token of the configuration, which all replicas have; undefined where each has one of its own. */
  readonly token: string | undefined;
  readonly log: Logger;
}

/** Where the owner of something is: its address, or that it has ended, or that nobody can tell now. */
export type OwnerPlace = { readonly address: string } | 'gone' | 'unknown';

/** How often a replica says that it is there, in milliseconds. */
const BEAT_MS = 1000;
/** One that has not said so for this long has ended, in milliseconds. */
const ALIVE_MS = 5000;
/** How long after the store is back all replicas have said that they are there, in milliseconds. */
const SETTLED_MS = 2500;
const LOOK_AGAIN_MS = 200;
/** How long the common secret is kept when no replica runs, in milliseconds. */
const SECRET_MS = 24 * 60 * 60 * 1000;
const ID_BYTES = 9;
/** What identifies the owner of an id: see `ownedId`. */
const OWNED = /^([\w-]{12})\.[\w-]+$/;

/** The gateways that share a store and a group: this one, and those that it has met. */
export class Replicas {
  /** The name of this one. */
  readonly self = randomBytes(ID_BYTES).toString('base64url');
  readonly #options: ReplicasOptions;
  readonly #proofs = new ProofReader(this.self);
  /** Where the others are that have been looked for. */
  readonly #known = new Map<string, string>();
  readonly #lost = new Set<(id: string) => void>();
  /** The secret in the store, and the one before it. */
  #secrets: readonly string[] = [];
  #keys: readonly Buffer[] = [];
  #timer: NodeJS.Timeout | undefined;
  #beating = false;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** From now on, the others find this one at that address. */
  async join(address: string): Promise<void> {
    await this.#beat(address);
    this.#timer = setInterval(() => void this.#beat(address), BEAT_MS).unref();
  }

  /** The others are told that it has ended. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#options.store.delete(keyOf(this.self)).catch(() => undefined);
  }

  /** An id that tells every replica that it is one of ours. */
  ownedId(random: string): string {
    return `${this.self}.${random}`;
  }

  /** The other replica that has made an id; undefined for one of ours, or of nobody. */
  ownerOf(id: string): string | undefined {
    const owner = OWNED.exec(id)?.[1];
    return owner === this.self ? undefined : owner;
  }

  async find(id: string): Promise<OwnerPlace> {
    const address = this.#known.get(id);
    if (address !== undefined) return { address };
    const { store } = this.#options;
    for (;;) {
      try {
        // The first requests may come before this replica has told of itself.
        if (this.#keys.length === 0) await this.#agree();
        const found = addressIn(await store.get(keyOf(id)));
        if (found !== undefined) {
          this.#known.set(id, found);
          return { address: found };
        }
      } catch {
        return 'unknown';
      }
      // A store that starts empty does not know anybody at first.
      if ((store.reachableFor ?? 0) > SETTLED_MS) return 'gone';
      await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
    }
  }

  /** A replica does not take connections. */
  forget(id: string): void {
    if (this.#known.delete(id)) for (const listener of this.#lost) listener(id);
  }

  /** Calls back with each replica that has ended, until the function that it returns is called. */
  whenLost(listener: (id: string) => void): () => void {
    this.#lost.add(listener);
    return () => void this.#lost.delete(listener);
  }

  /** Proves to another replica that a request comes from this one. Undefined before the store was reached once. */
  proofFor(to: string, caller: string, request: PassedRequest): string | undefined {
    const [key] = this.#keys;
    return key && writeProof(key, { from: this.self, to, caller }, request);
  }

  /** Who sent a request that another replica has passed on; undefined if the proof is not valid. */
  callerIn(proof: string, request: PassedRequest): string | undefined {
    return this.#proofs.read(proof, this.#keys, request);
  }

  async #beat(address: string): Promise<void> {
    // The one before may still wait for the store.
    if (this.#beating) return;
    this.#beating = true;
    const { store, log } = this.#options;
    try {
      const ids = [...this.#known.keys()];
      await store.set(keyOf(this.self), JSON.stringify({ address }), ALIVE_MS);
      await this.#agree();
      const found = await store.getMany(ids.map(keyOf));
      const settled = (store.reachableFor ?? 0) > SETTLED_MS;
      ids.forEach((id, at) => {
        const now = addressIn(found[at]);
        if (now !== undefined) this.#known.set(id, now);
        else if (settled) this.forget(id);
      });
    } catch (error) {
      log.debug('the store does not know that this replica runs', { reason: messageOf(error) });
    } finally {
      this.#beating = false;
    }
  }

  /** Takes the common secret, or makes it. */
  async #agree(): Promise<void> {
    const { store, token = '' } = this.#options;
    let secret = await store.get(SECRET);
    if (secret === undefined) {
      const own = this.#secrets[0] ?? randomBytes(32).toString('base64url');
      secret = (await store.replace(SECRET, undefined, own, SECRET_MS)) ? own : await store.get(SECRET);
    } else await store.keep(SECRET, SECRET_MS);
    if (secret === undefined || secret === this.#secrets[0]) return;
    this.#secrets = [secret, ...this.#secrets].slice(0, 2);
    // A reader of the store cannot send requests with it where the replicas have a token.
    this.#keys = this.#secrets.map((each) => Buffer.from(hkdfSync('sha256', each, token, 'replica', 32)));
  }
}

const SECRET = 'secret';

function keyOf(id: string): string {
  return `replica:${id}`;
}

/** What another replica has written, if it can be used. */
function addressIn(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  const address = isObject(value) ? value.address : undefined;
  return typeof address === 'string' && URL.canParse(address) && address.startsWith('http://')
    ? address
    : undefined;
}
