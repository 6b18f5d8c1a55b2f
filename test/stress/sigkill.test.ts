import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { waitUntilGone } from '../helpers/processes.ts';
import { startEveryProcessShape } from '../helpers/process-shapes.ts';
import { nodeServer } from '../helpers/temp-project.ts';

test('SIGKILL with servers of every shape, 20 times in a row: none left after 2 s', async () => {
  for (let round = 1; round <= 20; round++) {
    const { client } = await startEveryProcessShape();
    await client.kill('SIGKILL');
    await waitUntilGone(client.marker, 2000);
  }
});

test('SIGKILL at random moments while servers start, 40 times: none left after 2 s', async () => {
  for (let round = 1; round <= 40; round++) {
    const { client, call } = await startGateway({
      a: nodeServer('stubborn'),
      b: nodeServer('stubborn'),
      c: nodeServer('stubborn'),
    });
    for (const name of ['a', 'b', 'c']) call(name, 'pid').catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 200));
    await client.kill('SIGKILL');
    await waitUntilGone(client.marker, 2000);
  }
  expect.assertions(0);
});
