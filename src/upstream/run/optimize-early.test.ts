import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { earlyOptimizationFlag } from './optimize-early.ts';

test('this version of Node knows the flag', () => {
  const flag = earlyOptimizationFlag(process.versions.v8);
  const script = `require('node:v8').setFlagsFromString(${JSON.stringify(flag)})`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(flag).toMatch(/^--[a-z-]+=\d+$/);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('no flag is set in a version of V8 that nobody has tried', () => {
  expect(earlyOptimizationFlag('10.2.154.26-node.39')).toBeUndefined();
  expect(earlyOptimizationFlag('99.1.0')).toBeUndefined();
});
