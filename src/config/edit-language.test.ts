import { expect, test } from 'vitest';
import { withLanguage, withoutLanguage } from './edit.ts';

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
  ['two', {}, '"command": "y", // why\n      "language": true,\n'],
])(
  'a model is put into the entry of %s and taken out again, and all else stays',
  (server, language, shown) => {
    const changed = withLanguage(TEXT, server, language);
    expect(changed).toContain(shown);
    expect(withoutLanguage(changed, server)).toBe(TEXT);
  },
);

test('settings take the place of none', () => {
  const changed = withLanguage(withLanguage(TEXT, 'one', {}), 'one', { model: 'm' });
  expect(changed).toContain('"language": { "model": "m" }');
  expect(withLanguage(TEXT.replace('"x"', '"x", "language": false'), 'one', {})).toContain(
    '"language": true',
  );
});

test('settings that are there already are not lost', () => {
  const set = withLanguage(TEXT, 'one', { model: 'm', apiKey: 'k' });
  expect(withLanguage(set, 'one', {})).toBe(set);
  expect(withLanguage(set, 'one', { apiKey: 'k', model: 'm' })).toBe(set);
  expect(() => withLanguage(set, 'one', { model: 'other' })).toThrow(
    /"one" already has a model with other settings/,
  );
});

test('where there is no such entry, nothing changes', () => {
  expect(withLanguage(TEXT, 'three', {})).toBe(TEXT);
  expect(withoutLanguage(TEXT, 'one')).toBe(TEXT);
  expect(withoutLanguage('{}', 'one')).toBe('{}');
});
