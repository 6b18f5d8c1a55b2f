import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findCommand } from './find-command.ts';

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

test.skipIf(process.platform === 'win32')('an empty element of PATH is not the working directory', () => {
  const dir = folder();
  writeFileSync(join(dir, 'tool'), '#!/bin/sh\n', { mode: 0o755 });
  expect(findCommand('tool', { cwd: dir, env: { PATH: '/nowhere:' } })).toEqual({ kind: 'missing' });
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

test('on Windows, of several files in one directory the first ending counts, and the first directory before that', () => {
  const [one, two] = [folder(), folder()];
  for (const file of ['uvx.exe', 'uvx.cmd', 'bunx.cmd', 'bunx.ps1'])
    writeFileSync(join(one, file), '', { mode: 0o755 });
  writeFileSync(join(two, 'bunx.exe'), '', { mode: 0o755 });
  const find = (command: string, PATHEXT?: string) =>
    findCommand(command, { cwd: '/', env: { PATH: `${one};${two}`, PATHEXT }, platform: 'win32' });
  const found = (folderOf: string, file: string) => ({ kind: 'found', file: join(folderOf, file) });
  expect(find('uvx')).toEqual(found(one, 'uvx.exe'));
  expect(find('uvx', '.cmd;.exe')).toEqual(found(one, 'uvx.cmd'));
  expect(find('bunx')).toEqual(found(one, 'bunx.cmd'));
  expect(find('bunx.exe')).toEqual(found(two, 'bunx.exe'));
  expect(find('nothing')).toEqual({ kind: 'missing' });
});

const ALIASES = join(process.env['LOCALAPPDATA'] ?? '', 'Microsoft', 'WindowsApps');

test.runIf(process.platform === 'win32' && aliases().length > 0)(
  'on Windows what Microsoft Store installed is found, which Node cannot open',
  () => {
    for (const name of aliases()) {
      const found = findCommand(name, { cwd: '/', env: { PATH: ALIASES } });
      expect(found).toEqual({ kind: 'found', file: join(ALIASES, name) });
    }
  },
);

function aliases(): readonly string[] {
  return existsSync(ALIASES) ? readdirSync(ALIASES).filter((name) => /\.exe$/i.test(name)) : [];
}

test('on Windows a dot in a name is no ending, and a known ending may be given or left out', () => {
  const dir = folder();
  const made = ['python3.11.exe', 'tool.cmd', 'script.ps1', 'page.js'].map((name) => join(dir, name));
  for (const file of made) writeFileSync(file, '', { mode: 0o755 });
  const [python, tool, script] = made;
  const env = { PATH: dir, PATHEXT: '.com;.exe;.bat;.cmd;.js' };
  const find = (command: string) => findCommand(command, { cwd: '/', env, platform: 'win32' });
  expect(find('python3.11')).toEqual({ kind: 'found', file: python });
  expect(find('python3.11.exe')).toEqual({ kind: 'found', file: python });
  expect(find('tool')).toEqual({ kind: 'found', file: tool });
  expect(find('tool.cmd')).toEqual({ kind: 'found', file: tool });
  expect(find('script')).toEqual({ kind: 'found', file: script });
  // Windows would open it with the application for such files.
  expect(find('page')).toEqual({ kind: 'missing' });
  expect(find('page.js')).toEqual({ kind: 'missing' });
  expect(find(join(dir, 'page.js'))).toEqual({ kind: 'not-executable', file: join(dir, 'page.js') });
});

test('on Windows the PATH is split at semicolons that are not quoted, in the variable that sorts first', () => {
  const dir = folder();
  mkdirSync(join(dir, 'a;b'));
  const file = join(dir, 'a;b', 'tool.exe');
  writeFileSync(file, '', { mode: 0o755 });
  const find = (env: Record<string, string>) => findCommand('tool', { cwd: dir, env, platform: 'win32' });
  expect(find({ Path: `/nowhere;;"${dirname(file)}";.` })).toEqual({ kind: 'found', file });
  expect(find({ Path: '/nowhere', PATH: `"${dirname(file)}"` })).toEqual({ kind: 'found', file });
  expect(find({ Path: '' })).toEqual({ kind: 'missing' });
});
