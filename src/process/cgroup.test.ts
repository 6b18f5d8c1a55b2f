import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cgroupDirectory, openCgroups, ownCgroup } from './cgroup.ts';

test('our own cgroup is the one of version 2, where it is mounted and may be written', () => {
  const mounts = ['pure', 'hybrid/unified'].map((name) => join(folder(), name));
  const [pure = '', unified = ''] = mounts;
  const both = '9:memory:/elsewhere\n0::/user.slice/app.scope\n';
  expect(ownCgroup(both, mounts)).toBeUndefined();
  const make = (mount: string): string => {
    const directory = join(mount, 'user.slice/app.scope');
    mkdirSync(directory, { recursive: true });
    // Version 1 has directories with the same names, but not this file.
    expect(ownCgroup(both, mounts)).not.toBe(directory);
    writeFileSync(join(directory, 'cgroup.procs'), '');
    return directory;
  };
  const inUnified = make(unified);
  expect(ownCgroup(both, mounts)).toBe(inUnified);
  expect(ownCgroup('9:memory:/user.slice/app.scope\n', mounts)).toBeUndefined();
  expect(ownCgroup('', mounts)).toBeUndefined();
  expect(make(pure)).toBe(ownCgroup(both, mounts));
});

const own = cgroupDirectory();

test.runIf(own !== undefined)('empty cgroups of earlier runs are removed, but not new ones', () => {
  const cgroups = [0, 1].map(() => join(own!, `SWITCHBOARD_RUN_${randomBytes(8).toString('hex')}=x`));
  for (const path of cgroups) mkdirSync(path);
  onTestFinished(() => {
    for (const path of cgroups) if (existsSync(path)) rmdirSync(path);
  });
  utimesSync(cgroups[0]!, 0, 0);
  openCgroups();
  expect(cgroups.map((path) => existsSync(path))).toEqual([false, true]);
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'switchboard-cgroup-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}
