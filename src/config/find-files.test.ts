import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, sep } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findFiles } from './find-files.ts';

const made: string[] = [];
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

function folder(...files: string[]): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'find-files-')));
  made.push(directory);
  for (const file of files) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), '');
  }
  return directory;
}

function found(directory: string, patterns: string[], exclude: string[] = []): string[] {
  return findFiles(patterns, { directory, exclude }).map((path) =>
    relative(directory, path).replaceAll(sep, '/'),
  );
}

test('files come pattern by pattern, sorted within one, none twice', () => {
  const directory = folder(
    'mcps/b/.mcp.json',
    'mcps/a/.mcp.json',
    'mcps/C/.mcp.json',
    '.switchboard/mcps/z/.mcp.json',
  );
  expect(found(directory, ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json', 'mcps/a/.mcp.json'])).toEqual(
    ['.switchboard/mcps/z/.mcp.json', 'mcps/C/.mcp.json', 'mcps/a/.mcp.json', 'mcps/b/.mcp.json'],
  );
  expect(found(directory, ['{mcps,.switchboard/mcps}/[az]/.mcp.json'])).toHaveLength(2);
  expect(found(directory, ['./mcps/?/.mcp.json'])).toHaveLength(3);
});

test('** goes down any number of folders, but not into hidden ones, node_modules or .git', () => {
  const directory = folder(
    'x',
    'a/x',
    'a/b/c/x',
    'node_modules/p/x',
    '.git/x',
    '.hidden/x',
    'a/node_modules/x',
  );
  expect(found(directory, ['**/x'])).toEqual(['a/b/c/x', 'a/x', 'x']);
  expect(found(directory, ['a/**'])).toEqual(['a/b/c/x', 'a/x']);
  expect(found(directory, ['**/a/**/c/**/x'])).toEqual(['a/b/c/x']);
  expect(found(directory, ['node_modules/*/x'])).toEqual(['node_modules/p/x']);
});

test('a hidden name is found only where the pattern says the dot', () => {
  const directory = folder('.a/f', 'b/f', 'b/.f');
  expect(found(directory, ['*/f'])).toEqual(['b/f']);
  expect(found(directory, ['.*/f'])).toEqual(['.a/f']);
  expect(found(directory, ['b/*'])).toEqual(['b/f']);
  expect(found(directory, ['b/.f'])).toEqual(['b/.f']);
});

test('exclusions apply at any position, also to hidden folders, and only below the directory', () => {
  const directory = folder(
    'original/p/mcps/a/f',
    'original/p/mcps/a/original/f',
    'original/p/.s/m/original/.mcp.json',
  );
  const project = join(directory, 'original/p');
  expect(found(project, ['mcps/**/f'], ['**/original/**'])).toEqual(['mcps/a/f']);
  expect(found(project, ['.s/*/*/.mcp.json'], ['**/original/**'])).toEqual([]);
  expect(found(project, ['!mcps/a/f', 'mcps/**/f'])).toEqual(['mcps/a/original/f']);
});

// Only administrators can create links on Windows.
test.skipIf(process.platform === 'win32')(
  'links are followed by *, never in a circle by **, and links to nowhere are no match',
  () => {
    const directory = folder('real/f', 'm/own/f');
    symlinkSync(join(directory, 'real'), join(directory, 'm/link'));
    symlinkSync(directory, join(directory, 'm/circle'));
    symlinkSync(join(directory, 'gone'), join(directory, 'm/dead'));
    symlinkSync('self', join(directory, 'm/self'));
    expect(found(directory, ['m/*/f'])).toEqual(['m/link/f', 'm/own/f']);
    expect(found(directory, ['**/f'])).toEqual(['m/own/f', 'real/f']);
    expect(found(directory, ['m/*'])).toEqual([]);
  },
);

test('patterns may leave the directory or be absolute; what is not there is no error', () => {
  const directory = folder('a/f', 'b/f');
  expect(found(join(directory, 'a'), ['../b/*'])).toEqual(['../b/f']);
  expect(found(directory, [`${directory.replaceAll(sep, '/')}/*/f`])).toEqual(['a/f', 'b/f']);
  expect(found(directory, ['nothing/*/f', 'a/f/*/x', 'a/f/x', '**/nothing'])).toEqual([]);
  expect(found(join(directory, 'missing'), ['*', '**/f'])).toEqual([]);
});

test('directories are no match, and a pattern that means too many patterns is refused', () => {
  const directory = folder('a/.mcp.json/f');
  expect(found(directory, ['*/.mcp.json'])).toEqual([]);
  expect(() => found(directory, ['{a,b}'.repeat(30)])).toThrow(/too many/);
});
