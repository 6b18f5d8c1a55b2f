import { expect, test } from 'vitest';
import { diff } from './diff.ts';
import { plainStyle } from './style.ts';

const show = (before: string | undefined, after: string) => diff('f.json', before, after, plainStyle);
const LINES = 'a\nb\nc\nd\ne\nf\ng\nh\ni\n';

test('shows what is new with three lines around it', () => {
  expect(show(LINES, LINES.replace('e\n', 'e\nnew\n'))).toBe(
    '--- f.json\n+++ f.json\n@@ -3,6 +3,7 @@\n c\n d\n e\n+new\n f\n g\n h\n',
  );
});

test('shows what goes and what comes in its place, at the edges of the file too', () => {
  expect(show(LINES, LINES.replace('a\n', 'A\n'))).toBe(
    '--- f.json\n+++ f.json\n@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n d\n',
  );
  expect(show(LINES, LINES.replace('i\n', ''))).toBe(
    '--- f.json\n+++ f.json\n@@ -6,4 +6,3 @@\n f\n g\n h\n-i\n',
  );
});

test('of a line that comes twice one is shown', () => {
  expect(show('x\nx\n', 'x\nx\nx\n')).toBe('--- f.json\n+++ f.json\n@@ -1,2 +1,3 @@\n x\n x\n+x\n');
});

test('a new file is all new', () => {
  expect(show(undefined, '{\n}\n')).toBe('--- (no file)\n+++ f.json\n@@ -0,0 +1,2 @@\n+{\n+}\n');
});

test('equal texts, and such that differ in line endings only, give nothing', () => {
  expect(show(LINES, LINES)).toBe('');
  expect(show('a\r\nb\r\n', 'a\nb')).toBe('');
});

test('what could move a cursor is made visible', () => {
  expect(show('', '\u001b[2J\n')).toContain('+\\x1b[2J\n');
});
