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
  /** The token of the configuration, which all replicas share; undefined if each has its own. */
  readonly token: string | undefined;
  readonly log: Logger;
}

/** Where the owner of an id is: its address, or that it has ended, or that it is unknown at the moment. */
export type OwnerPlace = { readonly address: string } | 'gone' | 'unknown';

/** How often a replica reports that it is running, in milliseconds. */
const BEAT_MS = 1000;
/** A replica that has not reported for this long has ended, in milliseconds. */
const ALIVE_MS = 5000;
/** How long after the store is back all replicas have reported again, in milliseconds. */
const SETTLED_MS = 2500;
const LOOK_AGAIN_MS = 200;
/** How long the shared secret is kept when no replica is running, in milliseconds. */
const SECRET_MS = 24 * 60 * 60 * 1000;
const ID_BYTES = 9;
/** Extracts the owner from an id: see `ownedId`. */
const OWNED = /^([\w-]{12})\.[\w-]+$/;

/** The gateways that share a store and a group: this one, and those that it has encountered. */
export class Replicas {
  /** The name of this replica. */
  readonly self = randomBytes(ID_BYTES).toString('base64url');
  readonly #options: ReplicasOptions;
  readonly #proofs = new ProofReader(this.self);
  /** The addresses of replicas that have been looked up. */
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

  /** From now on, other replicas find this one at this address. */
  async join(address: string): Promise<void> {
    await this.#beat(address);
    this.#timer = setInterval(() => void this.#beat(address), BEAT_MS).unref();
  }

  /** Tells the other replicas that this one has ended. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await this.#options.store.delete(keyOf(this.self)).catch(() => undefined);
  }

  /** An id that every replica recognizes as one of ours. */
  ownedId(random: string): string {
    return `${this.self}.${random}`;
  }

  /** The other replica that created an id; undefined if this one did, or none. */
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
        // The first requests may arrive before this replica has reported.
        if (this.#keys.length === 0) await this.#agree();
        const found = addressIn(await store.get(keyOf(id)));
        if (found !== undefined) {
          this.#known.set(id, found);
          return { address: found };
        }
      } catch {
        return 'unknown';
      }
      // A store that starts empty knows no replica at first.
      if ((store.reachableFor ?? 0) > SETTLED_MS) return 'gone';
      await sleep(LOOK_AGAIN_MS, undefined, { ref: false });
    }
  }

  /** Call this when a replica does not accept connections. */
  forget(id: string): void {
    if (this.#known.delete(id)) for (const listener of this.#lost) listener(id);
  }

  /** Calls back with each replica that ends, until the returned function is called. */
  whenLost(listener: (id: string) => void): () => void {
    this.#lost.add(listener);
    return () => void this.#lost.delete(listener);
  }

  /** Proves to another replica that a request comes from this one. Undefined until the store has been reached once. */
  proofFor(to: string, caller: string, request: PassedRequest): string | undefined {
    const [key] = this.#keys;
    return key && writeProof(key, { from: this.self, to, caller }, request);
  }

  /** The sender of a request that another replica has passed on; undefined if the proof is not valid. */
  callerIn(proof: string, request: PassedRequest): string | undefined {
    return this.#proofs.read(proof, this.#keys, request);
  }

  async #beat(address: string): Promise<void> {
    // The previous report may still be waiting for the store.
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

  /** Reads the shared secret, or creates it. */
  async #agree(): Promise<void> {
    const { store, token = '' } = this.#options;
    let secret = await store.get(SECRET);
    if (secret === undefined) {
      const own = this.#secrets[0] ?? randomBytes(32).toString('base64url');
      secret = (await store.replace(SECRET, undefined, own, SECRET_MS)) ? own : await store.get(SECRET);
    } else await store.keep(SECRET, SECRET_MS);
    if (secret === undefined || secret === this.#secrets[0]) return;
    this.#secrets = [secret, ...this.#secrets].slice(0, 2);
    // If the replicas have a token, reading the secret in the store is not enough to send requests.
    this.#keys = this.#secrets.map((each) => Buffer.from(hkdfSync('sha256', each, token, 'replica', 32)));
  }
}

const SECRET = 'secret';

function keyOf(id: string): string {
  return `replica:${id}`;
}

/** The address that another replica has written, if it is usable. */
function addressIn(text: string | undefined): string | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  const address = isObject(value) ? value.address : undefined;
  return typeof address === 'string' && URL.canParse(address) && address.startsWith('http://')
    ? address
    : undefined;
}
