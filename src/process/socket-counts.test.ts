import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { createSocketCounter } from './socket-counts.ts';

test.runIf(existsSync('/proc/net/sockstat6')).each([
  { host: '127.0.0.1', family: 'v4' as const },
  { host: '::1', family: 'v6' as const },
  { host: '::', family: 'v6' as const },
])('a listener on $host is one more in $family', async ({ host, family }) => {
  const counter = createSocketCounter();
  onTestFinished(() => counter.close());
  // Others on this machine come and go: it has to be right once.
  for (let attempt = 0; attempt < 50; attempt++) {
    const before = counter.count();
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    const after = counter.count();
    server.close();
    if (after[family] === before[family]! + 1) return;
  }
  expect.unreachable();
});
