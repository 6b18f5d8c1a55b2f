import fc from 'fast-check';
import { expect, test } from 'vitest';
import { namespaceOf, prefixedToolName, validToolName } from './valid-tool-name.ts';

test('a valid name stays as it is', () => {
  expect(validToolName('memory_suite')).toBe('memory_suite');
  expect(validToolName('a'.repeat(64))).toBe('a'.repeat(64));
});

test('everything else becomes a valid name, always the same one', () => {
  expect(validToolName('my server_suite')).toMatch(/^my_server_suite_[a-z0-9]{8}$/);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (wanted) => {
      const name = validToolName(wanted);
      expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(validToolName(wanted)).toBe(name);
    }),
  );
});

test('names that differ only in replaced or cut characters stay different', () => {
  expect(validToolName('a b')).not.toBe(validToolName('a/b'));
  expect(validToolName(`${'x'.repeat(80)}1`)).not.toBe(validToolName(`${'x'.repeat(80)}2`));
  expect(validToolName('')).toMatch(/^_/);
});

test('tools of a server share a prefix: its name, or its readable part', () => {
  expect(prefixedToolName('git-hub_2', 'look')).toBe('git-hub_2__look');
  expect(prefixedToolName('größe', 'look')).toMatch(/^grosse_[a-z0-9]{8}__look$/);
  expect(prefixedToolName('日本語', 'look')).toMatch(/^server_[a-z0-9]{8}__look$/);
  expect(prefixedToolName('my server ☀', 'look')).toMatch(/^my_server_[a-z0-9]{8}__look$/);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.string({ unit: 'binary' }), (one, other) => {
      expect(prefixedToolName(one, 'look')).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      if (one !== other) expect(namespaceOf(one)).not.toBe(namespaceOf(other));
    }),
  );
});
