import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type ListenOptions } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readyShape, shapeArgs } from '../../test/servers/shapes/watch.ts';
import { heldBy, holdersFromLsof, portHolders } from './port-holders.ts';

const hasIpv6 = await listens({ host: '::1' });

async function listens(options: ListenOptions): Promise<boolean> {
  const server = createServer().listen({ port: 0, ...options });
  const works = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  server.close();
  return works;
}

async function listener(options: ListenOptions): Promise<number> {
  const server = createServer().listen({ port: 0, ...options });
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe.skipIf(process.platform === 'win32')('who listens is found', () => {
  test('on each address of IPv4', async () => {
    for (const host of ['127.0.0.1', '0.0.0.0', ...(process.platform === 'linux' ? ['127.1.2.3'] : [])]) {
      const port = await listener({ host });
      expect(portHolders([port])).toMatchObject([{ port, pid: process.pid }]);
      if (process.platform === 'linux') expect(portHolders([port])[0]!.address).toBe(host);
    }
  });

  test.runIf(hasIpv6)('on each address of IPv6, for both families or for one', async () => {
    for (const [host, options] of [
      ['::1', {}],
      ['::', {}],
      ['::', { ipv6Only: true }],
      ['::ffff:127.0.0.1', {}],
    ] as const) {
      const port = await listener({ host, ...options });
      expect(portHolders([port])).toMatchObject([{ port, pid: process.pid }]);
      if (process.platform === 'linux') expect(portHolders([port])[0]!.address).toBe(host);
    }
  });

  test.runIf(hasIpv6)('once for each socket of a port', async () => {
    const port = await listener({ host: '127.0.0.1' });
    await listener({ host: '::1', port });
    expect(portHolders([port]).map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
  });

  test('by process, on all their ports', async () => {
    const ports = [await listener({ host: '127.0.0.1' }), await listener({ host: '0.0.0.0' })];
    expect(heldBy([process.pid]).map(({ port }) => port)).toEqual(expect.arrayContaining(ports));
    if (hasIpv6) ports.push(await listener({ host: '::1' }));
    expect(heldBy([1, process.pid]).map(({ port }) => port)).toEqual(expect.arrayContaining(ports));
    expect(heldBy([1, process.ppid]).filter(({ port }) => ports.includes(port))).toEqual([]);
    expect(heldBy([])).toEqual([]);
  });

  test('for several ports at once, but not for a free port or a connection', async () => {
    const ports = [await listener({ host: '127.0.0.1' }), await listener({ host: '127.0.0.1' })];
    expect(
      portHolders([...ports, 1])
        .map(({ port }) => port)
        .sort(),
    ).toEqual([...ports].sort());
    expect(portHolders([])).toEqual([]);
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    expect(portHolders([port])).toEqual([]);
  });

  test.runIf(process.platform === 'linux')(
    'in a descendant, among the given pids first, and also when they do not hold it',
    async () => {
      const script = `
        const server = require('net').createServer().listen(0, '127.0.0.1', () => {
          console.error('port ' + server.address().port);
          console.error('ready leaf ' + process.pid);
        });`;
      const child = spawn(process.execPath, shapeArgs('npm-like', process.execPath, '-e', script), {
        stdio: ['ignore', 'ignore', 'pipe'],
        detached: true,
      });
      onTestFinished(() => void process.kill(-child.pid!, 'SIGKILL'));
      let text = '';
      child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const ready = await readyShape(child.stderr);
      const port = Number(/port (\d+)/.exec(text)![1]);
      const leaf = ready.find(({ role }) => role === 'leaf')!.pid;
      expect(leaf).not.toBe(child.pid);
      const pids = ready.map(({ pid }) => pid);
      for (const among of [[], pids, [process.pid, 2 ** 22 + 1]]) {
        expect(portHolders([port], among)).toEqual([{ port, address: '127.0.0.1', pid: leaf }]);
      }
    },
  );

  test.runIf(process.platform === 'linux')('among the given pids, when others share the socket', async () => {
    // The shell holds what it inherited, and so do all its children.
    const server = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { fd } = (server as unknown as { _handle: { fd: number } })._handle;
    const child = spawn('sleep', ['60'], { stdio: ['ignore', 'ignore', 'ignore', fd] });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(portHolders([port], [child.pid!])).toMatchObject([{ pid: child.pid }]);
    expect(portHolders([port], [process.pid])).toMatchObject([{ pid: process.pid }]);
  });
});

test('the output of lsof is parsed, with wildcards and IPv6', () => {
  const text = 'p501\nf21\nn127.0.0.1:3000\nf22\nn[::1]:3000\np77\nf5\nn*:5432\nf6\nn*:5433\n';
  expect(holdersFromLsof(text)).toEqual([
    { port: 3000, address: '127.0.0.1', pid: 501 },
    { port: 3000, address: '::1', pid: 501 },
    { port: 5432, address: '::', pid: 77 },
    { port: 5433, address: '::', pid: 77 },
  ]);
  expect(holdersFromLsof('')).toEqual([]);
});

test('the output of lsof of macOS is parsed, with descriptors, and of newer versions, without', () => {
  // The Control Center of a Mac, which listens for AirPlay on IPv4 and IPv6.
  const recorded = 'p866\nf19\nn*:5000\nf20\nn*:7000\nf21\nn*:7000\nf22\nn*:5000\n';
  const listeners = [5000, 7000, 7000, 5000].map((port) => ({ port, address: '::', pid: 866 }));
  expect(holdersFromLsof(recorded)).toEqual(listeners);
  expect(holdersFromLsof(recorded.replace(/^f\d+\n/gm, ''))).toEqual(listeners);
});
