import { join } from 'node:path';
import type { Store } from '../store/index.ts';
import { changeRecord, fileRevision, readRecord, type Change, type Form } from './private-record.ts';

/**
 * The records of one directory, one file each. With a store, several machines share them: each has copies in its files,
 * which are as recent as the last `refresh`. Changes are made in the store first, or not at all.
 */
export class Records {
  readonly directory: string;
  readonly #store: Store | undefined;
  /** The records that are kept up to date, by name. */
  readonly #followed = new Map<string, Form<unknown>>();

  constructor(directory: string, store?: Store) {
    this.directory = directory;
    this.#store = store;
  }

  /** Whether other machines change the records, too. */
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

  /** Changes a record while nobody else can. */
  async change<T>(name: string, form: Form<T>, change: Change<T>): Promise<void> {
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

  /** Updates the copies on this machine; returns whether one was outdated. Rejects while the store is away. */
  async refresh(): Promise<boolean> {
    if (this.#store === undefined || this.#followed.size === 0) return false;
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
