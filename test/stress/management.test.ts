import { expect, test } from 'vitest';
import { chosenSeed, runModel } from '../helpers/management-model.ts';
import type { Mux } from '../helpers/management.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { until } from '../helpers/until.ts';

const memory = ({ client }: Mux): number => rss(client.pid!);

test('1,000 operations at random on eight servers, 16 calls in flight: all as the model says, nothing left, memory flat', async () => {
  let warm = 0;
  let files = 0;
  const run = await runModel({
    seed: chosenSeed(Math.floor(Math.random() * 2 ** 31)),
    operations: 1000,
    callers: 16,
    warmUp: 100,
    atRest: async (mux, when) => {
      if (when === 'warm') {
        warm = memory(mux);
        files = openFiles(mux.client.pid!);
        return;
      }
      // What is garbage goes when there is time.
      await until(() => memory(mux) - warm < 48, {
        what: 'the memory to be given back',
        seen: () => `${memory(mux)} MiB after ${warm} MiB`,
        deadline: 20_000,
      });
      // No server is left, so there are fewer than when some ran.
      expect(openFiles(mux.client.pid!)).toBeLessThanOrEqual(files);
    },
  });
  console.log(JSON.stringify(run));
  expect(run.answered).toBeGreaterThan(5000);
  expect(run.refused).toBeGreaterThan(50);
});
