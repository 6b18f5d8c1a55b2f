import { expect, test } from 'vitest';
import { chosenSeed, runModel } from '../helpers/management-model.ts';

test('60 operations at random on eight servers, 16 calls in flight: all as the model says, nothing left', async () => {
  const { answered, refused } = await runModel({ seed: chosenSeed(60), operations: 60, callers: 16 });
  expect(answered).toBeGreaterThan(50);
  expect(refused).toBeGreaterThan(0);
});
