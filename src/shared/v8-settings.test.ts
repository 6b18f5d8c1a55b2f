import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { callFlags } from './v8-settings.ts';

test('this version of Node knows the flags', () => {
  const flags = callFlags(process.versions.v8);
  const script = `for (const flag of ${JSON.stringify(flags)}) require('node:v8').setFlagsFromString(flag)`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
  expect(flags).toHaveLength(2);
  for (const flag of flags) expect(flag).toMatch(/^--[a-z-]+=\d+$/);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

test('no flag is set in a version of V8 that nobody has tried', () => {
  expect(callFlags('10.2.154.26-node.39')).toEqual([]);
  expect(callFlags('99.1.0')).toEqual([]);
});
