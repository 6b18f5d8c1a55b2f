import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { describeWarning, httpTokenOf, loadConfig, type LoadedConfig } from './index.ts';

const NAME = 'switchboard.config.json';

/** A person with a user file, and a project with a configuration. */
function person(user: unknown, project: unknown, more: Record<string, string | object> = {}) {
  const place = createProject({ 'app/src/x.js': '', ...more });
  const userFile = place.path('user', NAME);
  const projectFile = place.path('app', NAME);
  if (user !== undefined) place.write(`user/${NAME}`, user);
  if (project !== undefined) place.write(`app/${NAME}`, project);
  const load = (options: object = {}): Promise<LoadedConfig> =>
    loadConfig({
      cwd: place.path('app/src'),
      userDirectory: place.path('user'),
      env: { TOKEN: 'a-token-of-20-letters' },
      ...options,
    });
  return { place, userFile, projectFile, load };
}

function origins({ servers }: LoadedConfig): Record<string, string> {
  return Object.fromEntries(servers.map(({ name, origin }) => [name, origin.file]));
}

function warningText({ warnings }: LoadedConfig, level: 'warn' | 'info' = 'warn'): string {
  return warnings
    .filter((warning) => warning.level === level)
    .map(describeWarning)
    .join('\n');
}

const server = (command: string, more: object = {}) => ({ command, ...more });

test("the servers of both files are there; of one name, the project's", async () => {
  const { load, projectFile, userFile } = person(
    { mcpServers: { mine: server('a'), both: server('users') } },
    { mcpServers: { ours: server('b'), both: server('projects') } },
  );
  const loaded = await load();
  expect(origins(loaded)).toEqual({ ours: projectFile, both: projectFile, mine: userFile });
  expect(loaded.servers.find(({ name }) => name === 'both')).toMatchObject({ command: 'projects' });
  expect(loaded.servers.map(({ origin }) => origin.scope)).toEqual(['project', 'project', 'user']);
  expect(loaded).toMatchObject({
    file: projectFile,
    files: [
      { path: projectFile, scope: 'project' },
      { path: userFile, scope: 'user' },
    ],
  });
  // It is intended, so there is no warning.
  expect(warningText(loaded)).toBe('');
  expect(warningText(loaded, 'info')).toContain(`${userFile}: mcpServers.both`);
});

test("outside of a project, the user's file is all there is", async () => {
  const { load, place, userFile } = person({ mcpServers: { mine: server('a') } }, { mcpServers: {} });
  const loaded = await load({ cwd: place.dir });
  expect(loaded).toMatchObject({ file: userFile, directory: place.dir });
  expect(origins(loaded)).toEqual({ mine: userFile });
});

test('"extends": false leaves out the file of the user, even a broken one', async () => {
  const { load, projectFile, place } = person(
    { mcpServers: { mine: server('a') }, exposure: 'flat' },
    { extends: false, mcpServers: { ours: server('b') } },
  );
  const loaded = await load();
  expect(origins(loaded)).toEqual({ ours: projectFile });
  expect(loaded.files.map(({ path }) => path)).toEqual([projectFile]);
  expect(loaded.settings.exposure).toBe('suite');
  expect(loaded.search).toEqual({ cwd: place.path('app/src'), userDirectory: undefined });
  place.write(`user/${NAME}`, '{');
  expect(warningText(await load({ strict: true }))).toBe('');
});

test('"extends" means nothing in the file of a user', async () => {
  const { load, userFile } = person({ extends: false, mcpServers: { mine: server('a') } }, {});
  const loaded = await load();
  expect(warningText(loaded)).toContain(`${userFile}: extends: is ignored here`);
  expect(origins(loaded)).toEqual({ mine: userFile });
});

test('a file that is named is the only one that is read', async () => {
  const { load, place } = person(
    { mcpServers: { mine: server('a') } },
    { mcpServers: { ours: server('b') } },
    {
      'app/other.json': { mcpServers: { other: server('c') } },
    },
  );
  const loaded = await load({ configPath: '../other.json' });
  expect(origins(loaded)).toEqual({ other: place.path('app/other.json') });
  expect(loaded.search).toBeUndefined();
});

test('settings: the project wins, groups and maps are merged by key', async () => {
  const { load, userFile, projectFile } = person(
    {
      exposure: 'flat',
      logLevel: 'debug',
      timeouts: { rpcMs: 1, idleMs: 2 },
      suites: { a: { suiteName: 'users_a' }, b: { suiteName: 'users_b', hiddenTools: ['x'] } },
      tools: {
        one: { description: 'user', subtools: { a: { tools: [{ name: 't' }] } } },
        two: { description: 'user', subtools: { a: { tools: [{ name: 't' }] } } },
      },
      http: { token: '${TOKEN}', maxSessions: 7 },
      discoverGlobs: ['never/*.json'],
    },
    {
      mcpServers: { a: server('a'), b: server('b') },
      logLevel: 'error',
      timeouts: { rpcMs: 5 },
      suites: { a: { suiteName: 'projects_a' } },
      tools: { one: { description: 'project', subtools: { b: { tools: [{ name: 't' }] } } } },
      http: { maxSessions: 9 },
    },
  );
  const loaded = await load();
  const { settings, servers, compounds } = loaded;
  expect(settings).toMatchObject({ exposure: 'flat', logLevel: 'error', http: { maxSessions: 9 } });
  expect(settings.timeouts).toMatchObject({ rpcMs: 5, idleMs: 2 });
  expect(servers.map(({ suite }) => suite.name)).toEqual(['projects_a', 'users_b']);
  // Each file configures where its own servers are discovered.
  expect(settings.discoverGlobs).toContain('mcps/*/.mcp.json');
  expect(servers[1]!.tools.deny[0]!.origin).toEqual({ file: userFile, key: 'suites.b.hiddenTools[0]' });
  expect(Object.fromEntries(compounds.map(({ name, origin }) => [name, origin.file]))).toEqual({
    one: projectFile,
    two: userFile,
  });
  expect(compounds.find(({ name }) => name === 'one')?.description).toBe('project');
  expect(httpTokenOf(loaded, { TOKEN: 'a-token-of-20-letters' })).toBe('a-token-of-20-letters');
  expect(() => httpTokenOf(loaded, {})).toThrow(`${userFile}: http.token`);
});

test('a project only tightens what guards its user: approve, pin and audit', async () => {
  const guards = { approve: 'destructive', pin: 'block', audit: true };
  const loosened = { approve: false, pin: 'off' };
  const own = { approve: false, pin: 'warn' };
  const user = { ...guards, mcpServers: { mine: server('a', own), plain: server('b') } };
  const find = async (project: object, name: string) => {
    const { servers, settings } = await person(user, { audit: false, ...project }).load();
    expect(settings.audit).not.toBe(false);
    return servers.find((each) => each.name === name);
  };
  const theirs = server('c', { ...loosened, tools: { wipe: { approve: false } } });
  const atLeast = { which: 'destructive', tools: new Map() };
  const strict = { approval: atLeast, pin: 'block' };
  expect(await find({ ...loosened, mcpServers: { theirs } }, 'theirs')).toMatchObject(strict);
  expect(await find({ ...loosened, mcpServers: { theirs }, extends: false }, 'theirs')).toMatchObject(strict);
  expect(await find({ suites: { plain: { approve: false } }, ...loosened }, 'plain')).toMatchObject(strict);
  // The stricter setting applies; if the two differ in kind, both do.
  const suites = { plain: { approve: ['read_*'], tools: { wipe: { approve: false } } } };
  expect((await find({ suites }, 'plain'))?.approval).toEqual({
    ...{ which: ['read_*'], tools: new Map([['wipe', false]]) },
    atLeast,
  });
  expect((await find({ approve: 'all' }, 'plain'))?.approval).toEqual({ ...atLeast, which: 'all', atLeast });
  // The user's own exceptions do not apply to a project.
  const mine = await find({}, 'mine');
  expect([mine?.approval, mine?.pin]).toEqual([undefined, 'warn']);
});

test('paths are relative to the file they are written in', async () => {
  const { load, place } = person(
    {
      logDirectory: './logs',
      mcpServers: { mine: server('a', { cwd: 'work', language: { instructionsFile: 'told.md' } }) },
    },
    { mcpServers: { ours: server('b', { cwd: 'work' }) } },
  );
  const loaded = await load();
  expect(loaded.logDirectory).toBe(place.path('user/logs'));
  expect(loaded.servers).toMatchObject([
    { cwd: place.path('app/work') },
    { cwd: place.path('user/work'), language: { instructionsFile: place.path('user/told.md') } },
  ]);
});

// It has a Switchyard server, which is not available on Windows.
test.skipIf(process.platform === 'win32')(
  "a user's server without a directory of its own is started in the project",
  async () => {
    const { load, place } = person(
      { mcpServers: { mine: server('a'), yard: { builtin: 'switchyard' } } },
      undefined,
      { 'user/mcps/found/.mcp.json': { name: 'found', command: { cmd: 'c' } } },
    );
    expect((await load()).servers).toMatchObject([
      { name: 'mine', cwd: place.path('app/src') },
      { name: 'yard', directory: place.path('app/src') },
      { name: 'found', cwd: place.path('user/mcps/found'), origin: { scope: 'user' } },
    ]);
    place.write(`app/${NAME}`, {});
    expect((await load()).servers).toMatchObject([
      { cwd: place.path('app') },
      { directory: place.path('app') },
      { cwd: place.path('user/mcps/found') },
    ]);
  },
);

test('discovered servers belong to the directory of their file, and a .mcp.json only to a project', async () => {
  const { load, place, userFile } = person(
    { mcpServers: { root: server('users') } },
    { discoverGlobs: ['tools/*.json'] },
    {
      'app/.mcp.json': { mcpServers: { root: server('r') } },
      'app/tools/t.json': { name: 't', command: { cmd: 'c' } },
      'user/.mcp.json': { mcpServers: { never: server('n') } },
    },
  );
  const loaded = await load();
  expect(origins(loaded)).toEqual({ t: place.path('app/tools/t.json'), root: place.path('app/.mcp.json') });
  expect(loaded.servers.map(({ origin }) => origin.scope)).toEqual(['project', 'project']);
  expect(warningText(loaded, 'info')).toContain(`${userFile}: mcpServers.root`);
});

test.each([
  ['user', '{ "mcpServers": ', { mcpServers: { ok: server('a') } }],
  ['app', { mcpServers: { ok: server('a') } }, '{ "mcpServers": '],
  ['user', { exposure: 'nonsense' }, { mcpServers: { ok: server('a') } }],
  ['app', { mcpServers: { ok: server('a') } }, { exposure: 'nonsense' }],
])('a typo in the file of %s does not cost the servers of the other one', async (which, user, project) => {
  const { load, place } = person(user, project);
  const broken = place.path(which, NAME);
  const loaded = await load();
  expect(loaded.servers.map(({ name }) => name)).toEqual(['ok']);
  expect(warningText(loaded)).toContain(`${broken}:`);
  expect(warningText(loaded)).toContain(`${broken}: is ignored until it is corrected`);
  expect(loaded.files.filter(({ leftOut }) => leftOut).map(({ path }) => path)).toEqual([broken]);
  await expect(load({ strict: true })).rejects.toThrow(broken);
});

test('where no file can be used, it is an error', async () => {
  const { load, userFile, projectFile } = person('{', '{');
  await expect(load()).rejects.toThrow(projectFile);
  await expect(load({ cwd: '/' })).rejects.toThrow(userFile);
});

test("settings for a server of another project are not a typo in the user's file", async () => {
  const { load, projectFile } = person({ suites: { elsewhere: {} } }, { suites: { typo: {} } });
  const loaded = await load();
  expect(warningText(loaded)).toBe(`${projectFile}: suites.typo: unknown server.`);
});

test('descriptions of both are read', async () => {
  const { load } = person({ mcpServers: { a: server('a'), b: server('b') } }, undefined, {
    'user/mcp-descriptions.json': { mcps: { a: { switchboard: 'users' }, b: { switchboard: 'users' } } },
    'app/src/mcp-descriptions.json': { mcps: { a: { switchboard: 'projects' } } },
  });
  const { servers } = await load();
  expect(servers.map(({ suite }) => suite.description)).toEqual(['projects', 'users']);
});
