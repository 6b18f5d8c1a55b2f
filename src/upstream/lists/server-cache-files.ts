import * as fs from 'node:fs';
import { join } from 'node:path';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { withRegularFile } from '../../shared/regular-file.ts';
import { removeOldDrafts, writeFileAtomic } from '../../shared/write-file.ts';
import { MAX_RECORD_BYTES } from './server-cache-record.ts';

/** More servers than anybody configures, and more than their lists need together. */
const MAX_FILES = 500;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** Files that have not been confirmed for this long are deleted, in milliseconds. */
const MAX_AGE = 90 * 24 * 60 * 60 * 1000;

const RECORD_FILE = /^[0-9a-f]{32}\.jsonl$/;

/** The files that contain the records, one per server, so that several programs can write at the same time. */
export class ServerCacheFiles {
  readonly #directory: string;
  readonly #maxAge: number;

  constructor(directory: string, { maxAge = MAX_AGE } = {}) {
    this.#directory = directory;
    this.#maxAge = maxAge;
  }

  /** The keys for which there are files. */
  keys(): Set<string> {
    try {
      const names = fs.readdirSync(this.#directory).filter((name) => RECORD_FILE.test(name));
      return new Set(names.map((name) => name.slice(0, 32)));
    } catch {
      return new Set();
    }
  }

  /** Undefined if there is no usable file. Throws if it cannot be read. */
  read(key: string): string | undefined {
    try {
      return withRegularFile(this.#file(key), ({ stats, read }) =>
        stats.size > MAX_RECORD_BYTES || this.#isOld(stats)
          ? undefined
          : read(MAX_RECORD_BYTES).toString('utf8'),
      );
    } catch (error) {
      if (nodeErrorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** Replaces the file in one step: a reader sees either the old text or the new one. */
  write(key: string, text: string): void {
    fs.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeFileAtomic(this.#file(key), text, { flush: 'nothing' });
  }

  /** The content of the file is still valid, so its age counts from now. */
  confirm(key: string): void {
    const now = new Date();
    fs.utimesSync(this.#file(key), now, now);
  }

  /** Deletes old files, and the oldest ones if there are too many. */
  prune(): void {
    removeOldDrafts(this.#directory);
    const found = [...this.keys()].flatMap((key) => {
      const file = this.#file(key);
      const stat = fs.lstatSync(file, { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ file, stat }];
    });
    found.sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs);
    let bytes = 0;
    found.forEach(({ file, stat }, place) => {
      bytes += stat.size;
      const goes = place >= MAX_FILES || bytes > MAX_TOTAL_BYTES || this.#isOld(stat);
      if (goes && !stat.isDirectory()) fs.rmSync(file, { force: true });
    });
  }

  #file(key: string): string {
    return join(this.#directory, `${key}.jsonl`);
  }

  #isOld({ mtimeMs }: fs.Stats): boolean {
    return Date.now() - mtimeMs > this.#maxAge;
  }
}
