import type { Readable } from 'node:stream';
import { inLaterTurn, TURN_MS } from '../shared/turns.ts';

/**
 * Reads a chunk from an offset on and returns how far it got. Stops after some number of messages, because their
 * contents take longer to handle than their bytes.
 */
export type ReadSome = (chunk: Buffer, from: number) => number;

/**
 * Reads a stream over several turns of the event loop: an untrusted peer may put tens of thousands of lines into one
 * chunk, and send the next one before it is read. What is not read at once waits for later turns, and so does the
 * stream.
 */
export class TurnReader {
  readonly #input: Readable;
  readonly #read: ReadSome;
  /** Chunks that have not been read completely. */
  readonly #waiting: Buffer[] = [];
  /** How far the first of them has been read. */
  #at = 0;
  #paused = false;
  #afterwards: (() => void)[] = [];

  constructor(input: Readable, read: ReadSome) {
    this.#input = input;
    this.#read = read;
    input.on('data', (chunk: Buffer) => {
      // Even a paused stream may deliver more: Node resumes the streams of a process that has exited.
      if (this.#waiting.length === 0) {
        const at = read(chunk, 0);
        if (at >= chunk.length) return;
        this.#at = at;
        inLaterTurn(() => this.#readOn());
      }
      this.#waiting.push(chunk);
      input.pause();
    });
  }

  pause(): void {
    this.#paused = true;
    this.#input.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#waiting.length === 0) this.#input.resume();
  }

  /** Calls back once everything that has arrived is read; at once, if it already is. */
  whenRead(listener: () => void): void {
    if (this.#waiting.length === 0) listener();
    else this.#afterwards.push(listener);
  }

  #readOn(): void {
    const until = performance.now() + TURN_MS;
    while (this.#waiting.length > 0 && performance.now() < until) {
      const chunk = this.#waiting[0]!;
      this.#at = this.#read(chunk, this.#at);
      if (this.#at < chunk.length) continue;
      this.#waiting.shift();
      this.#at = 0;
    }
    if (this.#waiting.length > 0) {
      inLaterTurn(() => this.#readOn());
      return;
    }
    const listeners = this.#afterwards;
    this.#afterwards = [];
    for (const listener of listeners) listener();
    if (!this.#paused) this.#input.resume();
  }
}
