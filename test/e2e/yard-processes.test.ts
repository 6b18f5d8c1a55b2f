/** The processes of services, through the built program: who is started, found again, ended, and never touched. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { until } from '../helpers/until.ts';
import {
  everybodyIsKnown,
  killedUp,
  processYard,
  readState,
  recordTemplate,
  serviceCommand,
  serviceProcesses,
  shapesComeAndGo,
  shapeServices,
  staleTrial,
  stateFile,
  stranger,
  TEN_SERVICES,
  WRONG_RECORDS,
} from '../helpers/yard-processes.ts';

const WEB = `[services.web]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 60\n`;
const WEB_AND_API = `${WEB}${WEB.replace('web]', 'api]')}`;

describe('up and down', () => {
  test('leave no process of nine shapes, and name those that ignored SIGTERM', async () => {
    const yard = await processYard(shapeServices());
    await shapesComeAndGo(yard);
    expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
  });

  test('really end npm, its shell and the server behind them', async () => {
    const yard = await processYard(
      '[services.web]\ncommand = "npm run dev -- --port {port}"\nready_timeout = 60\n[services.web.env]\nnpm_config_update_notifier = "false"\n',
      { 'package.json': { scripts: { dev: serviceCommand('plain-http') } } },
    );
    const [web] = (await yard.ask('up')).outcomes;
    const { pid } = (await (await fetch(`http://127.0.0.1:${web.port}/`)).json()) as { pid: number };
    const commands = yard.living().map(({ command }) => command);
    expect(commands.some((command) => command.startsWith('npm run dev'))).toBe(true);
    expect((await yard.ask('down')).messages).toEqual(['stopped web']);
    expect(alive(pid)).toBe(false);
    expect(yard.living()).toEqual([]);
  });

  test('report the exit code and last output of a service that exits immediately', async () => {
    const yard = await processYard(`[services.web]\ncommand = "${serviceCommand('dies-at-once', '7')}"\n`);
    const { code, json } = await yard.run(['up', '--json']);
    expect(code).toBe(1);
    expect(json.ok).toBe(false);
    const [web] = json.outcomes;
    expect(web).toMatchObject({ service: 'web', result: 'exited', exit_code: 7 });
    expect(web.message).toContain('web exited with code 7 before it was ready');
    expect(web.details).toEqual(Array.from({ length: 20 }, (_, line) => `trouble ${line + 11}`));
    const { services } = await yard.ask('status');
    expect(services).toMatchObject([{ service: 'web', status: 'stale', exit: { code: 7 } }]);
    expect((await yard.ask('down')).messages[0]).toContain('(exit code 7)');
  });

  test('start each service once if run twice at the same time', async () => {
    const yard = await processYard(WEB_AND_API);
    const ups = await Promise.all([yard.ask('up'), yard.ask('up')]);
    for (const service of ['web', 'api']) {
      const of = ups.map(({ outcomes }) => outcomes.find((outcome: any) => outcome.service === service));
      expect(of.map(({ result }) => result).sort()).toEqual(['already-running', 'ready']);
      expect(of[0].pid).toBe(of[1].pid);
    }
    expect(new Set(serviceProcesses(yard).map(({ cookie }) => cookie)).size).toBe(2);
    expect(yard.daemons()).toHaveLength(1);
    await yard.ask('down');
    expect(yard.living()).toEqual([]);
  });
});

test('an up killed at any moment leaves no process that status does not know and down does not stop', async () => {
  const yard = await processYard(TEN_SERVICES);
  const began = performance.now();
  await yard.ask('up', '--no-wait');
  const whole = performance.now() - began;
  expect(await everybodyIsKnown(yard)).toBe(10);
  await yard.ask('down');
  for (const part of [0.4, 0.6, 0.8])
    await killedUp(yard, { after: part * whole, from: 'start', look: true });
  for (const after of [0, 10, 20]) await killedUp(yard, { after, from: 'intent', look: after % 20 === 0 });
  // A port that was only reserved stays so until the same service is started again.
  await yard.ask('up', '--no-wait');
  await yard.ask('down');
  expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
});

describe('a stranger', () => {
  test(`is never signalled for a wrong record: ${WRONG_RECORDS.length} kinds, by every command`, async () => {
    const yard = await processYard(WEB);
    const template = await recordTemplate(yard);
    const strangers = await Promise.all(Array.from({ length: 5 }, () => stranger()));
    let trials = 0;
    for (let round = 0; round < 4; round++) {
      trials += await staleTrial(yard, { template, strangers, round });
    }
    expect(trials).toBe(20);
    // They would have told.
    for (const { pid } of strangers) process.kill(pid, 'SIGTERM');
    await until(() => strangers.every(({ signals }) => signals.join() === 'SIGTERM'), {
      what: 'strangers to tell of a signal',
    });
  });

  test('is never signalled for a record of a proxy or forwarder', async () => {
    const yard = await processYard(WEB);
    await yard.ask('up');
    await yard.ask('down');
    await yard.ask('proxy', 'stop');
    const { pid, startTime, signals } = await stranger();
    const state = readState(yard);
    const port = Number(/port = (\d+)/.exec(yard.read('switchyard.toml'))?.[1]);
    const daemon = {
      host: '127.0.0.1',
      port,
      pid,
      pgid: pid,
      process_started_at: startTime,
      boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
      cookie: `00000000.${'0'.repeat(32)}`,
      started_at: new Date().toISOString(),
      log_file: join(yard.home, 'logs/proxy/proxy.log'),
    };
    const tampered = JSON.stringify({ ...state, proxies: { [port]: daemon }, forwarder: daemon });
    for (const args of [
      ['proxy', 'stop'],
      ['up', '--checkout'],
      ['uncheckout'],
      ['down'],
      ['proxy', 'stop'],
    ]) {
      if (args[0] === 'proxy') writeFileSync(stateFile(yard), tampered);
      await yard.run([...args, '--json']);
    }
    expect(signals).toEqual([]);
    expect(alive(pid)).toBe(true);
  });

  test('processes that reuse the pids of services after a reboot are not signalled, and the services start again', async () => {
    const yard = await processYard(WEB_AND_API);
    await yard.ask('up');
    const text = readFileSync(stateFile(yard), 'utf8');
    await yard.ask('down');
    const { pid, startTime, signals } = await stranger();
    const state = JSON.parse(text);
    const { services } = state.projects[yard.dir];
    for (const key of Object.keys(services)) {
      const boot_id = '00000000-0000-4000-8000-000000000000';
      services[key] = { ...services[key], pid, pgid: pid, process_started_at: startTime, boot_id };
    }
    const rebooted = JSON.stringify(state);
    writeFileSync(stateFile(yard), rebooted);
    expect((await yard.ask('status')).services.map(({ status }: any) => status)).toEqual(['stale', 'stale']);
    expect((await yard.ask('down')).messages).toEqual(
      ['web', 'api'].map((name) => `removed stale record for ${name}; pid ${pid} no longer matches`),
    );
    writeFileSync(stateFile(yard), rebooted);
    const up = await yard.ask('up');
    expect(up.outcomes.map(({ result }: any) => result)).toEqual(['ready', 'ready']);
    await yard.ask('down');
    expect(signals).toEqual([]);
    expect(alive(pid)).toBe(true);
    expect(yard.living()).toEqual([]);
  });
});

test.each([
  ['cut off', (text: string) => text.slice(0, text.length / 2)],
  ['empty', () => ''],
])(
  'a state file that is %s is set aside; up starts nothing twice and down stops all',
  async (_how, damage) => {
    const yard = await processYard(WEB_AND_API);
    await yard.ask('up');
    const broken = damage(readFileSync(stateFile(yard), 'utf8'));
    writeFileSync(stateFile(yard), broken);
    const { outcomes } = await yard.ask('up');
    expect(outcomes.map(({ result }: any) => result)).toEqual(['already-running', 'already-running']);
    writeFileSync(stateFile(yard), broken);
    const down = await yard.run(['down', '--json']);
    expect(down.json.messages.slice().sort(), down.stderr).toEqual(['stopped api', 'stopped web']);
    expect(down.code).toBe(0);
    expect(yard.living()).toEqual([]);
    expect(readFileSync(join(yard.home, 'state.corrupt.json'), 'utf8')).toBe(broken);
    expect(readState(yard).projects[yard.dir].services).toEqual({});
  },
);
