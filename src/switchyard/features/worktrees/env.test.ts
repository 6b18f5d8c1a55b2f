import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { checkEnvSources, syncEnv } from './env.ts';
import { envWarnings } from './env-warnings.ts';

let folder: string;
let root: string;
let worktree: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-env-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  root = join(folder, 'root');
  worktree = join(folder, 'worktree');
  mkdirSync(root);
  mkdirSync(worktree);
});

const sync = (env: { link?: string[]; copy?: string[] }, force = false): Promise<string[]> =>
  syncEnv({ root, worktree, env: { link: env.link ?? [], copy: env.copy ?? [] }, force });

function write(path: string, text = path): void {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
}

test('links point to the file of the project, copies are separate files; links come first', async () => {
  write(join(root, '.env'));
  write(join(root, 'config', 'local.json'), '{}');
  const actions = await sync({ link: ['.env', '.env.local'], copy: ['config/local.json', 'missing'] });
  expect(actions).toEqual([
    'linked .env',
    'missing link source .env.local',
    'copied config/local.json',
    'missing copy source missing',
  ]);
  expect(readlinkSync(join(worktree, '.env'))).toBe(join(root, '.env'));
  expect(lstatSync(join(worktree, 'config', 'local.json')).isFile()).toBe(true);
  expect(readdirSync(join(worktree, 'config'))).toEqual(['local.json']);
});

test('existing files of any kind are kept, and replaced only if forced', async () => {
  write(join(root, '.env'));
  write(join(root, 'data', 'a'));
  write(join(worktree, 'data', 'old'));
  symlinkSync(join(folder, 'nowhere'), join(worktree, '.env'));
  const env = { link: ['.env'], copy: ['data'] };
  expect(await sync(env)).toEqual(['kept existing .env', 'kept existing data']);
  expect(readlinkSync(join(worktree, '.env'))).toBe(join(folder, 'nowhere'));

  expect(await sync(env, true)).toEqual(['linked .env', 'copied data']);
  expect(readlinkSync(join(worktree, '.env'))).toBe(join(root, '.env'));
  expect(readdirSync(join(worktree, 'data'))).toEqual(['a']);
});

test('a link in place of a target is replaced, not followed', async () => {
  write(join(root, 'secrets'), 'new');
  write(join(folder, 'outside'), 'untouched');
  symlinkSync(join(folder, 'outside'), join(worktree, 'secrets'));
  expect(await sync({ copy: ['secrets'] }, true)).toEqual(['copied secrets']);
  expect(readFileSync(join(folder, 'outside'), 'utf8')).toBe('untouched');
  expect(lstatSync(join(worktree, 'secrets')).isFile()).toBe(true);
});

test('a source outside the project is rejected before anything is changed', async () => {
  write(join(root, '.env'));
  write(join(folder, 'secret'));
  symlinkSync(join(folder, 'secret'), join(root, 'escape'));
  symlinkSync(folder, join(root, 'way-out'));
  for (const item of ['escape', 'way-out/secret', 'way-out/not-there']) {
    const env = { link: ['.env'], copy: [item] };
    await expect(sync(env)).rejects.toThrow(`env source escapes project root: ${item}`);
    expect(() => checkEnvSources({ root, env })).toThrow('escapes');
  }
  expect(readdirSync(worktree)).toEqual([]);
});

test('a target outside the worktree is rejected before anything is changed', async () => {
  write(join(root, '.env'));
  write(join(root, 'config', 'a'));
  symlinkSync(folder, join(worktree, 'config'));
  await expect(sync({ link: ['.env'], copy: ['config/a'] })).rejects.toThrow(
    'env target escapes worktree: config/a',
  );
  expect(readdirSync(worktree)).toEqual(['config']);
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('copies keep their modes, so secrets stay private', async () => {
  write(join(root, 'key'));
  write(join(root, 'keys', 'script.sh'));
  chmodSync(join(root, 'key'), 0o600);
  chmodSync(join(root, 'keys'), 0o700);
  chmodSync(join(root, 'keys', 'script.sh'), 0o750);
  await sync({ copy: ['key', 'keys'] });
  const modes = ['key', 'keys', 'keys/script.sh'].map((path) => statSync(join(worktree, path)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o700, 0o750]);
});

test('links inside a copied directory stay links, wherever they point', async () => {
  write(join(root, 'data', 'file'));
  symlinkSync('file', join(root, 'data', 'inner'));
  symlinkSync('../../outside', join(root, 'data', 'outer'));
  symlinkSync('/etc/hostname', join(root, 'data', 'absolute'));
  await sync({ copy: ['data'] });
  const links = ['inner', 'outer', 'absolute'].map((name) => readlinkSync(join(worktree, 'data', name)));
  expect(links).toEqual(['file', '../../outside', '/etc/hostname']);
});

test('a source that is a link within the project is copied as its target', async () => {
  write(join(root, 'shared', '.env'), 'A=1');
  symlinkSync('shared/.env', join(root, '.env'));
  expect(await sync({ copy: ['.env'] })).toEqual(['copied .env']);
  expect(lstatSync(join(worktree, '.env')).isFile()).toBe(true);
});

test.skipIf(process.platform === 'win32')('a socket in a copied directory is left out', async () => {
  write(join(root, 'data', 'file'));
  const server = createServer().listen(join(root, 'data', 'socket'));
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  await sync({ copy: ['data'] });
  expect(readdirSync(join(worktree, 'data'))).toEqual(['file']);
});

test('a directory is not copied into itself', async () => {
  write(join(root, 'data', 'file'));
  mkdirSync(join(root, 'data', 'tree'));
  const copying = syncEnv({ root, worktree: join(root, 'data', 'tree'), env: { link: [], copy: ['data'] } });
  await expect(copying).rejects.toMatchObject({ code: 'COPY_INTO_ITSELF' });
  expect(readdirSync(join(root, 'data', 'tree'))).toEqual([]);
});

test('in the project itself everything is kept', async () => {
  write(join(root, '.env'), 'A=1');
  expect(await syncEnv({ root, worktree: root, env: { link: ['.env'], copy: [] }, force: true })).toEqual([
    'kept existing .env',
  ]);
  expect(readFileSync(join(root, '.env'), 'utf8')).toBe('A=1');
});

test('missing configured files are a warning, links first', () => {
  write(join(root, 'there'));
  symlinkSync('nowhere', join(root, 'dangling'));
  const env = { link: ['there', 'a'], copy: ['b', 'dangling'] };
  expect(envWarnings({ root, env })).toEqual([
    'missing link source a',
    'missing copy source b',
    'missing copy source dangling',
  ]);
});
