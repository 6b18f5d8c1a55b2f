import { expect, test } from 'vitest';
import { table } from './table.ts';

test('what is too wide for a terminal is cut where it is widest, and whole elsewhere', () => {
  const columns = [{ title: 'NAME' }, { title: 'COMMAND' }, { title: 'FILE' }];
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
  // On a terminal that is too narrow for anything, a line may still break.
  expect(table(columns, rows, undefined, 5)).toContain('a     npx -y …  switchb…\n');
});

test('columns are aligned, also with signs that are two columns wide, and no line ends in blanks', () => {
  const text = table(
    [{ title: 'NAME' }, { title: 'N', align: 'right' }, { title: 'NOTE' }],
    [
      ['a', '1', 'x'],
      ['日本', '1,000', ''],
      ['é́b', '5'],
    ],
  );
  expect(text).toBe('NAME      N  NOTE\na         1  x\n日本  1,000\né́b        5\n');
});
