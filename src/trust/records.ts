import { join } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import type { Store } from '../store/index.ts';
import { changeRecord, fileRevision, readRecord, type Change, type Form } from './private-record.ts';
import type { Refreshed } from './shared-record.ts';

/**
 * The records of one directory, one file each. With a store, several machines share them: each has copies in its files,
 * which are as recent as the last `refresh`. Changes are made in the store first, or not at all. Programs that do not open
 * the store of their configuration only read the copies.
 */
export class Records {
  readonly directory: string;
  readonly #store: Store | undefined;
  /** Whether nothing can be changed here, because the records belong to a store that is not open. */
  readonly isReadOnly: boolean;
  /** The records that are kept up to date, by name. */
  readonly #followed = new Map<string, Form<unknown>>();

  constructor(directory: string, store?: Store | 'not opened') {
    this.directory = directory;
    this.isReadOnly = store === 'not opened';
    this.#store = store === 'not opened' ? undefined : store;
  }

  /** Whether other machines change the records, too, and `refresh` fetches the changes. */
  get areShared(): boolean {
    return this.#store !== undefined;
  }

  /** Whether nothing can be changed now because the store is unreachable. */
  get areAway(): boolean {
    return this.#store !== undefined && this.#store.reachableFor === undefined;
  }

  /** Undefined if there is none. Throws if the file cannot be used. */
  read<T>(name: string, form: Form<T>): T | undefined {
    return readRecord(this.file(name), form);
  }

  /** Changes a record while nobody else can. Rejects with STORE_AWAY if only the store could be changed. */
  async change<T>(name: string, form: Form<T>, change: Change<T>): Promise<void> {
    if (this.isReadOnly)
      throw new SwitchboardError(
        'STORE_AWAY',
        'Pins and approvals cannot be changed here: replicas share them in the store, which this program does not open.',
        { hint: 'Use `switchboard trust`, or a gateway with --http.' },
      );
    if (this.#store === undefined) {
      await changeRecord(this.file(name), form, change);
      return;
    }
    const { changeShared } = await import('./shared-record.ts');
    await changeShared(this.#shared(this.#store, name, form), change);
  }

  /** Includes this record in every `refresh` from now on. */
  follow(name: string, form: Form<unknown>): void {
    if (this.#store !== undefined) this.#followed.set(name, form);
  }

  /** Updates the copies on this machine. Rejects while the store is away. */
  async refresh(): Promise<Refreshed> {
    if (this.#store === undefined || this.#followed.size === 0) return { any: false };
    const { refreshShared } = await import('./shared-record.ts');
    const store = this.#store;
    return refreshShared(
      store,
      [...this.#followed].map(([name, form]) => this.#shared(store, name, form)),
    );
  }

  /** Changes whenever the file does; empty if there is none. */
  revision(name: string): string {
    return fileRevision(this.file(name));
  }

  file(name: string): string {
    return join(this.directory, name);
  }

  #shared<T>(store: Store, name: string, form: Form<T>) {
    return { store, form, key: `trust:${name}`, file: this.file(name) };
  }
}
