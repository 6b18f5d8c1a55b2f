/** Two clones of one repository on one machine: each has an address of its own, which stays. */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { freePort } from '../helpers/yard-home.ts';
import { serviceCommand, visit } from '../helpers/yard-traffic.ts';
import { createYard, type TestYard, type YardRun } from '../helpers/yard.ts';

/** A folder with clones of a repository that calls its project shop. */
interface Clones extends TestYard {
  readonly proxyPort: number;
  /** Clones it to a path below the folder. Gives the path. */
  clone(path: string): string;
  /** Runs `switchyard` in a directory; throws when the exit code is not 0. */
  say(cwd: string, ...args: string[]): Promise<string>;
  askIn(cwd: string, ...args: string[]): Promise<any>;
  /** The process that answers under an address, by the proxy. */
  pidAt(url: string): Promise<number>;
}

async function clones({ name = '[project]\nname = "shop"\n' } = {}): Promise<Clones> {
  const proxyPort = await freePort();
  const toml =
    `${name}[proxy]\nport = ${proxyPort}\n[ports]\nstart = 26000\nend = 26999\n` +
    `[services.web]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 40\n`;
  const yard = createYard({ git: false, files: { 'origin/switchyard.toml': toml } });
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: yard.path('origin'), env: yard.env, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-q', '-m', 'start');
  const done = ({ code, stdout, stderr }: YardRun): string => {
    expect(code, stdout + stderr).toBe(0);
    return stdout;
  };
  const say = async (cwd: string, ...args: string[]): Promise<string> => done(await yard.run(args, { cwd }));
  return {
    ...yard,
    proxyPort,
    clone(path) {
      git('clone', '-q', '.', yard.path(path));
      return yard.path(path);
    },
    say,
    askIn: async (cwd, ...args) => JSON.parse(await say(cwd, ...args, '--json')),
    pidAt: async (url) => (await visit({ port: proxyPort, host: new URL(url).host }, '/')).json.pid,
  };
}

const url = ({ proxyPort }: Clones, name: string, branch = 'main'): string =>
  `http://web.${branch}.${name}.localhost:${proxyPort}`;

const aboutName = ({ what }: { what: string }): boolean => what.includes('is called');

describe('two clones of one name', () => {
  test('have an address each, which up, where, open and doctor name, and which reaches the right one', async () => {
    const yard = await clones();
    const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
    expect(await yard.say(first, 'up')).toContain(url(yard, 'shop'));
    const told = await yard.say(second, 'up');
    expect(told).toContain(url(yard, 'shop-work'));
    expect(told).toContain(
      `this project is called shop-work on this machine, because ${first} uses the name shop`,
    );

    for (const [clone, name] of [
      [first, 'shop'],
      [second, 'shop-work'],
    ] as const) {
      const where = await yard.askIn(clone, 'where', 'web');
      expect(where).toMatchObject({ url: url(yard, name), project: name, listener: { verified: true } });
      expect(await yard.pidAt(where.url)).toBe(where.listener.pid);
      expect(await yard.askIn(clone, 'open', 'web', '--print-only')).toMatchObject({ url: where.url });
      expect((await yard.askIn(clone, 'doctor')).project).toMatchObject({ name, root: clone });
    }
    expect(await yard.say(second, 'where', 'web')).toContain('shop-work on this machine, because');
    expect(await yard.say(second, 'doctor')).toMatch(
      /note: .*shop-work on this machine, because.*\n.*switchyard rename/,
    );
    expect((await yard.askIn(first, 'doctor')).findings.filter(aboutName)).toEqual([]);

    // The service is told the same name as its address has.
    const { pid } = await yard.askIn(second, 'where', 'web');
    const env = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    expect(env).toContain('SWITCHYARD_PROJECT=shop-work');
    expect(env).toContain('SWITCHYARD_PROJECT_SLUG=shop-work');

    // Its branches too.
    await yard.say(second, 'create', 'feature');
    expect(await yard.say(second, 'up', 'feature')).toContain(url(yard, 'shop-work', 'feature'));
  });

  test('keep their names when the first one is gone, and a third one takes the free name', async () => {
    const yard = await clones({ name: '' });
    const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
    await yard.say(first, 'up');
    await yard.say(second, 'up');
    await yard.say(first, 'down');
    await yard.say(second, 'down');
    rmSync(first, { recursive: true });
    expect(await yard.say(second, 'up')).toContain(url(yard, 'shop-work'));
    const third = yard.clone('home/shop');
    expect(await yard.say(third, 'up')).toContain(`-> ${url(yard, 'shop')}\n`);

    // One that comes back does not take it from the one that has it now.
    await yard.say(third, 'down');
    renameSync(yard.clone('again/shop'), first);
    expect(await yard.say(first, 'up')).toContain(url(yard, 'shop-play'));
    expect(await yard.say(third, 'up')).toContain(`-> ${url(yard, 'shop')}\n`);
  });

  test('started at the same moment do not share a name', async () => {
    const yard = await clones();
    const paths = ['a', 'b', 'c'].map((folder) => yard.clone(`${folder}/shop`));
    await Promise.all(paths.map((path) => yard.say(path, 'up')));
    const places = await Promise.all(paths.map((path) => yard.askIn(path, 'where', 'web')));
    expect(new Set(places.map((place) => place.url)).size).toBe(3);
    for (const place of places) expect(await yard.pidAt(place.url)).toBe(place.listener.pid);
  });

  test('that share an address since an earlier version: each gets its own when it is restarted', async () => {
    const yard = await clones();
    const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
    await yard.say(first, 'up');
    await yard.say(second, 'up');
    // As a version that did not know better has left it.
    const file = join(yard.home, 'state.json');
    const state = JSON.parse(readFileSync(file, 'utf8'));
    const record = state.projects[second];
    delete record.local_name;
    Object.assign(record, { name: 'shop', slug: 'shop', created_at: '2999-01-01T00:00:00+00:00' });
    Object.assign(record.services['main::web'], {
      hostname: 'web.main.shop.localhost',
      url: url(yard, 'shop'),
      started_at: '2999-01-01T00:00:00+00:00',
    });
    writeFileSync(file, JSON.stringify(state));

    const before = await yard.askIn(second, 'where', 'web');
    expect(await yard.pidAt(before.url)).toBe(before.listener.pid);
    // Which of the two answers is said by both.
    expect(await yard.say(first, 'where', 'web')).toContain(`serves web of main in ${second}`);
    expect(await yard.say(second, 'restart')).toContain(url(yard, 'shop-work'));
    for (const clone of [first, second]) {
      const place = await yard.askIn(clone, 'where', 'web');
      expect(await yard.pidAt(place.url)).toBe(place.listener.pid);
    }
  });
});

describe('rename', () => {
  test('chooses the name on this machine; running services keep their addresses until they are restarted', async () => {
    const yard = await clones();
    const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
    await yard.say(first, 'up');
    await yard.say(second, 'up');
    const told = await yard.say(second, 'rename', 'kiosk');
    expect(told).toContain('this project was renamed to kiosk on this machine');
    expect(told).toContain(`web of main keeps the address ${url(yard, 'shop-work')} until it is restarted`);
    const old = await yard.askIn(second, 'where', 'web');
    expect(old.url).toBe(url(yard, 'shop-work'));
    expect(await yard.pidAt(old.url)).toBe(old.listener.pid);

    expect(await yard.say(second, 'restart')).toContain(url(yard, 'kiosk'));
    const place = await yard.askIn(second, 'where', 'web');
    expect(await yard.pidAt(url(yard, 'kiosk'))).toBe(place.listener.pid);
    const doctor = await yard.askIn(second, 'doctor');
    expect(doctor.project).toMatchObject({ name: 'kiosk' });
    expect(doctor.findings.filter(aboutName)).toEqual([]);

    // Whatever the file says later, a chosen name stays; --reset goes back to the file.
    const toml = readFileSync(join(second, 'switchyard.toml'), 'utf8');
    writeFileSync(join(second, 'switchyard.toml'), toml.replace('"shop"', '"store"'));
    expect(await yard.say(second, 'restart')).toContain(url(yard, 'kiosk'));
    expect(await yard.askIn(second, 'rename', '--reset')).toMatchObject({
      ok: true,
      action: 'rename',
      name: 'store',
      was: 'kiosk',
    });
    expect(await yard.say(second, 'restart')).toContain(url(yard, 'store'));
  });

  test('rejects a name of another project, and an invalid one', async () => {
    const yard = await clones();
    const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
    await yard.say(first, 'up');
    const taken = await yard.run(['rename', 'Shop'], { cwd: second });
    expect(taken).toMatchObject({ code: 1, stdout: '' });
    expect(taken.stderr).toContain(`The name "shop" is already used by ${first}.`);
    expect((await yard.run(['rename', '***'], { cwd: second })).stderr).toContain('one letter or digit');
    expect(await yard.run(['rename'], { cwd: second })).toMatchObject({ code: 2 });
    expect(await yard.run(['rename', 'x', '--reset'], { cwd: second })).toMatchObject({ code: 2 });
  });
});

test('a lost state is rebuilt with the names that were in use', async () => {
  const yard = await clones();
  const [first, second] = [yard.clone('play/shop'), yard.clone('work/shop')];
  await yard.say(first, 'up');
  await yard.say(second, 'up');
  const before = await yard.askIn(second, 'where', 'web');
  rmSync(join(yard.home, 'state.json'));
  await yard.say(first, 'up');
  expect(await yard.askIn(second, 'where', 'web')).toMatchObject({
    url: before.url,
    log_file: before.log_file,
    project: 'shop-work',
  });
  expect(await yard.say(second, 'restart')).toContain(url(yard, 'shop-work'));
});
