/** How long work on what a stranger sent may go on before everything else gets a turn, in milliseconds. */
export const TURN_MS = 5;

const waiting: (() => void)[] = [];

/**
 * Calls back in a later turn of the event loop. Only one of all callbacks runs in each turn, so that many of them hold up
 * the rest no longer than one does.
 */
export function inLaterTurn(work: () => void): void {
  // Twice: what is set while input is read runs right after that, before other input is looked for.
  if (waiting.push(work) === 1) setImmediate(() => setImmediate(runFirst));
}

function runFirst(): void {
  const work = waiting.shift();
  if (waiting.length > 0) setImmediate(runFirst);
  work?.();
}

/** Cuts long work into turns: between its steps it awaits `next`, which is undefined until its time is up. */
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
