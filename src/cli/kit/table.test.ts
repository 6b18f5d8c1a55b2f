import { expect, test } from 'vitest';
import { createStyle } from './style.ts';
import { ruledTable, table, truncateLine, width } from './table.ts';

test('a table that is too wide for a terminal is cut in its widest columns', () => {
  const columns = ['NAME', 'COMMAND', 'FILE'];
  const rows = [
    ['a', 'npx -y @modelcontextprotocol/server-everything 日本', 'switchboard.config.json'],
    ['b', 'x', 'y'],
  ];
  const lines = table(columns, rows, undefined, 40).split('\n');
  expect(lines).toEqual([
    'NAME  COMMAND           FILE',
    'a     npx -y @modelco…  switchboard.con…',
    'b     x                 y',
    '',
  ]);
  expect(table(columns, rows)).toContain('server-everything 日本  switchboard.config.json\n');
  // On a terminal that is too narrow for anything, lines may wrap.
  expect(table(columns, rows, undefined, 5)).toContain('a     npx -y …  switchb…\n');
});

test('columns are aligned, also with signs that are two columns wide, and no line ends in blanks', () => {
  const text = table(
    ['NAME', { title: 'N', align: 'right' } as const, 'NOTE'],
    [
      ['a', '1', 'x'],
      ['日本', '1,000', ''],
      ['é́b', '5'],
    ],
  );
  expect(text).toBe('NAME      N  NOTE\na         1  x\n日本  1,000\né́b        5\n');
});

const style = createStyle({ isTTY: true }, {});

test('a ruled table has titles, dashes below them, and columns two spaces apart', () => {
  expect(
    ruledTable(
      ['status', 'port'],
      [
        ['running', '20001'],
        ['stale', ''],
      ],
    ),
  ).toEqual(['status   port', '-------  -----', 'running  20001', 'stale']);
});

test('colors do not affect the columns', () => {
  const plain = ruledTable(
    ['status', 'port'],
    [
      ['running', '1'],
      ['stale', '2'],
    ],
  );
  const painted = ruledTable(
    ['status', 'port'],
    [
      [style.good('running'), '1'],
      [style.bad('stale'), '2'],
    ],
  );
  // eslint-disable-next-line no-control-regex
  expect(painted.map((line) => line.replaceAll(/\x1b\[\d+m/g, ''))).toEqual(plain);
});

test('wide characters count as two columns', () => {
  expect(
    ruledTable(
      ['a', 'b'],
      [
        ['日本', 'x'],
        ['y', 'z'],
      ],
    ),
  ).toEqual(['a     b', '----  -', '日本  x', 'y     z']);
});

test('a line that is too long is truncated, and its color is reset', () => {
  expect(truncateLine('short', 5)).toBe('short');
  expect(truncateLine('too long', 5)).toBe('too …');
  const cut = truncateLine(`ab${style.bad('cdefgh')}ij`, 5);
  expect(cut).toBe('ab\x1b[31mcd…\x1b[0m');
  expect(width(cut)).toBe(5);
});

test('a colored line that fits is unchanged', () => {
  const line = style.good('ready');
  expect(truncateLine(line, 5)).toBe(line);
});

test('lines are truncated at the width of the terminal', () => {
  const lines = ruledTable(['name', 'path'], [['a', '/very/long/path']], 10);
  expect(lines).toEqual(['name  path', '----  ---…', 'a     /ve…']);
});
