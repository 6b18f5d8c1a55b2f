/** How long work on untrusted input may run before everything else gets a turn, in milliseconds. */
export const TURN_MS = 5;

const waiting: (() => void)[] = [];

/**
 * Calls back in a later turn of the event loop. Only one of all callbacks runs in each turn, so that many of them block
 * the rest no longer than one does.
 */
export function inLaterTurn(work: () => void): void {
  // Twice, because a callback set while input is read runs right after that, before more input is polled.
  if (waiting.push(work) === 1) setImmediate(() => setImmediate(runFirst));
}

function runFirst(): void {
  const work = waiting.shift();
  if (waiting.length > 0) setImmediate(runFirst);
  work?.();
}

/** Splits long work into turns: between its steps it awaits `next`, which is undefined until the time is up. */
export class Turns {
  #until = performance.now() + TURN_MS;

  next(): Promise<void> | undefined {
    if (performance.now() < this.#until) return undefined;
    return new Promise((resolve) => {
      inLaterTurn(() => {
        this.#until = performance.now() + TURN_MS;
        resolve();
      });
    });
  }
}
