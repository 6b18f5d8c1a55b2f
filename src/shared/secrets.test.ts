import { expect, test } from 'vitest';
import { isSecretName, secretMask } from './secrets.ts';

test('a secret is masked everywhere, also quoted, printable or line by line', () => {
  const mask = secretMask(['hunter2-very-secret', 'two\nlong lines', 'with "quotes"']);
  expect(mask('bad token hunter2-very-secret!')).toBe('bad token ***!');
  expect(mask('said long lines')).toBe('said ***');
  expect(mask(JSON.stringify({ key: 'with "quotes"' }))).toBe('{"key":"***"}');
});

test('a secret is masked in every encoding that addresses, forms, headers and logs of JSON use', () => {
  const secret = `pass w\u00f6rd+%41/"'\\?#&=[x]|\n|$&`;
  const url = new URL('https://name@host.example/');
  url.password = secret;
  url.pathname = secret;
  url.search = secret;
  const quoted = JSON.stringify(JSON.stringify({ secret }));
  const said = [
    url.href,
    encodeURI(secret),
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString(),
    ...['', 'u:', 'u:u'].map((before) => Buffer.from(`${before}${secret}:x`).toString('base64')),
    Buffer.from(secret).toString('base64url'),
    quoted,
  ];
  const masked = said.map(secretMask([secret]));
  expect(masked).toEqual([
    'https://name:***@host.example/***?***',
    '***',
    '***',
    'secret=***',
    ...[0, 3, 4].map((before) => expect.stringMatching(`^.{0,${before}}\\*{3}.{0,6}$`)),
    expect.stringMatching(/^\*{3}.?$/),
    JSON.stringify(JSON.stringify({ secret: '***' })),
  ]);
});

test('a value that is a path does not mask the words in it', () => {
  const mask = secretMask(['/workspace', './config', '../shared', '/srv/../console']);
  expect(mask('workspace configuration, shared console')).toBe('workspace configuration, shared console');
  expect(mask('cannot open /workspace')).toBe('cannot open ***');
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
