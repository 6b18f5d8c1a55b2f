import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import type { Credentials } from './credentials.ts';
import { createStore, keyOf, type CredentialStore } from './store.ts';

let directory: string;
let folder: string;
let file: string;
let lines: string[];
const url = 'https://mcp.example/mcp';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-store-'));
  folder = join(directory, 'auth');
  file = join(folder, `${keyOf('../notes', url)}.json`);
  lines = [];
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const store = (server = '../notes'): CredentialStore =>
  createStore({
    server,
    url,
    directory,
    log: createLogger({ level: 'debug', program: 'test', write: (line) => lines.push(line) }),
  });

const credentials = (access = 'access-1'): Credentials => ({
  issuer: 'https://login.example',
  endpoints: 'told',
  resource: url,
  client: { kind: 'registered', id: 'c', redirectUri: 'http://127.0.0.1:1/callback' },
  tokens: { access, refresh: 'refresh-1', expiresAt: 1, scope: 'read' },
});

const posix = process.platform !== 'win32';

test('what is written is read by the next one, and only its owner may', async () => {
  await store().write(credentials());
  expect(await store().read()).toMatchObject(credentials());
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
  if (posix) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  }
  expect(lines).toEqual([]);
});

test('nothing is there before it is written, and nothing after it was removed', async () => {
  const one = store();
  expect(await one.read()).toBeUndefined();
  expect(await one.remove()).toBe(false);
  await one.write(credentials());
  expect(await one.remove()).toBe(true);
  expect(await one.read()).toBeUndefined();
  expect(lines).toEqual([]);
});

test('what another process writes is seen, and what stays the same is not read again', async () => {
  const [one, two] = [store(), store()];
  await one.write(credentials());
  const first = await two.read();
  expect(await two.read()).toBe(first);
  await one.write(credentials('access-2'));
  expect((await two.read())?.tokens?.access).toBe('access-2');
});

test.each([
  '',
  '{',
  '[]',
  '7',
  '{"key":1}',
  '{"issuer":"x"}',
  JSON.stringify({ ...credentials(), key: 'k', tokens: { access: 'a b' } }),
  JSON.stringify({ ...credentials(), key: 'k', tokens: { access: 'a', expiresAt: 1e21 } }),
  JSON.stringify({ ...credentials(), key: 'k', wanted: 7 }),
])('a damaged file is set aside with a warning, and counts as none: %s', async (content) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, content, { mode: 0o600 });
  const one = store();
  expect(await one.read()).toBeUndefined();
  expect(await one.read()).toBeUndefined();
  expect(lines).toEqual([expect.stringContaining('damaged')]);
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/\.json\.damaged-\d+$/)]);
  await one.write(credentials());
  expect(await one.read()).toMatchObject(credentials());
});

test.runIf(posix).each([
  ['that others can read', () => chmodSync(file, 0o644), 'other users can read'],
  ['with a second name', () => linkSync(file, join(directory, 'other-name')), 'hard link'],
  ['in a directory that others can write to', () => chmodSync(folder, 0o770), 'other users can write'],
  ['below one', () => chmodSync(directory, 0o777), 'other users can write'],
  ['of another user', () => chownSync(file, 12_345, 12_345), 'another user'],
])('a file %s is not used, with a warning', async (_what, open, why) => {
  await store().write(credentials());
  try {
    open();
  } catch {
    // Only root can change the owner of a file.
    return;
  }
  const one = store();
  expect(await one.read()).toBeUndefined();
  expect(await one.read()).toBeUndefined();
  expect(lines).toEqual([expect.stringContaining(why)]);
});

test.runIf(posix)('nothing is written to a directory that others can write to', async () => {
  mkdirSync(folder, { mode: 0o700 });
  chmodSync(folder, 0o777);
  await expect(store().write(credentials())).rejects.toThrow('other users can write to its directory');
  expect(readdirSync(folder)).toEqual([]);
});

test.runIf(posix)('a directory that others could read is closed to them', async () => {
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  await store().write(credentials());
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.runIf(posix)('a link in the place of the file is neither read nor written through', async () => {
  await store().write(credentials());
  const elsewhere = join(directory, 'elsewhere.json');
  renameSync(file, elsewhere);
  symlinkSync(elsewhere, file);
  const one = store();
  expect(await one.read()).toBeUndefined();
  expect(lines).toEqual([expect.stringContaining('symbolic link')]);
  await expect(one.write(credentials('access-2'))).rejects.toThrow('cannot be stored');
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
});

test.runIf(posix)('a link in the place of the directory is not written through', async () => {
  const elsewhere = join(directory, 'elsewhere');
  mkdirSync(elsewhere);
  symlinkSync(elsewhere, folder);
  await expect(store().write(credentials())).rejects.toThrow(expect.objectContaining({ code: 'AUTH_STORE' }));
  expect(readdirSync(elsewhere)).toEqual([]);
});

test.runIf(process.platform === 'linux')(
  'where there is no directory there is no login, and that is told once',
  async () => {
    writeFileSync(folder, '');
    const one = store();
    expect([await one.read(), await one.read()]).toEqual([undefined, undefined]);
    expect(lines).toEqual([expect.stringContaining('cannot be read')]);
    await expect(one.write(credentials())).rejects.toThrow(expect.objectContaining({ code: 'AUTH_STORE' }));
  },
);

test('the login of another server is not used, whatever file it is in', async () => {
  await store('other').write(credentials());
  renameSync(join(folder, `${keyOf('other', url)}.json`), file);
  expect(await store().read()).toBeUndefined();
  expect(lines).toEqual([expect.stringContaining('another server')]);
});

test('no warning repeats a secret', async () => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, `{"tokens":{"access":"access-1","refresh":"refresh-1"`, { mode: 0o644 });
  await store().read();
  expect(lines.join('')).not.toMatch(/access-1|refresh-1/);
});
