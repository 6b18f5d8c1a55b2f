import { expect, test } from 'vitest';
import { Budget } from './budget.ts';
import type { ModelReply } from './model.ts';

function reply(usage: ModelReply['usage'], text = ''): ModelReply {
  return { text, calls: [], stop: 'done', usage, raw: undefined };
}

test('reported tokens are counted, and the conversation counts again in every turn', () => {
  const budget = new Budget(1000, 0);
  expect(budget.spend(reply({ input: 100, output: 20 }))).toEqual({ input: 100, output: 20 });
  expect(budget.room).toBe(1000 - 120 - 120);
  budget.spend(reply({ input: 150, output: 10 }));
  expect(budget).toMatchObject({ input: 250, output: 30, estimated: false });
});

test.each([undefined, { input: 0, output: 0 }])(
  'where a model tells nothing (%j), it is estimated',
  (usage) => {
    const budget = new Budget(1000, 5);
    const { input, output } = budget.spend(reply(usage, 'six seven eight'));
    expect(input).toBeGreaterThan(3);
    expect(output).toBeGreaterThan(2);
    expect(budget.estimated).toBe(true);
  },
);

test('results make the next question dearer, an image by a fixed price', () => {
  const budget = new Budget(10_000, 0);
  const before = budget.room;
  budget.add([
    { id: '1', name: 'a', content: [{ type: 'image', data: 'A'.repeat(1_000_000) }], isError: false },
  ]);
  const after = budget.room;
  expect(before - after).toBeLessThan(5000);
  budget.add([
    { id: '1', name: 'a', content: [{ type: 'text', text: 'word '.repeat(100) }], isError: false },
  ]);
  expect(after - budget.room).toBeGreaterThan(50);
});
