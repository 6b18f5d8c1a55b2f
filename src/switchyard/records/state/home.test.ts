import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { homeOf, insideLogs, logFileOf, makeHome, worktreeOf } from './home.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-home-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test('the home is ~/.switchyard unless SWITCHYARD_HOME names another, in which ~ counts', () => {
  expect(homeOf({}).root).toBe(join(realpathSync(homedir()), '.switchyard'));
  expect(homeOf({ SWITCHYARD_HOME: '~/elsewhere' }).root).toBe(join(realpathSync(homedir()), 'elsewhere'));
  expect(homeOf({ SWITCHYARD_HOME: join(folder, 'a') }).root).toBe(join(folder, 'a'));
});

test('determining the home creates nothing', () => {
  homeOf({ SWITCHYARD_HOME: join(folder, 'a') });
  expect(existsSync(join(folder, 'a'))).toBe(false);
});

test('all directories of a home are for their owner only', () => {
  const home = homeOf({ SWITCHYARD_HOME: join(folder, 'deep', 'home') });
  makeHome(home);
  for (const path of [home.root, home.logs, home.worktrees, home.ports, home.run])
    expect(modeOf(path)).toBe(0o700);
});

test('a home reached through a link is the same home, before and after it is created', () => {
  mkdirSync(join(folder, 'real'));
  symlinkSync(join(folder, 'real'), join(folder, 'link'));
  const before = homeOf({ SWITCHYARD_HOME: join(folder, 'link', 'home') });
  makeHome(before);
  const after = homeOf({ SWITCHYARD_HOME: join(folder, 'real', 'home') });
  expect(after.root).toBe(before.root);
  expect(after.hash).toBe(before.hash);
  expect(after.lockName('state')).toBe(before.lockName('state'));
  expect(homeOf({ SWITCHYARD_HOME: join(folder, 'other') }).lockName('state')).not.toBe(
    before.lockName('state'),
  );
});

test('projects of the same name have different directories', () => {
  const home = homeOf({ SWITCHYARD_HOME: folder });
  const a = { name: 'Shop', root: '/a/shop' };
  const b = { name: 'Shop', root: '/b/shop' };
  expect(logFileOf(home, a, 'feature/x', 'web.log')).toMatch(
    /\/logs\/shop-[0-9a-f]{8}\/feature-x\/web\.log$/,
  );
  expect(logFileOf(home, a, 'main', 'web.log')).not.toBe(logFileOf(home, b, 'main', 'web.log'));
  expect(worktreeOf(home, a, 'main')).not.toBe(worktreeOf(home, b, 'main'));
});

test('the directory of a branch with a very long name is valid and unique', () => {
  const home = homeOf({ SWITCHYARD_HOME: folder });
  const long = 'part-of-a-name/'.repeat(30);
  const [one, two] = ['1', '2'].map((end) => worktreeOf(home, { name: 'shop', root: '/shop' }, long + end));
  mkdirSync(one!, { recursive: true });
  expect(basename(one!).length).toBeLessThanOrEqual(200);
  expect(one).not.toBe(two);
});

test('only paths inside the log directory after following links count as logs', () => {
  const home = homeOf({ SWITCHYARD_HOME: join(folder, 'home') });
  makeHome(home);
  writeFileSync(join(folder, 'secret'), '');
  symlinkSync(join(folder, 'secret'), join(home.logs, 'link.log'));
  symlinkSync(join(folder, 'not-there'), join(home.logs, 'dangling.log'));
  symlinkSync(home.logs, join(folder, 'way-in'));
  symlinkSync('loop', join(home.logs, 'loop'));
  expect(insideLogs(home, join(home.logs, 'shop', 'main', 'web.log'))).toBe(true);
  expect(insideLogs(home, join(folder, 'way-in', 'web.log'))).toBe(true);
  expect(insideLogs(home, join(home.logs, '..', 'state.json'))).toBe(false);
  expect(insideLogs(home, `${home.logs}-too/web.log`)).toBe(false);
  expect(insideLogs(home, join(home.logs, 'link.log'))).toBe(false);
  expect(insideLogs(home, join(home.logs, 'dangling.log'))).toBe(false);
  expect(insideLogs(home, join(home.logs, 'loop'))).toBe(true);
  // To the system, this is the directory above the one that the link points to.
  mkdirSync(join(folder, 'out', 'deep'), { recursive: true });
  symlinkSync(join(folder, 'out', 'deep'), join(home.logs, 'way'));
  expect(insideLogs(home, `${home.logs}/way/../secret.log`)).toBe(false);
  expect(insideLogs(home, `${home.logs}/shop/../web.log`)).toBe(false);
  expect(insideLogs(home, 'web.log')).toBe(false);
});

test('a home that cannot be created is an error with the next step', () => {
  writeFileSync(join(folder, 'file'), '');
  const home = homeOf({ SWITCHYARD_HOME: join(folder, 'file') });
  expect(() => makeHome(home)).toThrow(
    expect.objectContaining({
      code: 'HOME_NOT_WRITABLE',
      message: `${home.root} cannot be created (EEXIST).`,
    }),
  );
});
