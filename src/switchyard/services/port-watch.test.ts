import { existsSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../test/helpers/yard-home.ts';
import { openPortWatch, type PortWatch } from './port-watch.ts';

const tells = existsSync('/proc/net/sockstat');
const hasIpv6 = existsSync('/proc/net/sockstat6');

function open(signal?: AbortSignal): PortWatch {
  const portWatch = openPortWatch(signal);
  onTestFinished(() => portWatch.close());
  return portWatch;
}

async function listen(port: number, host = '127.0.0.1'): Promise<void> {
  const server = createServer().listen(port, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
}

/** Others on this machine may go at the moment one comes, and then it is not seen; not twenty times in a row. */
async function seen(port: number, waiting: ReturnType<PortWatch['add']>): Promise<string | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const address = await waiting.untilListening(1, 500);
    if (address !== undefined) return address;
    await listen(await freePort());
    if (hasIpv6) await listen(await freePort(), '::1');
  }
  return expect.unreachable(`nobody was seen on ${port}`);
}

test.runIf(tells).each(['127.0.0.1', '0.0.0.0', ...(hasIpv6 ? ['::1', '::'] : [])])(
  'reports a new listener on %s',
  async (host) => {
    const portWatch = open();
    const port = await freePort();
    const waiting = portWatch.add(port, true);
    portWatch.reset();
    const address = seen(port, waiting);
    await listen(port, host);
    expect(await address).toBe(host);
  },
);

test.runIf(tells)('reports to each waiter only its own port', async () => {
  const portWatch = open();
  const ports = [await freePort(), await freePort(), await freePort()];
  portWatch.reset();
  const [first, second, third] = ports.map((port) => ({ port, waiting: portWatch.add(port, true) }));
  await listen(third!.port);
  expect(await seen(third!.port, third!.waiting)).toBe('127.0.0.1');
  expect(await first!.waiting.untilListening(1, 50)).toBeUndefined();
  // Who comes while nobody rests is told of at the next rest.
  await listen(first!.port);
  await listen(second!.port);
  expect(await seen(first!.port, first!.waiting)).toBe('127.0.0.1');
  expect(await seen(second!.port, second!.waiting)).toBe('127.0.0.1');
});

test.runIf(tells)('ignores existing listeners and sockets that close', async () => {
  const portWatch = open();
  const there = await freePort();
  const port = await freePort();
  await listen(there);
  const leaving = createServer().listen(0, '127.0.0.1');
  await once(leaving, 'listening');
  portWatch.add(there, false);
  const waiting = portWatch.add(port, true);
  portWatch.reset();
  const address = seen(port, waiting);
  await listen(port);
  leaving.close();
  expect(await address).toBe('127.0.0.1');
});

test('ends after the longest time without a listener, or after the shortest without socket counts', async () => {
  const portWatch = open();
  expect(portWatch.isSupported).toBe(tells);
  const waiting = portWatch.add(await freePort(), true);
  const began = performance.now();
  expect(await waiting.untilListening(20, 300)).toBeUndefined();
  expect(performance.now() - began).toBeGreaterThan(tells ? 290 : 10);
});

test('is ended immediately by wake, and by the signal', async () => {
  const controller = new AbortController();
  const portWatch = open(controller.signal);
  const [one, two] = [portWatch.add(await freePort(), true), portWatch.add(await freePort(), true)];
  const began = performance.now();
  const ended = Promise.all([one.untilListening(20_000, 20_000), two.sleep(20_000)]);
  one.wake();
  await pause(5);
  controller.abort();
  await ended;
  // News that came while it did not wait is not lost.
  two.wake();
  await two.sleep(20_000);
  expect(performance.now() - began).toBeLessThan(5000);
});
