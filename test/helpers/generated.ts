/**
 * Generated input, for as long as requested:
 *
 *   ATTACK_MINUTES   for all properties of the attack project together; default 4
 *   ATTACK_SEED      the seed that a run printed, to repeat it; default a new one
 */
import fc from 'fast-check';

/** How many tests share the time. */
const SHARES = 15;

const MINUTES = Number(process.env.ATTACK_MINUTES ?? 4);
const SEED = Number(process.env.ATTACK_SEED ?? Date.now() % 0x7fffffff);

/** Checks the property on generated input until its share of the time is used up, and prints how to repeat it. */
export async function tryGenerated<T>(
  input: fc.Arbitrary<T>,
  property: (input: T) => Promise<void>,
): Promise<void> {
  let tries = 0;
  let last: Promise<void> | undefined;
  const counted = fc.asyncProperty(input, (value) => {
    tries++;
    last = property(value);
    return last;
  });
  try {
    await fc.assert(counted, {
      seed: SEED,
      numRuns: Number.MAX_SAFE_INTEGER,
      interruptAfterTimeLimit: (MINUTES * 60_000) / SHARES,
    });
    // The check that was running when the time was up.
    await last;
  } finally {
    console.log(`${tries} inputs; ATTACK_SEED=${SEED}`);
  }
}
