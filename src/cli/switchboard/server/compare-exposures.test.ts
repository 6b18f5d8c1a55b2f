import { expect, test } from 'vitest';
import { recommend, type Compared, type ExposureCost } from './compare-exposures.ts';

/** The tokens at the start of every conversation, and for finding the tools of two servers. */
function costs(of: Readonly<Record<Compared, readonly [number, number]>>): ExposureCost[] {
  return Object.entries(of).map(([exposure, [start, task]]) => ({
    exposure: exposure as Compared,
    start,
    task,
  }));
}

test('a few small tools are best flat, several servers as suites, dozens by search', () => {
  const one = costs({ flat: [310, 310], suite: [110, 330], search: [141, 261], code: [167, 287] });
  // Measured with real servers: filesystem, github and slack, 12 servers, and 37.
  const three = costs({ flat: [6162, 6162], suite: [248, 1751], search: [141, 381], code: [167, 407] });
  const twelve = costs({ flat: [37_293, 37_293], suite: [894, 1994], search: [197, 437], code: [223, 463] });
  const dozens = costs({
    flat: [149_980, 149_980],
    suite: [2812, 4435],
    search: [304, 544],
    code: [330, 570],
  });
  expect([one, three, twelve, dozens].map(recommend)).toEqual(['flat', 'suite', 'suite', 'search']);
});
