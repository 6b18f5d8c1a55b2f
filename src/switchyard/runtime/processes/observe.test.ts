import { describe, expect, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { outcomeOf, runningYard } from '../../../../test/helpers/yard-services.ts';
import { shapeProgram } from '../../../../test/servers/shapes/watch.ts';
import { bootId } from '../../../process/index.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { observeServices } from './observe.ts';

const WEB = '[services.web]\ncommand = "node server.mjs"\n';

describe('observing services', () => {
  test('finds all processes of a running service, whatever its record lacks', async () => {
    const yard = await runningYard(WEB);
    await yard.up();
    const record = yard.services()['current::web']!;
    const pids = yard.alive().sort();
    const variants: Partial<ServiceRecord>[] = [
      {},
      { pid: null },
      { process_started_at: null },
      { boot_id: 'another' },
      { pid: 1 },
      { process_started_at: record.process_started_at! + 1_000_000 },
      { process_started_at: 1 },
    ];
    for (const change of variants) {
      const [observed] = observeServices([{ ...record, ...change }]);
      expect(observed).toMatchObject({ status: 'running', root: { pid: record.pid } });
      expect([...observed!.pids].sort()).toEqual(pids);
    }
  });

  test('does not trust a pid without a cookie, nor a cookie without a carrier', async () => {
    const yard = await runningYard(WEB);
    await yard.up();
    const { cookie, ...record } = yard.services()['current::web']!;
    const life = (change: Partial<ServiceRecord>) => observeServices([{ ...record, ...change }])[0]?.status;
    expect(cookie).toMatch(/^[0-9a-f]{8}\.[0-9a-f]{32}$/);
    expect(life({})).toBe('unverified');
    expect(life({ process_started_at: null })).toBe('unverified');
    expect(life({ process_started_at: record.process_started_at! - 1 })).toBe('stale');
    expect(life({ boot_id: 'another' })).toBe('stale');
    expect(life({ cookie: `${cookie}x` })).toBe('unverified');
    expect(life({ pid: null, cookie: `${cookie}x` })).toBe('stale');
    expect(life({ pid: null })).toBe('stale');
  });

  test('does not consider a service gone that was started in another container', async () => {
    const yard = await runningYard(WEB);
    await yard.up();
    await yard.kill('web');
    const record = yard.services()['current::web']!;
    const life = (change: Partial<ServiceRecord>) => observeServices([{ ...record, ...change }])[0]?.status;
    expect(life({})).toBe('stale');
    expect(life({ pid_namespace: 'pid:[1]' })).toBe('unverified');
    expect(life({ pid_namespace: 'pid:[1]', pid: null })).toBe('unverified');
    expect(life({ pid_namespace: 'pid:[1]', boot_id: 'another' })).toBe('stale');
  });

  test('finds a service whose first process is gone', async () => {
    const yard = await runningYard(
      `[services.web]\ncommand = "node ${shapeProgram} setsid-orphan -- node server.mjs"\n`,
    );
    const web = outcomeOf(await yard.up(), 'web');
    await until(() => !yard.alive().includes(web.pid!));
    const [observed] = observeServices([yard.services()['current::web']!]);
    expect(observed).toMatchObject({ status: 'running' });
    expect([...observed!.pids].sort()).toEqual(yard.alive().sort());
    expect(observed!.root?.pid).toBe(observed!.pids[0]);
  });

  test('distinguishes a stopped service from a running one in one snapshot', async () => {
    const yard = await runningYard(`${WEB}[services.api]\ncommand = "node server.mjs"\n`);
    await yard.up();
    await yard.kill('api');
    const records = Object.values(yard.services());
    expect(observeServices(records).map(({ record, status }) => [record.service, status])).toEqual([
      ['api', 'stale'],
      ['web', 'running'],
    ]);
    expect(records[0]!.boot_id).toBe(bootId());
    expect(observeServices([])).toEqual([]);
  });
});
