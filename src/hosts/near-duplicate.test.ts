import { expect, test } from 'vitest';
import type { ConvertedEntry } from './convert.ts';
import { differences, isNearDuplicate } from './near-duplicate.ts';

const near = (one: ConvertedEntry, other: ConvertedEntry, [a, b] = ['github', 'github']): boolean =>
  isNearDuplicate({ name: a, entry: one }, { name: b, entry: other });
const npx = (...args: string[]): ConvertedEntry => ({ command: 'npx', args });

test('the same program is one server, whatever its key, time limit and way to start it', () => {
  const github = { ...npx('-y', '@acme/github'), env: { GITHUB_TOKEN: 'ghp_a1b2c3d4e5f6a1b2c3d4' } };
  expect(near(github, { ...github, env: { GITHUB_TOKEN: 'ghp_ffffffffffffffffff99' } })).toBe(true);
  expect(near(github, { ...github, env: { GITHUB_TOKEN: '${MY_TOKEN}' } })).toBe(true);
  expect(near(github, { ...github, timeouts: { rpcMs: 5000 }, description: 'GitHub' })).toBe(true);
  expect(near(github, npx('@acme/github@latest'))).toBe(true);
  expect(near(github, { ...github, command: '/usr/local/bin/npx' })).toBe(true);
  expect(near(github, { command: 'cmd', args: ['/c', 'npx', '-y', '@acme/github'] })).toBe(true);
  expect(near(github, { command: 'C:\\nodejs\\npx.cmd', args: ['@acme/github'] })).toBe(true);
  const remote = (token: string): ConvertedEntry => ({
    url: 'https://a.example/mcp',
    headers: { Authorization: token },
  });
  expect(near(remote('Bearer abc'), { ...remote('Bearer def'), url: 'https://a.example/mcp/' })).toBe(true);
});

test('another program, database, account or policy is another server', () => {
  expect(near(npx('a'), npx('b'))).toBe(false);
  expect(near(npx('files', '/home'), npx('files', '/srv'))).toBe(false);
  expect(near(npx('a'), { command: 'uvx', args: ['a'] })).toBe(false);
  expect(near({ ...npx('a'), cwd: '/x' }, { ...npx('a'), cwd: '/y' })).toBe(false);
  expect(near({ ...npx('a'), cwd: '/x' }, npx('a'))).toBe(true);
  expect(near({ url: 'https://a.example/mcp' }, { url: 'https://b.example/mcp' })).toBe(false);
  const db = (host: string): ConvertedEntry => ({
    ...npx('db'),
    env: { DATABASE_URL: `postgres://ada:pw@${host}/shop` },
  });
  expect(near(db('prod'), db('staging'))).toBe(false);
  expect(near(npx('a'), { ...npx('a'), hiddenTools: ['delete'] })).toBe(false);
  const account = (key: string): ConvertedEntry => ({ ...npx('mail'), env: { API_KEY: key } });
  expect(near(account('one'), account('two'), ['work', 'home'])).toBe(false);
  expect(near(account('one'), account('one'), ['mail', 'my-mail'])).toBe(true);
});

test('says which keys differ, and never their values', () => {
  const one: ConvertedEntry = { command: 'a', env: { KEY: 'x', SAME: '1' }, timeouts: { rpcMs: 1 } };
  const other: ConvertedEntry = { command: '/bin/a', env: { KEY: 'y', SAME: '1' }, disabled: true };
  expect(differences(one, other)).toEqual(['env.KEY', 'timeouts.rpcMs', 'command', 'disabled']);
  expect(differences(one, one)).toEqual([]);
});
