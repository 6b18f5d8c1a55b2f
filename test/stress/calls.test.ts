import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

test('40,000 calls over four servers, 200 in flight, one of them crashing: each answered once, memory flat', async () => {
  const { client, call } = await startGateway({
    a: nodeServer('echo'),
    b: nodeServer('half-line', '--whole'),
    c: nodeServer('noisy'),
    d: nodeServer('exit-on-third', '--every=500'),
  });
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
  let next = 0;
  let settled = 0;
  const worker = async (): Promise<void> => {
    while (next < 40_000) {
      const index = next++;
      const server = 'abcd'[index % 4]!;
      const response = await call(server, 'echo', { text: `text ${index}` }, { deadline: 60_000 });
      settled++;
      if (server === 'd' && response.result.isError === true) continue;
      expect(textOf(response)).toBe(`text ${index}`);
    }
  };
  const warm = rss();
  await Promise.all(Array.from({ length: 200 }, worker));
  expect(settled).toBe(40_000);
  expect(client.ledger.doubled()).toEqual([]);
  expect(client.ledger.unanswered()).toEqual([]);
  expect(rss() - warm).toBeLessThan(64);
});
