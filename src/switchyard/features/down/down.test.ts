import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { endProcess } from '../../../../test/helpers/yard-home.ts';
import { ask, outcomeOf, runningYard } from '../../../../test/helpers/yard-services.ts';
import { isAlive, shapeProgram, SHAPES } from '../../../../test/servers/shapes/watch.ts';
import { bootId } from '../../../process/index.ts';
import { observeServices } from '../../runtime/processes/observe.ts';

const WEB = '[services.web]\ncommand = "node server.mjs"\n';

/** A process unrelated to any service; a signal ends it. */
function stranger(): { pid: number; startTime: number } {
  const child = spawn('sleep', ['1000'], { stdio: 'ignore', detached: true });
  atTestEnd(() => {
    endProcess(child.pid!);
    return Promise.resolve();
  });
  // The twenty-second field, counted from after the name, which may contain spaces.
  const stat = readFileSync(`/proc/${child.pid!}/stat`, 'latin1');
  return { pid: child.pid!, startTime: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) };
}

describe('down', () => {
  test('reports the end of each service when it happens, with its duration', async () => {
    const yard = await runningYard(
      `[services.deaf]\ncommand = "node deaf.mjs"\n[services.slow]\ncommand = "node slow.mjs"\n${WEB}`,
    );
    const slow = `process.on('SIGTERM', () => setTimeout(() => process.exit(), 3000));`;
    writeFileSync(join(yard.root, 'slow.mjs'), `${slow}\nawait import('./server.mjs');`);
    const deaf = `process.on('SIGTERM', () => {});`;
    writeFileSync(join(yard.root, 'deaf.mjs'), `${deaf}\nawait import('./server.mjs');`);
    expect((await yard.up()).ok).toBe(true);
    const ends: string[] = [];
    const { outcomes } = await yard.down({
      onEvent(event) {
        if (event.kind === 'stopped') ends.push(event.service);
      },
    });
    expect(ends).toEqual(['web', 'slow', 'deaf']);
    expect(outcomes).toMatchObject([
      { service: 'deaf', branch: 'current', result: 'killed' },
      { service: 'slow', branch: 'current', result: 'stopped' },
      { service: 'web', branch: 'current', result: 'stopped' },
    ]);
    const [deafest, slower, web] = outcomes.map(({ took_ms }) => took_ms!);
    expect(web).toBeLessThan(slower!);
    expect(slower).toBeGreaterThanOrEqual(2900);
    expect(slower).toBeLessThan(deafest!);
    expect(deafest).toBeGreaterThanOrEqual(5000);
  });

  test('ends services of every shape, including children that were reparented', async () => {
    const services = SHAPES.map(
      (shape) =>
        `[services.${shape}]\ncommand = "node ${shapeProgram} ${shape} -- node server.mjs"\nready_timeout = 60\n`,
    );
    const yard = await runningYard(services.join(''));
    const started = await yard.up();
    expect(started.messages.join('\n')).not.toContain('not ready');
    expect(started.ok).toBe(true);
    const listeners = await Promise.all(started.outcomes.map(async ({ port }) => (await ask(port)).pid));
    const result = await yard.down();
    expect(yard.alive()).toEqual([]);
    expect(listeners.filter(isAlive)).toEqual([]);
    expect(result).toMatchObject({ ok: true, action: 'down', branch: null, scope: 'all', services: [] });
    expect(result.messages).toContain('ignores-term ignored SIGTERM and was killed');
    expect(result.messages).toContain('stopped double-fork');
    expect(result.messages).toHaveLength(SHAPES.length);
    expect(yard.services()).toEqual({});
    expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
  });

  test('ends npm, its shell and the server behind them', async () => {
    const yard = await runningYard(
      '[services.web]\ncommand = "npm run dev -- --port {port}"\nready_timeout = 60\n[services.web.env]\nnpm_config_update_notifier = "false"\n',
    );
    writeFileSync(join(yard.root, 'package.json'), '{ "scripts": { "dev": "node server.mjs" } }');
    const started = await yard.up();
    expect(started.ok).toBe(true);
    // The shell that records the exit, npm, the shell of npm, and node; npm may have helpers.
    expect(yard.alive().length).toBeGreaterThanOrEqual(3);
    const { pid } = await ask(outcomeOf(started, 'web').port);
    expect((await yard.down()).messages).toEqual(['stopped web']);
    expect(isAlive(pid)).toBe(false);
    expect(yard.alive()).toEqual([]);
  }, 90_000);

  test('after up in the same process counts no zombie as alive', async () => {
    const yard = await runningYard(WEB);
    for (let round = 0; round < 3; round++) {
      expect((await yard.up()).ok).toBe(true);
      expect((await yard.down()).messages).toEqual(['stopped web']);
      expect(yard.alive()).toEqual([]);
    }
  });

  test('stops only what was requested', async () => {
    const yard = await runningYard(`${WEB}[services.api]\ncommand = "node server.mjs"\n`);
    await yard.up();
    expect((await yard.down({ branch: 'other' })).messages).toEqual(['no matching running services']);
    const result = await yard.down({ branch: 'current', services: ['API', 'nobody'] });
    expect(result).toMatchObject({ scope: 'branch', branch: 'current', messages: ['stopped api'] });
    expect(Object.keys(yard.services())).toEqual(['current::web']);
    expect(yard.alive('web')).not.toEqual([]);
  });

  test('removes the record of an exited service, and says how it ended', async () => {
    const yard = await runningYard(`${WEB}[services.api]\ncommand = "node server.mjs --fail 7"\n`);
    const result = await yard.up();
    await yard.kill('web');
    expect((await yard.down()).messages).toEqual([
      `removed stale record for web; pid ${outcomeOf(result, 'web').pid} is gone`,
      `removed stale record for api; pid ${outcomeOf(result, 'api').pid} is gone (exit code 7)`,
    ]);
    expect(yard.services()).toEqual({});
    expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
  });

  test('never signals another process with the pid of a record, in many trials', async () => {
    const yard = await runningYard(WEB);
    const { pid, startTime } = stranger();
    const base = { port: 21_998, branch: 'current', pid, pgid: pid, boot_id: bootId() ?? null };
    const cookie = `${yard.context.home.hash}.0123456789abcdef0123456789abcdef`;
    for (let trial = 0; trial < 50; trial++) {
      // The kernel gave the pid to a process that started later.
      await yard.record({ ...base, process_started_at: startTime - 1 - trial, cookie });
      expect((await yard.down()).messages).toEqual([
        `removed stale record for web; pid ${pid} no longer matches`,
      ]);
    }
    expect(isAlive(pid)).toBe(true);
    expect(yard.services()).toEqual({});
  });

  test.each([
    { what: 'no start time and no cookie', fields: () => ({}) },
    {
      what: 'the start time of the stranger, but not its cookie',
      fields: (startTime: number, cookie: string) => ({ process_started_at: startTime, cookie }),
    },
    { what: 'the start time of the stranger and no cookie', fields: (startTime: number) => ({ process_started_at: startTime }) }, // prettier-ignore
  ])('signals nobody for a record with $what, and keeps it', async ({ fields }) => {
    const yard = await runningYard(WEB);
    const { pid, startTime } = stranger();
    const cookie = `${yard.context.home.hash}.0123456789abcdef0123456789abcdef`;
    await yard.record({
      port: 21_998,
      branch: 'current',
      pid,
      boot_id: bootId() ?? null,
      ...fields(startTime, cookie),
    });
    const result = await yard.down();
    expect(result.ok).toBe(false);
    expect(result.messages).toEqual([
      `could not stop web: nothing proves that pid ${pid} is web, so it was not signalled`,
    ]);
    expect(isAlive(pid)).toBe(true);
    expect(Object.keys(yard.services())).toEqual(['current::web']);
    expect((await yard.down({ force: true })).ok).toBe(true);
    expect(isAlive(pid)).toBe(true);
    expect(yard.services()).toEqual({});
  });

  test('stops the service and not another process whose pid was written into its record', async () => {
    const yard = await runningYard(WEB);
    await yard.up();
    const { pid, startTime } = stranger();
    const record = yard.services()['current::web']!;
    await yard.record({ ...record, pid, process_started_at: startTime });
    expect(observeServices([yard.services()['current::web']!])[0]).toMatchObject({ status: 'running' });
    expect((await yard.down()).messages).toEqual(['stopped web']);
    expect(isAlive(pid)).toBe(true);
    expect(yard.alive()).toEqual([]);
  });

  test('forgets records from another boot, and signals no process', async () => {
    const yard = await runningYard(WEB);
    const { pid, startTime } = stranger();
    const cookie = `${yard.context.home.hash}.0123456789abcdef0123456789abcdef`;
    await yard.record({ port: 21_998, pid, process_started_at: startTime, boot_id: 'another', cookie });
    expect((await yard.down()).messages).toEqual([
      `removed stale record for web; pid ${pid} no longer matches`,
    ]);
    expect(isAlive(pid)).toBe(true);
  });

  test('stops ten cooperative services in the time of one', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    const yard = await runningYard(
      names.map((name) => `[services.${name}]\ncommand = "node server.mjs"\n`).join(''),
    );
    expect((await yard.up()).ok).toBe(true);
    const began = performance.now();
    const { messages } = await yard.down();
    expect(messages).toEqual(names.map((name) => `stopped ${name}`));
    expect(yard.alive()).toEqual([]);
    // No process had to be killed, which takes five seconds.
    expect(performance.now() - began).toBeLessThan(4000);
  });
});
