import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { marker, waitUntilGone } from '../helpers/processes.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';

test('the demo runs to its end, shows the saving, and leaves nothing behind', async () => {
  const mark = marker();
  const temporary = createProject();
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/demo.mjs')], {
    env: { ...process.env, ...mark.env, TMPDIR: temporary.dir },
    encoding: 'utf8',
    timeout: 50_000,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  for (const word of [
    'filesystem_suite',
    'introspect',
    'Switchboard was here.',
    'The sum of 19 and 23 is 42.',
  ]) {
    expect(stdout).toContain(word);
  }
  const saved = /([\d.]+)% fewer tokens/.exec(stdout)?.[1];
  expect(Number(saved)).toBeGreaterThan(85);
  await waitUntilGone(mark, 5000);
  expect(readdirSync(temporary.dir)).toEqual([]);
});
