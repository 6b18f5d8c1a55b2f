import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { freeRange } from '../../../../test/helpers/yard-services.ts';
import { ownIdentity } from '../../../process/index.ts';
import { homeOf, makeHome, type Home } from '../../records/state/home.ts';
import { allocatePorts, preferredPort, type PortRules } from './allocate.ts';
import { readLease, takeLease } from './lease.ts';

const range = await freeRange(10);
let home: Home;
let rules: PortRules;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'yard-ports-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  home = homeOf({ SWITCHYARD_HOME: folder });
  rules = { home, root: '/shop', range, avoid: new Set(), isAbandoned: () => false };
});

const wish = (key: string, before?: number) => ({ key, cookie: `cookie of ${key}`, before });
const next = (port: number) => (port === range.end ? range.start : port + 1);
const preferred = (key: string) => preferredPort('/shop', key, range);

async function listen(port: number): Promise<Server> {
  const server = createServer();
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  await new Promise<void>((resolve) => server.listen(port, '::1', resolve));
  return server;
}

describe('ports', () => {
  test('are the same for the same service every time, within the range', async () => {
    const ports = await allocatePorts([wish('main::web'), wish('main::api')], rules);
    expect(ports.get('main::web')).toBe(preferred('main::web'));
    expect(readLease(home, preferred('main::web'))).toMatchObject({
      key: 'main::web',
      root: '/shop',
      cookie: 'cookie of main::web',
      holder: ownIdentity(),
    });
    for (const key of ['a', 'b', 'c']) {
      expect(preferred(key)).toBeGreaterThanOrEqual(range.start);
      expect(preferred(key)).toBeLessThanOrEqual(range.end);
    }
    expect(preferredPort('/other', 'main::web', { start: 20_000, end: 29_999 })).not.toBe(
      preferredPort('/shop', 'main::web', { start: 20_000, end: 29_999 }),
    );
  });

  test('skip those that are avoided, leased, or in use', async () => {
    const first = preferred('web');
    makeHome(home);
    await listen(first);
    takeLease(home, next(first), { key: 'x', root: '/other', cookie: 'c', holder: ownIdentity(), at: 1 });
    const avoid = new Set([next(next(first))]);
    const ports = await allocatePorts([wish('web')], { ...rules, avoid });
    expect(ports.get('web')).toBe(next(next(next(first))));
  });

  test('prefer the previous one of the service', async () => {
    const before = next(next(preferred('web')));
    expect((await allocatePorts([wish('web', before)], rules)).get('web')).toBe(before);
    // Another service does not take it in the meantime.
    const ports = await allocatePorts([wish('api'), wish('web', preferred('api'))], rules);
    expect(ports.get('web')).toBe(preferred('api'));
    expect((await allocatePorts([wish('tool', 80)], rules)).get('tool')).not.toBe(80);
  });

  test('take over the lease of an earlier start of the same service, a broken one and an abandoned one', async () => {
    makeHome(home);
    const first = preferred('web');
    takeLease(home, first, { key: 'web', root: '/shop', cookie: 'earlier', holder: ownIdentity(), at: 1 });
    expect((await allocatePorts([wish('web')], rules)).get('web')).toBe(first);
    expect(readLease(home, first)).toMatchObject({ cookie: 'cookie of web' });

    writeFileSync(join(home.ports, String(first)), '{');
    expect((await allocatePorts([wish('web')], rules)).get('web')).toBe(first);

    rmSync(join(home.ports, String(first)));
    takeLease(home, first, { key: 'web', root: '/gone', cookie: 'gone', holder: ownIdentity(), at: 1 });
    const asked: string[] = [];
    const isAbandoned = ({ cookie }: { cookie: string }) => asked.push(cookie) > 0;
    expect((await allocatePorts([wish('web')], { ...rules, isAbandoned })).get('web')).toBe(first);
    expect(asked).toEqual(['gone']);
  });

  test('are an error if none is left, and nothing stays leased', async () => {
    const wishes = Array.from({ length: 11 }, (_, index) => wish(`s${index}`));
    await expect(allocatePorts(wishes, rules)).rejects.toThrow(
      `No free TCP ports found in ${range.start}-${range.end}.`,
    );
    expect(readdirSync(home.ports)).toEqual([]);
  });

  test('are never given twice to concurrent requests', async () => {
    const given = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        allocatePorts([wish('web')], { ...rules, root: `/project${index}` }),
      ),
    );
    expect(new Set(given.map((ports) => ports.get('web'))).size).toBe(10);
  });
});
