import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isInside, realPath } from './paths.ts';

/** A folder with links of all kinds in it. */
function folder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-paths-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'real/deep'), { recursive: true });
  writeFileSync(join(root, 'real/file'), '');
  symlinkSync('real', join(root, 'way'));
  symlinkSync('../real/file', join(root, 'real/link'));
  symlinkSync('gone/further', join(root, 'nowhere'));
  return root;
}

const PATHS: [string, string][] = [
  ['real', 'real'],
  ['real/file', 'real/file'],
  ['way', 'real'],
  ['way/file', 'real/file'],
  ['way/deep/..', 'real'],
  ['way/link', 'real/file'],
  ['real/link', 'real/file'],
  ['way/not/there', 'real/not/there'],
  ['nowhere', 'gone/further'],
  ['nowhere/x', 'gone/further/x'],
  ['real/file/x', 'real/file/x'],
  ['', ''],
];

test.runIf(process.platform !== 'win32').each(PATHS)('%j is %j', (path, real) => {
  const root = folder();
  expect(realPath(join(root, path))).toBe(join(root, real));
});

test('what lies in a directory does, and what only begins like it does not', () => {
  expect(isInside('/a/b', '/a/b')).toBe(true);
  expect(isInside('/a/b', '/a/b/c')).toBe(true);
  expect(isInside('/a/b', '/a/b/..c')).toBe(true);
  expect(isInside('/a/b', '/a/bc')).toBe(false);
  expect(isInside('/a/b', '/a')).toBe(false);
});
