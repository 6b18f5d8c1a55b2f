import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { runningYard, spawnUp, type RunningYard } from '../../../../test/helpers/yard-services.ts';
import { newCookie } from '../../runtime/processes/cookie.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { status } from '../status/status.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const FIVE = NAMES.map((name) => `[services.${name}]\ncommand = "node server.mjs"\n`).join('');

/** Waits until every living process is known. A process that is being started shows its cookie a moment later. */
async function allAreKnown(yard: RunningYard): Promise<void> {
  await until(
    () => {
      const known = observeServices(Object.values(yard.services())).flatMap(({ pids }) => pids);
      return yard.alive().every((pid) => known.includes(pid));
    },
    { what: 'all processes to be known' },
  );
}

describe('an up that is killed', () => {
  test('at any moment leaves nothing that the next command does not find', async () => {
    const yard = await runningYard(FIVE);
    await yard.up({ services: ['a'] });
    await yard.down();
    for (let round = 0; round < 12; round++) {
      const child = spawnUp(yard);
      const exit = once(child, 'exit');
      // From before the project is first read until all services are started.
      await sleep(60 + round * 25);
      child.kill('SIGKILL');
      await exit;
      await allAreKnown(yard);
      const { services } = await status(yard.context, {});
      const running = services.filter((service) => service.status === 'running');
      expect(running.every(({ pid }) => typeof pid === 'number')).toBe(true);
      await yard.down();
      expect(yard.alive()).toEqual([]);
      expect(yard.services()).toEqual({});
    }
    expect((await yard.up()).ok).toBe(true);
    await yard.down();
    expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
  }, 90_000);

  test('between its intent and the pids is repaired by the next up', async () => {
    const yard = await runningYard(FIVE);
    await yard.up({ services: ['a'] });
    await yard.down();
    const state = join(yard.home, 'state.json');
    let caught = false;
    for (let round = 0; round < 10 && !caught; round++) {
      const child = spawnUp(yard);
      const exit = once(child, 'exit');
      await until(() => existsSync(state) && readFileSync(state, 'utf8').includes('"pid": null'), {
        every: 0,
      });
      child.kill('SIGKILL');
      await exit;
      caught = Object.values(yard.services()).some(({ pid }) => pid === null);
      if (!caught) await yard.down();
    }
    expect(caught).toBe(true);
    const before = yard.alive();
    const result = await yard.up();
    expect(result.ok).toBe(true);
    // Running services keep running; nothing runs twice.
    expect(before.every((pid) => yard.alive().includes(pid))).toBe(true);
    expect(yard.alive()).toHaveLength(2 * NAMES.length);
    expect(Object.values(yard.services()).every(({ pid }) => pid !== null)).toBe(true);
  });

  test('before anything was started leaves a record that the next command drops', async () => {
    const yard = await runningYard(FIVE);
    await yard.record({
      port: 21_997,
      branch: 'current',
      service: 'a',
      cookie: newCookie(yard.context.home),
    });
    const { services } = await status(yard.context, {});
    expect(services).toMatchObject([{ service: 'a', status: 'stale', pid: null }]);
    expect((await yard.down()).messages).toEqual(['no matching running services']);
    expect(yard.services()).toEqual({});
  });
});
