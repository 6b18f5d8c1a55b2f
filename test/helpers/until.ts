import { setTimeout as sleep } from 'node:timers/promises';

export interface UntilOptions {
  /** When to give up, in milliseconds. Default 10 000. */
  readonly deadline?: number;
  /** Pause between two looks, in milliseconds. Default 20. */
  readonly every?: number;
  /** What is waited for, for the error: "the child to be listed". */
  readonly what?: string;
  /** Added to the error: what was seen instead. */
  readonly seen?: () => string;
}

/** Checks the condition repeatedly until it returns something truthy, and returns that. Throws at the deadline. */
export async function until<T>(
  condition: () => T | Promise<T>,
  { deadline = 10_000, every = 20, what = 'the condition', seen }: UntilOptions = {},
): Promise<NonNullable<T>> {
  const end = performance.now() + deadline;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) {
      throw new Error(
        `Waited ${deadline} ms for ${what}.${seen === undefined ? '' : ` Seen instead: ${seen()}`}`,
      );
    }
    await sleep(every);
  }
}
