import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { decodeLine, LINE_LIMIT } from '../../runtime/logs/read-backwards.ts';

/** How much of one log is read before the next one gets its turn, in bytes. */
const BLOCK = 256 * 1024;
const NEWLINE = 0x0a;

/** One log that is read as it grows. */
export class FollowedLog {
  readonly file: string;
  #descriptor: number | undefined;
  #position = 0;
  /** The part of an incomplete line that was read. */
  #begun = Buffer.alloc(0);
  /** Whether the beginning of that line was already reported. */
  #toldBeginning = false;

  constructor(file: string) {
    this.file = file;
    const descriptor = this.#open();
    if (descriptor !== undefined) this.#position = lastLineEnd(descriptor);
  }

  /** Everything before it existed at the start or was reported. */
  get position(): number {
    return this.#position;
  }

  /**
   * Lines that were added. With `all`, also an incomplete line that has not grown since the last call, such as a
   * prompt.
   */
  more(all: boolean): string[] {
    const descriptor = this.#open();
    if (descriptor === undefined) return [];
    let grown = false;
    let bytes: Buffer;
    while ((bytes = this.#read(descriptor)).length > 0) {
      grown = true;
      const lines = this.#split(bytes);
      if (lines.length > 0) return lines;
    }
    if (this.#replaced(descriptor)) {
      // The rest of the old file was read above.
      const last = this.#take();
      this.close();
      return [...last, ...this.more(all)];
    }
    return all && !grown ? this.#take() : [];
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#position = 0;
    this.#toldBeginning = false;
  }

  /** Undefined while there is no file. */
  #open(): number | undefined {
    try {
      return (this.#descriptor ??= openSync(this.file, 'r'));
    } catch {
      return undefined;
    }
  }

  #read(descriptor: number): Buffer {
    const { size } = fstatSync(descriptor);
    // We trimmed it, perhaps in the middle of a line, whose rest continues at the start of the file.
    if (size < this.#position) this.#position = 0;
    const length = Math.min(size - this.#position, BLOCK);
    if (length === 0) return Buffer.alloc(0);
    const block = Buffer.allocUnsafe(length);
    const got = readSync(descriptor, block, 0, length, this.#position);
    this.#position += got;
    return block.subarray(0, got);
  }

  #split(bytes: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    let newline: number;
    while ((newline = bytes.indexOf(NEWLINE, start)) !== -1) {
      const line = Buffer.concat([this.#begun, bytes.subarray(start, newline)]);
      if (line.length > 0 || !this.#toldBeginning) lines.push(decodeLine(line));
      this.#begun = Buffer.alloc(0);
      this.#toldBeginning = false;
      start = newline + 1;
    }
    // Only the beginning of a long line is shown, so no more of it is kept.
    this.#begun = Buffer.concat([this.#begun, bytes.subarray(start)]).subarray(0, LINE_LIMIT + 1);
    return lines;
  }

  #take(): string[] {
    if (this.#begun.length === 0) return [];
    const line = decodeLine(this.#begun);
    this.#begun = Buffer.alloc(0);
    this.#toldBeginning = true;
    return [line];
  }

  #replaced(descriptor: number): boolean {
    const now = statSync(this.file, { throwIfNoEntry: false });
    if (now === undefined) return false;
    const open = fstatSync(descriptor);
    return now.ino !== open.ino || now.dev !== open.dev;
  }
}

/** A line that is still being written counts as added. */
function lastLineEnd(descriptor: number): number {
  const { size } = fstatSync(descriptor);
  const block = Buffer.alloc(Math.min(size, LINE_LIMIT));
  const start = size - block.length;
  const got = readSync(descriptor, block, 0, block.length, start);
  const newline = block.subarray(0, got).lastIndexOf(NEWLINE);
  return newline === -1 && start > 0 ? size : start + newline + 1;
}
