import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isAlive } from '../../test/servers/shapes/watch.ts';
import { createServiceProof } from './service-cookies.ts';

test.runIf(process.platform === 'linux')('a pipe in the place of the records is not waited for', () => {
  const home = mkdtempSync(join(tmpdir(), 'switchyard-'));
  const pipe = join(home, 'state.json');
  execFileSync('mkfifo', [pipe]);
  // If the test hangs, this releases it.
  const rescue = spawn('/bin/sh', ['-c', 'sleep 10; : >"$0"', pipe], { detached: true, stdio: 'ignore' });
  const { pid = 0 } = rescue;
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
    rmSync(home, { recursive: true });
  });
  const cookie = `${'a'.repeat(8)}.${'b'.repeat(32)}`;
  expect(createServiceProof()(`SWITCHYARD_HOME=${home}\0SWITCHYARD_COOKIE=${cookie}\0`)).toBe(false);
  expect(isAlive(pid)).toBe(true);
});
