import { expect, test } from 'vitest';
import { createStyle } from '../style.ts';
import { truncateLine, displayWidth, yardTable } from './yard-table.ts';

const style = createStyle({ isTTY: true }, {});

test('a table has titles, dashes under them, and columns that are two blanks apart', () => {
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

test('colours do not move the columns', () => {
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

test('signs that take two columns are counted as two', () => {
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

test('a line that is too long is cut, and its colours end with it', () => {
  expect(truncateLine('short', 5)).toBe('short');
  expect(truncateLine('too long', 5)).toBe('too …');
  const cut = truncateLine(`ab${style.bad('cdefgh')}ij`, 5);
  expect(cut).toBe('ab\x1b[31mcd…\x1b[0m');
  expect(displayWidth(cut)).toBe(5);
});

test('a painted line that fits stays as it is', () => {
  const line = style.good('ready');
  expect(truncateLine(line, 5)).toBe(line);
});

test('lines are cut where a terminal ends', () => {
  const lines = yardTable(['name', 'path'], [['a', '/very/long/path']], 10);
  expect(lines).toEqual(['name  path', '----  ---…', 'a     /ve…']);
});
