import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { daemonProgram } from '../../../../test/helpers/yard-home.ts';
import { ask, outcomeOf, runningYard, type RunningYard } from '../../../../test/helpers/yard-services.ts';
import { restart, type RestartOptions } from './restart.ts';

const TWO = `
[services.web]
command = "node server.mjs {mode}"
[services.api]
command = "node server.mjs"
[profiles.test]
env = { MODE = "test" }
`;

const again = (yard: RunningYard, options: Partial<RestartOptions> = {}) =>
  restart(yard.context, { services: [], program: daemonProgram(), ...options });

describe('restart', () => {
  test('stops running services and starts them again, on the same port and with the same profile', async () => {
    const yard = await runningYard(TWO);
    const first = await yard.up({ profile: 'test' });
    const result = await again(yard, { services: ['web'] });
    expect(result).toMatchObject({ ok: true, action: 'restart', services: ['web'] });
    expect(result.outcomes).toHaveLength(1);
    const [before, after] = [outcomeOf(first, 'web'), outcomeOf(result, 'web')];
    expect(after).toMatchObject({ result: 'ready', port: before.port, url: before.url });
    expect(after.pid).not.toBe(before.pid);
    expect((await ask(after.port)).argv).toEqual(['test']);
    expect(yard.services()['current::api']!.pid).toBe(outcomeOf(first, 'api').pid);
    expect(yard.alive('web')).toHaveLength(2);
    // The log is that of the new run; the previous one is kept.
    await until(() => readFileSync(after.log_file!, 'utf8') === 'listening\n');
    expect(existsSync(after.log_file!.replace('.log', '.1.log'))).toBe(true);
  });

  test('without names applies to all recorded services, including exited ones', async () => {
    const yard = await runningYard(TWO);
    await yard.up();
    await yard.kill('web');
    const result = await again(yard);
    expect(result.outcomes.map(({ service, result: how }) => [service, how])).toEqual([
      ['web', 'ready'],
      ['api', 'ready'],
    ]);
  });

  test('starts a named service that does not run, and reports if there is none', async () => {
    const yard = await runningYard(TWO);
    expect((await again(yard)).messages).toEqual(['no matching running services']);
    expect(outcomeOf(await again(yard, { services: ['api'] }), 'api').result).toBe('ready');
    await expect(again(yard, { services: ['x'] })).rejects.toThrow('Unknown service(s): x.');
  });

  test('of a service that no longer starts says why, and keeps its record', async () => {
    const yard = await runningYard(TWO);
    await yard.up({ services: ['api'] });
    writeFileSync(join(yard.root, 'server.mjs'), 'console.error("broken"); process.exit(9);');
    const api = outcomeOf(await again(yard, { services: ['api'] }), 'api');
    expect(api).toMatchObject({ result: 'exited', exit_code: 9, details: ['broken'] });
    expect(Object.keys(yard.services())).toEqual(['current::api']);
  });
});
