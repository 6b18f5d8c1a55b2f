import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolName } from './names.ts';

test('a valid name stays as it is', () => {
  expect(toolName('memory_suite')).toBe('memory_suite');
  expect(toolName('a'.repeat(64))).toBe('a'.repeat(64));
});

test('everything else becomes a valid name, always the same one', () => {
  expect(toolName('my server_suite')).toMatch(/^my_server_suite_[a-z0-9]{8}$/);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (wanted) => {
      const name = toolName(wanted);
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(toolName(wanted)).toBe(name);
    }),
  );
});

test('names that differ only in what is replaced or cut stay apart', () => {
  expect(toolName('a b')).not.toBe(toolName('a/b'));
  expect(toolName(`${'x'.repeat(80)}1`)).not.toBe(toolName(`${'x'.repeat(80)}2`));
  expect(toolName('')).toMatch(/^_/);
});
