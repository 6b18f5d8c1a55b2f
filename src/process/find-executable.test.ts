import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findExecutable } from './find-command.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-find-'));
  mkdirSync(join(folder, 'bin/directory'), { recursive: true });
  mkdirSync(join(folder, 'other'));
  file('bin/tool', 0o755);
  file('bin/text', 0o644);
  file('bin/setup.cmd', 0o755);
  file('other/text', 0o755);
  symlinkSync('tool', join(folder, 'bin/alias'));
  symlinkSync('nowhere', join(folder, 'bin/dangling'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(path: string, mode: number): void {
  writeFileSync(join(folder, path), '#!/bin/sh\n');
  chmodSync(join(folder, path), mode);
}

describe.skipIf(process.platform === 'win32')('an executable is found', () => {
  const find = (command: string, path?: string): string | undefined =>
    findExecutable(command, { cwd: folder, path });

  test('by its name in the directories of the given PATH, in order', () => {
    const path = [join(folder, 'bin'), join(folder, 'other')].join(delimiter);
    expect(find('tool', path)).toBe(join(folder, 'bin/tool'));
    expect(find('alias', path)).toBe(join(folder, 'bin/alias'));
    // The first file with that name is not executable.
    expect(find('text', path)).toBe(join(folder, 'other/text'));
  });

  test('in relative directories, from the directory of the program', () => {
    expect(find('tool', 'bin')).toBe(join(folder, 'bin/tool'));
  });

  test('not in the working directory, where the PATH has an empty element', () => {
    for (const path of ['/nowhere:', ':/nowhere', '/nowhere::/nowhere', ':', '']) {
      expect(findExecutable('tool', { cwd: join(folder, 'bin'), path })).toBeUndefined();
    }
  });

  test('by a path, whatever the PATH is', () => {
    expect(find('./bin/tool', '')).toBe(join(folder, 'bin/tool'));
    expect(find(join(folder, 'bin/tool'), '')).toBe(join(folder, 'bin/tool'));
    expect(find('tool', '/nowhere')).toBeUndefined();
  });

  test('in the usual directories without a PATH', () => {
    expect(find('sh')).toMatch(/^\/(usr\/)?bin\/sh$/);
  });

  test('never as a directory, a dangling link, a plain file or an empty name', () => {
    for (const command of ['directory', 'dangling', 'missing', '']) {
      expect(find(command, join(folder, 'bin'))).toBeUndefined();
    }
    expect(find('./bin/text')).toBeUndefined();
    expect(find('tool/', join(folder, 'bin'))).toBeUndefined();
  });

  test('with the endings of Windows there', () => {
    const options = { cwd: folder, path: 'bin', platform: 'win32' } as const;
    expect(findExecutable('setup', options)).toBe(join(folder, 'bin/setup.cmd'));
    expect(findExecutable('setup.cmd', options)).toBe(join(folder, 'bin/setup.cmd'));
  });
});
