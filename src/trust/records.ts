import { join } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import type { Store } from '../store/index.ts';
import { changeRecord, fileRevision, readRecord, type Change, type Form } from './private-record.ts';
import type { Refreshed } from './shared-record.ts';

/**
 * The records of one directory, each in a file. With a store, several machines have them in common: each has a copy in
 * its files, which is as old as the last `refresh`. What is changed is changed in the store first, or not at all.
 * Programs that do not open the store of their configuration only read the copy.
 */
export class Records {
  readonly directory: string;
  readonly #store: Store | undefined;
  /** Whether nothing can be changed here, for the records belong to a store that is not opened. */
  readonly isReadOnly: boolean;
  /** Those that are kept up to date, by name. */
  readonly #followed = new Map<string, Form<unknown>>();

  constructor(directory: string, store?: Store | 'not opened') {
    this.directory = directory;
    this.isReadOnly = store === 'not opened';
    this.#store = store === 'not opened' ? undefined : store;
  }

  /** Whether others change the records, too, on other machines, and `refresh` takes that over. */
  get areShared(): boolean {
    return this.#store !== undefined;
  }

  /** Whether nothing can be changed now, for the store cannot be reached. */
  get areAway(): boolean {
    return this.#store !== undefined && this.#store.reachableFor === undefined;
  }

  /** Undefined where there is none. Throws where the file cannot be used. */
  read<T>(name: string, form: Form<T>): T | undefined {
    return readRecord(this.file(name), form);
  }

  /** Changes a record while nobody else does. Rejects with STORE_AWAY where only the store could be changed. */
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

  /** From now on, `refresh` looks at this record as well. */
  follow(name: string, form: Form<unknown>): void {
    if (this.#store !== undefined) this.#followed.set(name, form);
  }

  /** Brings the copies of this machine up to date. Rejects while the store is away. */
  async refresh(): Promise<Refreshed> {
    if (this.#store === undefined || this.#followed.size === 0) return { any: false };
    const { refreshShared } = await import('./shared-record.ts');
    const store = this.#store;
    return refreshShared(
      store,
      [...this.#followed].map(([name, form]) => this.#shared(store, name, form)),
    );
  }

  /** Another text once the file has changed; empty where there is none. */
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
