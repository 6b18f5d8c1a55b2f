/** The statistics that say whether a soak has seen growth: never wrong by being imprecise, seldom by chance. */
import { expect, test } from 'vitest';
import { compareGrowth, growthPerHour } from '../../scripts/lib/growth.mjs';

const HOUR = 3_600_000;
const EVERY = 30_000;

/** Normally distributed numbers, the same every time. */
function* noise(seed: number) {
  let state = seed;
  const uniform = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (;;) yield Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

interface SeriesOptions {
  readonly slope: number;
  readonly minutes?: number;
  readonly deviation?: number;
  /** How much of a deviation is left at the next measurement. Default 0. */
  readonly memory?: number;
  readonly seed?: number;
}

function series({ slope, minutes = 40, deviation = 0, memory = 0, seed = 1 }: SeriesOptions) {
  const next = noise(seed);
  let apart = 0;
  return Array.from({ length: (minutes * 60_000) / EVERY }, (_, index) => {
    apart = memory * apart + (deviation === 0 ? 0 : deviation * next.next().value!);
    return { at: index * EVERY, value: 80 + (slope * index * EVERY) / HOUR + apart };
  });
}

/** How many of so many runs end so, by verdict. */
function verdicts(limit: number, options: SeriesOptions, runs = 400) {
  const counts = { grows: 0, steady: 0, 'not shown': 0 };
  for (let seed = 1; seed <= runs; seed++)
    counts[compareGrowth(growthPerHour(series({ ...options, seed: seed * 7919 })), limit)]++;
  return { grows: counts.grows / runs, steady: counts.steady / runs, unclear: counts['not shown'] / runs };
}

test('a straight line has its slope and no error', () => {
  const { slope, error } = growthPerHour(series({ slope: 3 }));
  expect(slope).toBeCloseTo(3, 6);
  expect(error).toBeLessThan(1e-6);
  // At times that are not evenly spaced, too.
  const points = series({ slope: -2 }).filter((_, index) => index % 7 !== 0);
  expect(growthPerHour(points).slope).toBeCloseTo(-2, 6);
});

test('the error of independent measurements is the one that theory gives', () => {
  const errors = Array.from({ length: 200 }, (_, seed) =>
    growthPerHour(series({ slope: 0, deviation: 0.3, seed: seed * 104_729 + 1 })),
  );
  // In theory 0.3 / sqrt(Sxx) for 80 measurements over 40 minutes.
  const spread = 80 * ((80 ** 2 - 1) / 12) * (EVERY / HOUR) ** 2;
  const mean = errors.reduce((sum, { error }) => sum + error, 0) / errors.length;
  expect(mean / (0.3 / Math.sqrt(spread))).toBeGreaterThan(0.95);
  expect(mean / (0.3 / Math.sqrt(spread))).toBeLessThan(1.25);
});

test.each([
  ['independent', 0, 0.92],
  ['correlated', 0.8, 0.88],
])('the true slope is within two errors in most runs: %s', (_, memory, least) => {
  const runs = Array.from({ length: 400 }, (__, seed) =>
    growthPerHour(series({ slope: 1.5, deviation: 0.2, memory, seed: (seed + 1) * 7919 })),
  );
  const within = runs.filter(({ slope, error }) => Math.abs(slope - 1.5) <= 2 * error);
  expect(within.length / runs.length).toBeGreaterThan(least);
});

test('what grows is told from what does not, where the measurement allows it', () => {
  const deviation = 0.2;
  expect(verdicts(1, { slope: 0, deviation }).steady).toBe(1);
  expect(verdicts(1, { slope: 2, deviation }).grows).toBe(1);
  // At the limit itself there is no telling.
  expect(verdicts(1, { slope: 1, deviation }).unclear).toBeGreaterThan(0.9);
});

test('noise makes no growth, and hides none', () => {
  const loud = { deviation: 4, memory: 0.5 };
  expect(verdicts(1, { slope: 0, ...loud }).grows).toBeLessThan(0.08);
  // A steady process may not be shown to be one; a leak is never shown to be none.
  expect(verdicts(1, { slope: 0, ...loud }).unclear).toBeGreaterThan(0.8);
  expect(verdicts(1, { slope: 20, ...loud }).steady).toBe(0);
});

test('too few independent measurements say nothing', () => {
  expect(growthPerHour(series({ slope: 5, minutes: 1 })).error).toBe(Infinity);
  // One step: every value is like the one before.
  const step = series({ slope: 0 }).map(({ at }, index) => ({ at, value: index < 40 ? 80 : 90 }));
  expect(compareGrowth(growthPerHour(step), 1)).toBe('not shown');
  expect(compareGrowth({ slope: 0, error: Infinity }, 1)).toBe('not shown');
  expect(compareGrowth({ slope: NaN, error: Infinity }, 1)).toBe('not shown');
});

test('a run that is just over or under by two errors is decided', () => {
  expect(compareGrowth({ slope: 1.21, error: 0.1 }, 1)).toBe('grows');
  expect(compareGrowth({ slope: 1.19, error: 0.1 }, 1)).toBe('not shown');
  expect(compareGrowth({ slope: 0.79, error: 0.1 }, 1)).toBe('steady');
  expect(compareGrowth({ slope: 0.81, error: 0.1 }, 1)).toBe('not shown');
});
