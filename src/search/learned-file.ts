import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { writeFileAtomic } from '../shared/write-file.ts';
import { LearnedUse } from './learned-use.ts';

/** How long to collect calls before writing the file, in milliseconds. */
const SAVE_AFTER = 1000;
/** Another program may have written the file; how often to check, in milliseconds. */
const LOOK_AGAIN = 2000;
const MOST_BYTES = 2_000_000;

/** The file in the state directory that records which tools were used after which words. */
export function learnedFile(stateDirectory: string): string {
  return join(stateDirectory, 'search', 'learned.json');
}

/** What was learned on this machine, shared by all its gateways. */
export class LearnedFile {
  readonly #file: string;
  readonly #log: Logger;
  #learned = LearnedUse.empty();
  /** What this program has learned and not written yet. */
  #pending: { readonly path: string; readonly words: readonly string[] }[] = [];
  #stamp: string | undefined;
  #lookedAt = -Infinity;
  #saving: NodeJS.Timeout | undefined;

  constructor(file: string, log: Logger) {
    this.#file = file;
    this.#log = log;
  }

  /** The current state. */
  get learned(): LearnedUse {
    if (performance.now() - this.#lookedAt > LOOK_AGAIN) this.#attempt(() => this.#readAgain());
    return this.#learned;
  }

  learn(path: string, words: readonly string[]): void {
    this.learned.learn(path, words);
    this.#pending.push({ path, words });
    this.#saving ??= setTimeout(() => this.save(), SAVE_AFTER).unref();
  }

  /** Writes what is new immediately. */
  save(): void {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    this.#attempt(() => {
      // Keeps what other programs wrote, and does not bring back what was cleared.
      const learned = this.#read();
      for (const { path, words } of pending) learned.learn(path, words);
      fs.mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileAtomic(this.#file, Buffer.from(learned.print()), { mode: 0o600 });
      this.#learned = learned;
      this.#stamp = this.#stampNow();
    });
  }

  #readAgain(): void {
    this.#lookedAt = performance.now();
    const stamp = this.#stampNow();
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    this.#learned = this.#read();
    for (const { path, words } of this.#pending) this.#learned.learn(path, words);
  }

  #stampNow(): string | undefined {
    const stats = fs.statSync(this.#file, { throwIfNoEntry: false });
    return stats && `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
  }

  #read(): LearnedUse {
    try {
      const stats = fs.statSync(this.#file);
      if (!stats.isFile() || stats.size > MOST_BYTES) return LearnedUse.empty();
      return LearnedUse.read(fs.readFileSync(this.#file, 'utf8'));
    } catch (error) {
      if (nodeErrorCode(error) === 'ENOENT') return LearnedUse.empty();
      throw error;
    }
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#log.debug('could not read or write what was learned of searches', { reason: messageOf(error) });
    }
  }
}

/** Forgets everything learned. Returns the number of tools that were forgotten. */
export function clearLearned(file: string): number {
  let known = 0;
  try {
    known = LearnedUse.read(fs.readFileSync(file, 'utf8')).size;
  } catch (error) {
    if (nodeErrorCode(error) !== 'ENOENT') throw error;
  }
  fs.rmSync(file, { force: true });
  return known;
}
