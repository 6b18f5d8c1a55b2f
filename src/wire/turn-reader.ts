import type { Readable } from 'node:stream';
import { inLaterTurn, TURN_MS } from '../shared/turns.ts';

/**
 * Reads a chunk from an offset on and returns how far it got. It stops after some number of messages: what takes longest
 * is not the bytes but what is in them.
 */
export type ReadSome = (chunk: Buffer, from: number) => number;

/**
 * Reads a stream in turns: a stranger may put tens of thousands of lines into one chunk, and send the next one before it
 * is read. What is not read at once waits for later turns of the event loop, and so does the stream.
 */
export class TurnReader {
  readonly #input: Readable;
  readonly #read: ReadSome;
  /** Chunks that are not read to their end. */
  readonly #waiting: Buffer[] = [];
  /** How far the first of them is read. */
  #at = 0;
  #paused = false;
  #afterwards: (() => void)[] = [];

  constructor(input: Readable, read: ReadSome) {
    this.#input = input;
    this.#read = read;
    input.on('data', (chunk: Buffer) => {
      // Also a paused stream may bring more: Node resumes those of a process that has exited.
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

  /** Calls back when all that has arrived is read; at once, if it is. */
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
