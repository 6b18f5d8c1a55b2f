import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findCommand, canShowPages } from './find-command.ts';
import { createProject } from '../../../test/helpers/temp-project.ts';

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'switchboard-find-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

test('a name is looked for on the PATH it is given, not on ours', () => {
  const { execPath } = process;
  const command = basename(execPath);
  expect(findCommand(command, { cwd: '/', env: { PATH: dirname(execPath) } })).toEqual({
    kind: 'found',
    file: execPath,
  });
  expect(findCommand(command, { cwd: '/', env: { PATH: folder() } })).toEqual({ kind: 'missing' });
  expect(findCommand(command, { cwd: '/', env: {} })).toEqual({ kind: 'missing' });
});

test.skipIf(process.platform === 'win32')(
  'a path is relative to the working directory, and must be executable',
  () => {
    const dir = folder();
    const file = join(dir, 'run.sh');
    writeFileSync(file, '#!/bin/sh\n');
    expect(findCommand('./run.sh', { cwd: dir, env: {} })).toEqual({ kind: 'not-executable', file });
    chmodSync(file, 0o755);
    expect(findCommand('./run.sh', { cwd: dir, env: {} })).toEqual({ kind: 'found', file });
    expect(findCommand('./gone.sh', { cwd: dir, env: {} })).toEqual({ kind: 'missing' });
  },
);

test('on Windows the endings of PATHEXT are tried', () => {
  const dir = folder();
  const file = join(dir, 'npx.CMD');
  writeFileSync(file, '', { mode: 0o755 });
  const env = { Path: dir, PATHEXT: '.EXE;.CMD' };
  expect(findCommand('npx', { cwd: '/', env, platform: 'win32' })).toEqual({ kind: 'found', file });
});

test('a page can be shown where there is a screen, a program that opens pages, and a person before it', () => {
  const project = createProject();
  const opener = project.write('bin/xdg-open', '#!/bin/sh\n');
  chmodSync(opener, 0o755);
  const shows = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux'): boolean =>
    canShowPages({ cwd: project.dir, env }, platform);
  const PATH = dirname(opener);
  expect(shows({ PATH, DISPLAY: ':0' })).toBe(true);
  expect(shows({ PATH, WAYLAND_DISPLAY: 'wayland-0' })).toBe(true);
  expect(shows({ PATH })).toBe(false);
  expect(shows({ PATH: project.dir, DISPLAY: ':0' })).toBe(false);
  expect(shows({}, 'darwin')).toBe(true);
  for (const platform of ['linux', 'darwin', 'win32'] as const)
    expect(shows({ PATH, DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, platform)).toBe(false);
});
