import { expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import { NoiseMeter } from './noise.ts';

function meter() {
  const logged: string[] = [];
  const log = createLogger({ level: 'warn', program: 'test', write: (line) => logged.push(line) });
  const noise = new NoiseMeter('loud', log, (text) => text);
  const hear = (text: string): boolean => noise.hear('malformed', { length: text.length, text: () => text });
  return { logged, hear };
}

test('the first lines are logged, and then only one now and then, however many come', () => {
  const { logged, hear } = meter();
  for (let count = 0; count < 100_000; count++) hear('noise');
  expect(logged).toHaveLength(5);
});

test.each([
  ['megabytes', 'x'.repeat(100_000), 150],
  ['hundreds of thousands of short lines', 'x', 300_000],
])('%s are a flood', (_, line, count) => {
  const { hear } = meter();
  const heard = Array.from({ length: count }, () => hear(line));
  expect(heard[100]).toBe(false);
  expect(heard.at(-1)).toBe(true);
});
