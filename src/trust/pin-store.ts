import { readdirSync, statSync, utimesSync, rmSync } from 'node:fs';
import { printPins, readPins, type PinRecord } from './pin-record.ts';
import type { Records } from './records.ts';

/** What is not used for so long is forgotten, in milliseconds. */
const MAX_AGE = 365 * 24 * 60 * 60 * 1000;
const DIRECTORY = 'pins';
const FILE = /^[0-9a-f]{32}\.json$/;

/** What is remembered of servers' tools: a file for each server, so that none can touch what is another's. */
export class PinStore {
  readonly #records: Records;
  /** The names of each server's tools, with the revision of the file that they were read from. */
  readonly #names = new Map<string, { readonly revision: string; readonly names: readonly string[] }>();

  constructor(records: Records) {
    this.#records = records;
  }

  /** Whether nothing is noted here: it is only compared. */
  get isReadOnly(): boolean {
    return this.#records.isReadOnly;
  }

  /** Keeps what is known of a server up to date, where other machines may change it. */
  follow(key: string): void {
    this.#records.follow(nameOf(key), readPins);
  }

  /** Undefined for a server whose tools were never listed. Throws where the file cannot be used. */
  read(key: string): PinRecord | undefined {
    return this.#records.read(nameOf(key), readPins);
  }

  /** Changes what is known of one server while no other gateway does; undefined: nothing changes. */
  async change(
    key: string,
    change: (record: PinRecord | undefined) => Promise<PinRecord | undefined> | PinRecord | undefined,
  ): Promise<void> {
    await this.#records.change(nameOf(key), readPins, async (record) => {
      const changed = await change(record);
      return changed && printPins(changed);
    });
  }

  /** The names of a server's tools. None where its file cannot be used: that is told where the server is used. */
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

  /** Another text once the file has changed. */
  revision(key: string): string {
    return this.#records.revision(nameOf(key));
  }

  /** The server is still in use; noted where the file is older than this, in milliseconds. */
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

  /** Removes what was not used for long. */
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
