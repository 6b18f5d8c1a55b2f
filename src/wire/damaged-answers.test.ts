import { expect, test } from 'vitest';
import { fromChunks } from './bytes.ts';
import { DamagedAnswers } from './damaged-answers.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

function reader(): (text: string) => string[] {
  const damaged = new DamagedAnswers();
  return (text) => damaged.read(fromChunks([Buffer.from(text)]), text.slice(0, 4096));
}

test('lines made to be tried again from every quote take no longer than others', () => {
  expect(
    cheapestMs(300, () => {
      const read = reader();
      read('{');
      for (let count = 0; count < 300; count++) read('"\\'.repeat(2048));
    }),
  ).toBeLessThan(300);
});

test('the id of an answer over several lines is found, whatever its texts contain', () => {
  const read = reader();
  const lines = ['{', '"jsonrpc": "2.0",', '"id": 7,', '"result": {"a": "}\\"{", "b": "half\\', '}', '}'];
  expect(lines.map((line) => read(line)).flat()).toEqual(['7']);
});
