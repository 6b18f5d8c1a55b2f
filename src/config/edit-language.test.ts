import { expect, test } from 'vitest';
import { withLanguage, withoutLanguage } from './edit-language.ts';

const TEXT = `{
  // Ours.
  "mcpServers": {
    "one": { "command": "x" }, // the first
    "two": {
      "command": "y", // why
    },
  },
}
`;

test.each([
  ['one', { model: 'm' }, '{ "command": "x", "language": { "model": "m" } }, // the first'],
  ['two', true as const, '"command": "y", // why\n      "language": true,\n'],
])(
  'a model is put into the entry of %s and taken out again, and all else stays',
  (server, language, shown) => {
    const changed = withLanguage(TEXT, server, language);
    expect(changed).toContain(shown);
    expect(withoutLanguage(changed, server)).toBe(TEXT);
  },
);

test('another model takes the place of the one before', () => {
  const changed = withLanguage(withLanguage(TEXT, 'one', { model: 'm' }), 'one', true);
  expect(changed).toContain('"language": true');
  expect(changed).not.toContain('"model"');
});

test('where there is no such entry, nothing changes', () => {
  expect(withLanguage(TEXT, 'three', true)).toBe(TEXT);
  expect(withoutLanguage(TEXT, 'one')).toBe(TEXT);
  expect(withoutLanguage('{}', 'one')).toBe('{}');
});
