import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import { keepLogsShort } from './trim-logs.ts';

test('logs that are too long are trimmed in all directories; others are left alone', async () => {
  const { home } = (await testYard()).context;
  const folder = join(home.logs, 'shop-12345678', 'main');
  mkdirSync(folder, { recursive: true });
  const [long, short, other] = ['web.log', 'api.log', 'notes.txt'].map((name) => join(folder, name));
  writeFileSync(long!, 'a line\n'.repeat(1_600_000));
  writeFileSync(short!, 'a line\n');
  writeFileSync(other!, 'a line\n'.repeat(1_600_000));
  const told: string[] = [];
  onTestFinished(keepLogsShort(home, (text) => told.push(text), 20));
  await until(() => told.length > 0);
  expect(told).toEqual([`shortened ${join('shop-12345678', 'main', 'web.log')}`]);
  expect(statSync(long!).size).toBe(0);
  expect(statSync(short!).size).toBe(7);
  expect(statSync(other!).size).toBe(11_200_000);
});
