import { expect, test } from 'vitest';
import { redactArguments } from './redact-arguments.ts';

const redacted = (args: unknown, ...hidden: string[]): unknown =>
  redactArguments([Buffer.from(JSON.stringify(args))], new Set(hidden));

test('members that are secret by name, or configured to be hidden, are left out at any depth', () => {
  expect(redacted({ a: [{ api_key: 'x', note: 'y', id: 7 }] }, 'note')).toEqual({
    a: [{ api_key: '[redacted]', note: '[redacted]', id: 7 }],
  });
});

test('long arguments are cut, and very long ones or no JSON are not shown at all', () => {
  const cut = redacted({ text: 'x'.repeat(10_000) }) as string;
  expect(cut).toHaveLength(8193);
  expect(cut).toMatch(/^\{"text":"x+…$/);
  expect(redacted({ text: 'x'.repeat(65_536) })).toBe('[65547 bytes]');
  expect(redactArguments([Buffer.from('{"text":')], new Set())).toBe('[8 bytes]');
});
