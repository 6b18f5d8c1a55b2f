import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { withLock } from '../../../shared/lock.ts';
import { until } from '../../../../test/helpers/until.ts';
import { endProcess, testYard } from '../../../../test/helpers/yard-home.ts';
import { outcomeOf, runningYard } from '../../../../test/helpers/yard-services.ts';
import { carriersOf, isAlive } from '../../../../test/servers/shapes/watch.ts';
import { tailLog } from '../../runtime/logs/tail.ts';
import { keepUpLogs } from './log-upkeep.ts';

test('logs that are too long are trimmed in all directories; others are left alone', async () => {
  const { home } = (await testYard()).context;
  const folder = join(home.logs, 'shop-12345678', 'main');
  mkdirSync(folder, { recursive: true });
  const [long, short, other] = ['web.log', 'api.log', 'notes.txt'].map((name) => join(folder, name));
  writeFileSync(long!, 'a line\n'.repeat(1_600_000));
  writeFileSync(short!, 'a line\n');
  writeFileSync(other!, 'a line\n'.repeat(1_600_000));
  const told: string[] = [];
  onTestFinished(keepUpLogs(home, (text) => told.push(text), 20));
  await until(() => told.length > 0);
  expect(told).toEqual([`shortened ${join('shop-12345678', 'main', 'web.log')}`]);
  expect(statSync(long!).size).toBe(0);
  expect(statSync(short!).size).toBe(7);
  expect(statSync(other!).size).toBe(11_200_000);
});

test('logs are left alone while another proxy works on them', async () => {
  const { home } = (await testYard()).context;
  const file = join(home.logs, 'web.log');
  mkdirSync(home.logs, { recursive: true });
  writeFileSync(file, 'a line\n'.repeat(1_600_000));
  const told: string[] = [];
  await withLock(home.lockName('log-writers'), async () => {
    onTestFinished(keepUpLogs(home, (text) => told.push(text), 5));
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    onTestFinished(() => clearInterval(timer));
    await until(() => ticks > 10);
    expect(statSync(file).size).toBe(11_200_000);
  });
  await until(() => told.length > 0);
  expect(told).toEqual(['shortened web.log']);
});

test.runIf(process.platform === 'linux')(
  'a service goes on when all who write its log were killed',
  async () => {
    const yard = await runningYard('[services.web]\ncommand = "node talks.mjs"\n');
    writeFileSync(
      join(yard.root, 'talks.mjs'),
      `import { createServer } from 'node:http';
     createServer().listen(process.env.PORT, process.env.HOST);
     let n = 0;
     setInterval(() => console.log(String(n++).padEnd(1000, '.')), 5);`,
    );
    const { log_file: file, pid } = outcomeOf(await yard.up(), 'web');
    const last = (): number => Number(/^\d+/.exec(tailLog(file ?? '', 1)[0] ?? '')?.[0] ?? -1);
    await until(() => last() > 0);
    await until(() => {
      const writers = carriersOf(`LOG_FILE=${file}\0`);
      for (const writer of writers) endProcess(writer);
      return writers.length === 0;
    });
    const told: string[] = [];
    const seen = last();
    onTestFinished(keepUpLogs(yard.context.home, (text) => told.push(text), 20));
    // More than fits into a pipe.
    await until(() => last() > seen + 200, { deadline: 30_000, seen: () => told.join('\n') });
    expect(told).toEqual(['restarted the log writer of web']);
    expect(isAlive(pid ?? 0)).toBe(true);
  },
);
