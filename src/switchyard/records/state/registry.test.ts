import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { homeOf, makeHome, type Home } from './home.ts';
import { withProjectLock } from './project-lock.ts';
import { ensureProject } from './project-record.ts';
import type { ServiceRecord } from './records.ts';
import { openRegistry } from './registry.ts';

let home: Home;
beforeEach(() => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-state-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  home = homeOf({ SWITCHYARD_HOME: join(folder, 'home') });
});

const SHOP = { name: 'Shop', slug: 'shop', root: '/nowhere/shop', file: '/nowhere/shop/switchyard.toml' };

function service(branch: string): ServiceRecord {
  return {
    ...{
      project: 'Shop',
      project_slug: 'shop',
      project_root: SHOP.root,
      branch,
      branch_slug: branch,
      service: 'web',
    },
    ...{
      command: 'node x',
      desired_port: 3000,
      port: 20_001,
      backend_host: '127.0.0.1',
      hostname: 'web',
      url: 'http://web',
    },
    ...{ worktree: '/nowhere', pid: 4711, started_at: 'now', log_file: '/nowhere.log' },
  };
}

function writeRaw(value: unknown): void {
  makeHome(home);
  writeFileSync(home.stateFile, typeof value === 'string' ? value : JSON.stringify(value));
}

const readRaw = (): Record<string, unknown> =>
  JSON.parse(readFileSync(home.stateFile, 'utf8')) as Record<string, unknown>;

describe('reading and writing', () => {
  test('reading creates nothing and returns an empty state', () => {
    const registry = openRegistry(home);
    expect(registry.read()).toEqual({ version: 1, projects: {}, project_aliases: {}, proxies: {} });
    expect(registry.warnings).toEqual([]);
    expect(existsSync(home.root)).toBe(false);
  });

  test('changes are visible to others, in a file for its owner only', async () => {
    const result = await openRegistry(home).change((state) => ensureProject(state, SHOP).slug);
    expect(result).toBe('shop');
    expect(openRegistry(home).read().projects[SHOP.root]).toMatchObject({
      name: 'Shop',
      config: SHOP.file,
      worktrees: {},
    });
    expect(statSync(home.stateFile).mode & 0o777).toBe(0o600);
    expect(statSync(home.root).mode & 0o777).toBe(0o700);
  });

  test('the file has two spaces, sorted keys and a last newline', async () => {
    await openRegistry(home).change((state) => ensureProject(state, SHOP));
    const text = readFileSync(home.stateFile, 'utf8');
    expect(text).toMatch(/^\{\n {2}"project_aliases": \{\},\n {2}"projects": \{\n/);
    expect(text.endsWith('"version": 1\n}\n')).toBe(true);
  });

  test('without a change nothing is written', async () => {
    const registry = openRegistry(home);
    await registry.change(() => undefined);
    expect(existsSync(home.stateFile)).toBe(false);
    await registry.change((state) => ensureProject(state, SHOP));
    const { ino } = statSync(home.stateFile);
    await registry.change((state) => ensureProject(state, SHOP));
    expect(statSync(home.stateFile).ino).toBe(ino);
  });

  test('work that throws changes nothing', async () => {
    const registry = openRegistry(home);
    await registry.change((state) => ensureProject(state, SHOP));
    const before = readFileSync(home.stateFile, 'utf8');
    const failing = registry.change((state) => {
      state.projects = {};
      throw new Error('no luck');
    });
    await expect(failing).rejects.toThrow('no luck');
    expect(readFileSync(home.stateFile, 'utf8')).toBe(before);
  });

  test('a branch called constructor is just a branch', async () => {
    const registry = openRegistry(home);
    await registry.change((state) => ensureProject(state, SHOP));
    expect(registry.read().projects[SHOP.root]!.worktrees['constructor']).toBeUndefined();
    expect(registry.read().projects['constructor']).toBeUndefined();
    writeRaw('{"project_aliases":{"__proto__":"/a","toString":"/b"}}');
    await registry.change((state) => void (state.project_aliases['x'] = '/c'));
    expect(Object.entries(registry.read().project_aliases)).toEqual([
      ['__proto__', '/a'],
      ['toString', '/b'],
      ['x', '/c'],
    ]);
  });

  test('drafts of a killed writer are removed, fresh ones are not', async () => {
    makeHome(home);
    const [old, fresh] = ['0123456789ab', 'ba9876543210'].map((mark) => `${home.stateFile}.${mark}.tmp`);
    writeFileSync(old!, '{');
    writeFileSync(fresh!, '{');
    utimesSync(old!, new Date(0), new Date(0));
    await openRegistry(home).change((state) => ensureProject(state, SHOP));
    expect(existsSync(old!)).toBe(false);
    expect(existsSync(fresh!)).toBe(true);
  });
});

describe('what others wrote', () => {
  test('unknown fields are kept everywhere', async () => {
    writeRaw({
      version: 1,
      extra: [1],
      projects: { [SHOP.root]: { name: 'Shop', config: SHOP.file, more: { a: 1 } } },
    });
    await openRegistry(home).change((state) => {
      state.projects[SHOP.root]!.services['main::web'] = { ...service('main'), later: true } as ServiceRecord;
    });
    const written = readRaw();
    expect(written).toMatchObject({
      extra: [1],
      projects: { [SHOP.root]: { more: { a: 1 }, slug: 'shop' } },
    });
    expect(openRegistry(home).read().projects[SHOP.root]!.services['main::web']).toMatchObject({
      later: true,
    });
  });

  test('a newer state is read as far as possible, and not written', async () => {
    writeRaw({ version: 2, projects: { [SHOP.root]: { name: 'Shop', config: SHOP.file, worktrees: [] } } });
    const registry = openRegistry(home);
    expect(registry.read().projects[SHOP.root]).toMatchObject({ name: 'Shop', worktrees: {} });
    expect(registry.warnings[0]).toContain('newer Switchyard');
    const before = readFileSync(home.stateFile, 'utf8');
    await expect(registry.change((state) => (state.projects = {}))).rejects.toMatchObject({
      code: 'STATE_NEWER',
    });
    expect(readFileSync(home.stateFile, 'utf8')).toBe(before);
    expect(existsSync(home.corruptFile)).toBe(false);
  });

  test('a record with a field of a wrong type is dropped and reported; others stay', async () => {
    const services = {
      'main::web': service('main'),
      'a::web': { ...service('a'), port: '20001' },
      'b::web': { ...service('b'), pid: undefined },
      'c::web': 'nonsense',
      'd::web': { ...service('d'), argv: [1] },
    };
    const worktrees = { main: { branch: 'main', slug: 'main', path: 7, updated_at: '' } };
    writeRaw({
      projects: { [SHOP.root]: { name: 'Shop', config: SHOP.file, services, worktrees }, '/b': { name: 1 } },
      proxies: { 7331: 'x' },
      forwarder: [],
      project_aliases: 'none',
    });
    const before = readFileSync(home.stateFile, 'utf8');
    const registry = openRegistry(home);
    const state = registry.read();
    expect(Object.keys(state.projects)).toEqual([SHOP.root]);
    expect(Object.keys(state.projects[SHOP.root]!.services)).toEqual(['main::web']);
    expect(state).toMatchObject({ proxies: {}, project_aliases: {} });
    expect(state.forwarder).toBeUndefined();
    expect(registry.warnings).toHaveLength(9);
    expect(registry.warnings.join('\n')).toContain(
      'services["a::web"] has a missing or invalid "port" and was ignored.',
    );

    await registry.change((changed) => ensureProject(changed, { ...SHOP, name: 'Other' }));
    expect(readFileSync(home.corruptFile, 'utf8')).toBe(before);
    expect(registry.warnings.join('\n')).toContain(home.corruptFile);
    registry.read();
    expect(registry.warnings.join('\n')).toContain(home.corruptFile);
    const later = openRegistry(home);
    later.read();
    expect(later.warnings).toEqual([]);
  });

  test.each(['', '{"version": 1,', '[]', 'null', '"text"', '\0\0\0\0'])(
    'an invalid file (%j) counts as empty for readers and is set aside by writers',
    async (text) => {
      writeRaw(text);
      const registry = openRegistry(home);
      expect(registry.read().projects).toEqual({});
      expect(registry.warnings.join()).toContain('cannot be read');
      expect(readFileSync(home.stateFile, 'utf8')).toBe(text);

      await registry.change((state) => ensureProject(state, SHOP));
      expect(readFileSync(home.corruptFile, 'utf8')).toBe(text);
      expect(statSync(home.corruptFile).mode & 0o777).toBe(0o600);
      expect(Object.keys(registry.read().projects)).toEqual([SHOP.root]);
    },
  );

  test('a second broken file does not overwrite the first one', async () => {
    for (const text of ['one', 'two', 'three']) {
      writeRaw(text);
      await openRegistry(home).change((state) => ensureProject(state, SHOP));
    }
    const kept = readdirSync(home.root).filter((name) => name.includes('corrupt'));
    expect(kept.sort()).toEqual(['state.corrupt.2.json', 'state.corrupt.3.json', 'state.corrupt.json']);
    expect(readFileSync(join(home.root, 'state.corrupt.2.json'), 'utf8')).toBe('two');
  });

  test('a broken file is repaired once, even if the work that found it fails', async () => {
    writeRaw('broken');
    const failing = openRegistry(home).change(() => {
      throw new Error('no luck');
    });
    await expect(failing).rejects.toThrow('no luck');
    const registry = openRegistry(home);
    await registry.change((state) => ensureProject(state, SHOP));
    expect(registry.warnings).toEqual([]);
    expect(readdirSync(home.root).filter((name) => name.includes('corrupt'))).toEqual(['state.corrupt.json']);
  });

  test('repair sets a broken file aside and writes nothing else', async () => {
    const registry = openRegistry(home);
    await registry.repair();
    expect(existsSync(home.root)).toBe(false);
    writeRaw('broken');
    await registry.repair();
    expect(readFileSync(home.corruptFile, 'utf8')).toBe('broken');
    expect(registry.warnings.join()).toContain(`is kept in ${home.corruptFile}`);
    const repaired = readFileSync(home.stateFile, 'utf8');
    await registry.repair();
    expect(readFileSync(home.stateFile, 'utf8')).toBe(repaired);
    expect(readdirSync(home.root).filter((name) => name.includes('corrupt'))).toEqual(['state.corrupt.json']);
  });

  test('a directory in place of the file is an error that names it', () => {
    mkdirSync(home.stateFile, { recursive: true });
    expect(() => openRegistry(home).read()).toThrow(home.stateFile);
  });
});

describe('several processes', () => {
  let folder = '';
  let program = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'yard-writer-'));
    program = join(folder, 'writer.mjs');
    buildSync({
      stdin: {
        contents: `
          import { homeOf } from './home.ts';
          import { withProjectLock } from './project-lock.ts';
          import { openRegistry } from './registry.ts';
          const [name, times] = process.argv.slice(2);
          const home = homeOf(process.env);
          const registry = openRegistry(home);
          if (name === '--hold') {
            setInterval(() => undefined, 1000);
            await withProjectLock({ home, config: { root: '/shop' } }, { what: 'up main' }, () => new Promise(() => console.log('held')));
          }
          for (let i = 0; i < Number(times); i++) {
            await registry.change((state) => void (state.project_aliases[name + '-' + i] = '/' + 'x'.repeat(2000)));
            if (i === 0) console.log('writing');
          }`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        loader: 'ts',
      },
      ...{ outfile: program, bundle: true, platform: 'node', format: 'esm', logLevel: 'error' },
      banner: {
        js: "import * as bundled from 'node:module'; const require = bundled.createRequire(import.meta.url);",
      },
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function writer(name: string, times: number): ReturnType<typeof spawn> {
    const env = { ...process.env, SWITCHYARD_HOME: home.root };
    const child = spawn(process.execPath, [program, name, String(times)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }

  test('twenty processes that change the state concurrently lose nothing', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const ends = await Promise.all(names.map((name) => once(writer(name, 5), 'exit')));
    expect(ends.map(([code]) => code as number)).toEqual(names.map(() => 0));
    const aliases = Object.keys(openRegistry(home).read().project_aliases);
    expect(aliases.sort()).toEqual(
      names.flatMap((name) => [0, 1, 2, 3, 4].map((i) => `${name}-${i}`)).sort(),
    );
  }, 60_000);

  test('a writer killed at any moment leaves a valid state, and the next one continues', async () => {
    let seen = 0;
    for (let round = 0; round < 12; round++) {
      const child = writer(`r${round}`, 100_000);
      await once(child.stdout!, 'data');
      // At a different point of its work each time.
      const moment = performance.now() + round * 1.7;
      while (performance.now() < moment);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const registry = openRegistry(home);
      const count = Object.keys(registry.read().project_aliases).length;
      expect(registry.warnings).toEqual([]);
      expect(count).toBeGreaterThan(seen);
      seen = count;
    }
    await openRegistry(home).change((state) => void (state.project_aliases['last'] = '/'));
    expect(openRegistry(home).read().project_aliases['last']).toBe('/');
    expect(existsSync(home.corruptFile)).toBe(false);
  }, 60_000);

  test('a command that waits for a project reports why, and gets the lock when its holder dies', async () => {
    const child = writer('--hold', 0);
    await once(child.stdout!, 'data');
    const told: string[] = [];
    const order: string[] = [];
    const work = (name: string) => () => Promise.resolve(void order.push(name));
    const waiting = withProjectLock(
      { home, config: { root: '/shop' } },
      { what: 'down', onEvent: ({ text }) => told.push(text) },
      work('waited'),
    );
    await until(() => told.length > 0, { what: 'the word who holds it' });
    expect(told).toEqual([`waiting for "up main" (pid ${child.pid})`]);
    await withProjectLock(
      { home, config: { root: '/another-project' } },
      { what: 'up' },
      work('not concerned'),
    );
    child.kill('SIGKILL');
    await waiting;
    expect(order).toEqual(['not concerned', 'waited']);
  });
});
