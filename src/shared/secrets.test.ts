import { expect, test } from 'vitest';
import { isSecretName, secretMask } from './secrets.ts';

test('a secret is masked everywhere, also quoted, printable or line by line', () => {
  const mask = secretMask(['hunter2-very-secret', 'two\nlong lines', 'with "quotes"']);
  expect(mask('bad token hunter2-very-secret!')).toBe('bad token ***!');
  expect(mask('said long lines')).toBe('said ***');
  expect(mask(JSON.stringify({ key: 'with "quotes"' }))).toBe('{"key":"***"}');
});

test('what is short is left alone, and nothing to hide changes nothing', () => {
  expect(secretMask(['1', 'yes', ''])('yes, 1')).toBe('yes, 1');
  expect(secretMask([])('text')).toBe('text');
});

test('secrets are known by their names', () => {
  expect(
    ['GITHUB_TOKEN', 'DB_PASSWORD', 'OPENAI_API_KEY', 'apikey', 'AWS_SECRET_ACCESS_KEY'].every(isSecretName),
  ).toBe(true);
  expect(['PATH', 'HOME', 'LANG', 'NODE_ENV'].some(isSecretName)).toBe(false);
});
