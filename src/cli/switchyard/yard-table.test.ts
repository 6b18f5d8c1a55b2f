import { expect, test } from 'vitest';
import { createStyle } from '../style.ts';
import { truncateLine, displayWidth, yardTable } from './yard-table.ts';

const style = createStyle({ isTTY: true }, {});

test('a table has titles, dashes below them, and columns two spaces apart', () => {
  expect(
    yardTable(
      ['status', 'port'],
      [
        ['running', '20001'],
        ['stale', ''],
      ],
    ),
  ).toEqual(['status   port', '-------  -----', 'running  20001', 'stale']);
});

test('colors do not affect the columns', () => {
  const plain = yardTable(
    ['status', 'port'],
    [
      ['running', '1'],
      ['stale', '2'],
    ],
  );
  const painted = yardTable(
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
    yardTable(
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
  expect(displayWidth(cut)).toBe(5);
});

test('a colored line that fits is unchanged', () => {
  const line = style.good('ready');
  expect(truncateLine(line, 5)).toBe(line);
});

test('lines are truncated at the width of the terminal', () => {
  const lines = yardTable(['name', 'path'], [['a', '/very/long/path']], 10);
  expect(lines).toEqual(['name  path', '----  ---…', 'a     /ve…']);
});
