/** What a careless parent leaves open reaches no program that `switchyard` runs. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createYard, SWITCHYARD } from '../helpers/yard.ts';

const BASH = '/bin/bash';

test.runIf(existsSync(BASH))('git gets neither open files nor an odd umask from the parent', () => {
  const yard = createYard({ toml: '[services.web]\ncommand = "true"\n', files: { 'docs/a.txt': 'text' } });
  const seen = join(yard.home, '..', 'seen');
  const hook = join(yard.dir, '.git', 'hooks', 'post-checkout');
  mkdirSync(join(hook, '..'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\nls /proc/self/fd >${seen}\n`);
  chmodSync(hook, 0o755);
  const parent = 'exec 40</dev/null; umask 000; exec "$@"';
  const command = [process.execPath, SWITCHYARD, 'create', 'x', '--json'];
  const { status, stdout, stderr } = spawnSync(BASH, ['-c', parent, 'bash', ...command], {
    cwd: yard.dir,
    env: yard.env,
    encoding: 'utf8',
  });
  expect(status, stdout + stderr).toBe(0);
  const { worktree } = JSON.parse(stdout) as { worktree: string };
  for (const path of ['', 'docs', 'docs/a.txt', 'switchyard.toml'])
    expect(statSync(join(worktree, path)).mode & 0o022, path).toBe(0);
  expect(readFileSync(seen, 'utf8').split('\n')).not.toContain('40');
});
