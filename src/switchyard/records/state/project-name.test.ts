import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { hostName } from '../names.ts';
import { checkState } from './check.ts';
import { namedHere, whyNamed } from './project-name.ts';
import { ensureProject } from './project-record.ts';
import type { ServiceRecord, State } from './records.ts';

let folder: string;
let state: State;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-names-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  state = checkState({}).state;
});

/** Adds the project at a path, with `name` in its file. Returns the name it gets. */
function add(path: string, name = 'shop'): string {
  const root = join(folder, path);
  mkdirSync(root, { recursive: true });
  return ensureProject(state, { name, root, file: join(root, 'switchyard.toml') }).name;
}

const record = (path: string) => state.projects[join(folder, path)]!;

function run(path: string, project: string): void {
  const service = { hostname: hostName('web', 'main', project, 'localhost') } as ServiceRecord;
  record(path).services['main::web'] = service;
}

test('a second project is named after the directory that distinguishes it', () => {
  expect(add('play/shop')).toBe('shop');
  expect(add('work/shop')).toBe('shop-work');
  expect(add('work/shop-copy')).toBe('shop-copy');
  expect(add('a/mono/apps/web', 'Web App')).toBe('Web App');
  expect(add('b/mono/apps/web', 'Web App')).toBe('web-app-b');
});

test('otherwise it gets a number', () => {
  add('one/shop');
  expect(add('team/shop')).toBe('shop-team');
  expect(add('deeper/team/shop')).toBe('shop-2');
  expect(add('日本/shop')).toBe('shop-3');
  expect(add(`${'a'.repeat(40)}/shop`)).toBe('shop-4');
});

test('names with the same slug count as the same', () => {
  add('a/x', 'My Shop');
  expect(add('b/x', 'my-shop')).toBe('my-shop-b');
  expect(add('c/x', 'Shöp')).toBe('Shöp');
});

test('a name lasts, and an automatic one is dropped when the file changes', () => {
  add('play/shop');
  add('work/shop');
  Reflect.deleteProperty(state.projects, join(folder, 'play/shop'));
  expect(add('work/shop')).toBe('shop-work');
  expect(add('home/shop')).toBe('shop');
  expect(add('work/shop', 'store')).toBe('store');
  expect(record('work/shop').local_name).toBeUndefined();
});

test('a project that changes its name does not take that of another one', () => {
  add('old/kiosk', 'kiosk');
  add('play/shop');
  expect(add('old/kiosk', 'shop')).toBe('shop-kiosk');
  expect(add('play/shop')).toBe('shop');
});

test('services that run under a name reserve it', () => {
  add('play/shop');
  run('play/shop', 'shop');
  expect(add('play/shop', 'kiosk')).toBe('kiosk');
  expect(add('work/shop')).toBe('shop-work');
});

test('of two projects with the same name from an earlier version, the running one keeps it, then the older one', () => {
  for (const path of ['play/shop', 'work/shop']) {
    add(path);
    Object.assign(record(path), { name: 'shop', slug: 'shop', local_name: undefined });
  }
  Object.assign(record('play/shop'), { created_at: '2026-01-01T00:00:00+00:00' });
  const named = (path: string): string => namedHere(state, { ...record(path), name: 'shop' }).name;
  expect([named('play/shop'), named('work/shop')]).toEqual(['shop', 'shop-work']);
  run('work/shop', 'shop');
  expect([named('play/shop'), named('work/shop')]).toEqual(['shop-play', 'shop']);
});

test('a project that is gone keeps its name only while something is recorded for it', () => {
  add('play/shop');
  run('play/shop', 'shop');
  rmSync(join(folder, 'play'), { recursive: true });
  expect(add('work/shop')).toBe('shop-work');
  record('play/shop').services = {};
  expect(add('home/shop')).toBe('shop');
  expect(Object.keys(state.projects)).toEqual([join(folder, 'work/shop'), join(folder, 'home/shop')]);
});

test('the reason for a different name is reported', () => {
  add('play/shop');
  add('work/shop');
  const why = (path: string): string | undefined =>
    whyNamed(state, { name: 'shop', root: join(folder, path) });
  expect(why('play/shop')).toBeUndefined();
  expect(why('work/shop')).toBe(
    `this project is called shop-work on this machine, because ${join(folder, 'play/shop')} uses the name shop`,
  );
  Reflect.deleteProperty(state.projects, join(folder, 'play/shop'));
  expect(why('work/shop')).toBe(
    'this project is called shop-work on this machine, because another project used the name shop',
  );
});

test('an invalid local name in the file is repaired', () => {
  add('play/shop');
  const damaged = JSON.parse(JSON.stringify(state)) as { projects: Record<string, object> };
  Object.assign(damaged.projects[join(folder, 'play/shop')]!, { local_name: 'kiosk' });
  expect(checkState(damaged).warnings).toEqual([
    expect.stringContaining('has a missing or invalid "local_name"'),
  ]);
});
