import { expect, test } from 'vitest';
import { table } from './table.ts';

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
