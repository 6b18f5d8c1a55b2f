import { readdirSync, statSync, utimesSync, rmSync } from 'node:fs';
import { printPins, readPins, type PinRecord } from './pin-record.ts';
import type { Records } from './records.ts';

/** Files that have not been used for this long are deleted, in milliseconds. */
const MAX_AGE = 365 * 24 * 60 * 60 * 1000;
const DIRECTORY = 'pins';
const FILE = /^[0-9a-f]{32}\.json$/;

/** What is remembered about servers' tools: one file per server, so that no server can affect the record of another. */
export class PinStore {
  readonly #records: Records;
  /** The names of each server's tools, with the revision of the file they were read from. */
  readonly #names = new Map<string, { readonly revision: string; readonly names: readonly string[] }>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** Whether records can only be compared here, not changed. */
  get isReadOnly(): boolean {
    return this.#records.isReadOnly;
  }

  /** Keeps the record of a server up to date if other machines can change it. */
  follow(key: string): void {
    this.#records.follow(nameOf(key), readPins);
  }

  /** Undefined for a server whose tools were never listed. Throws if the file cannot be used. */
  read(key: string): PinRecord | undefined {
    return this.#records.read(nameOf(key), readPins);
  }

  /** Changes a server's record while no other gateway does. Returning undefined leaves it unchanged. */
  async change(
    key: string,
    change: (record: PinRecord | undefined) => Promise<PinRecord | undefined> | PinRecord | undefined,
  ): Promise<void> {
    await this.#records.change(nameOf(key), readPins, async (record) => {
      const changed = await change(record);
      return changed && printPins(changed);
    });
  }

  /** The names of a server's tools. Empty if its file cannot be used, which is reported when the server is used. */
  toolNames(key: string): readonly string[] {
    try {
      const revision = this.revision(key);
      const before = this.#names.get(key);
      if (before?.revision === revision) return before.names;
      const names = [...(this.read(key)?.tools.keys() ?? [])];
      this.#names.set(key, { revision, names });
      return names;
    } catch {
      return [];
    }
  }

  /** Changes whenever the file does. */
  revision(key: string): string {
    return this.#records.revision(nameOf(key));
  }

  /** Marks the server as still in use if its file is older than `age`, in milliseconds. */
  confirm(key: string, age: number): void {
    const found = statSync(this.file(key), { throwIfNoEntry: false });
    const now = new Date();
    if (found !== undefined && now.getTime() - found.mtimeMs > age) utimesSync(this.file(key), now, now);
  }

  keys(): string[] {
    try {
      const names = readdirSync(this.#records.file(DIRECTORY)).filter((name) => FILE.test(name));
      return names.map((name) => name.slice(0, 32));
    } catch {
      return [];
    }
  }

  /** Deletes records that have not been used for a long time. */
  prune(): void {
    for (const key of this.keys()) {
      const found = statSync(this.file(key), { throwIfNoEntry: false });
      if (found !== undefined && Date.now() - found.mtimeMs > MAX_AGE)
        rmSync(this.file(key), { force: true });
    }
  }

  file(key: string): string {
    return this.#records.file(nameOf(key));
  }
}

function nameOf(key: string): string {
  return `${DIRECTORY}/${key}.json`;
}
