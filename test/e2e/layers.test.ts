/** The user's own configuration beside that of a project: what is read where, which file is changed, and who is told. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { killAll, marker } from '../helpers/processes.ts';
import { startClient, textOf, type Json, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const NAME = 'switchboard.config.json';
const SCHEMA = 'switchboard.config.schema.json';
const USER = `home/.config/switchboard/${NAME}`;
const OTHER = { mcpServers: { named: nodeServer('echo') } };
const ECHO = ['--', process.execPath, join(ROOT, 'test/servers/echo.mjs')];

/** A person's home with two projects, and a folder outside of both. */
interface Person {
  readonly place: Project;
  readonly run: (cwd: string, ...args: string[]) => Promise<Finished>;
  /** The same with another installation of the program. */
  readonly runFrom: (dist: string, cwd: string, ...args: string[]) => Promise<Finished>;
  /** A gateway that others can see. */
  readonly gateway: (cwd: string, ...args: string[]) => Promise<RawClient>;
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

function person(files: Record<string, string | object> = {}): Person {
  const place = createProject({
    'home/a/.git/HEAD': '',
    'home/a/src/deep/x.js': '',
    'home/b/x.js': '',
    'home/notes/x.md': '',
    ...files,
  });
  const env = {
    HOME: place.path('home'),
    USERPROFILE: place.path('home'),
    APPDATA: undefined,
    XDG_CONFIG_HOME: undefined,
    SWITCHBOARD_STATE_DIR: place.path('state'),
    SWITCHBOARD_LOG_LEVEL: undefined,
  };
  const runFrom: Person['runFrom'] = async (dist, cwd, ...args) => {
    const mark = marker();
    onTestFinished(() => killAll(mark));
    const child = spawn(process.execPath, [join(dist, 'index.js'), ...args], {
      cwd: place.path('home', cwd),
      env: { ...process.env, ...env, ...mark.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return { code, stdout, stderr, json: args.includes('--json') ? JSON.parse(stdout) : undefined };
  };
  return {
    place,
    run: (cwd, ...args) => runFrom(join(ROOT, 'dist'), cwd, ...args),
    runFrom,
    async gateway(cwd, ...args) {
      const client = startClient({ cwd: place.path('home', cwd), env, args });
      await client.initialize();
      await until(() => existsSync(place.path('state/run', `${client.pid}.json`)), {
        what: 'the gateway to be seen',
      });
      return client;
    },
  };
}

/** The user's file has `mine` and `both`, project a has `ours` and `both`, project b only `theirs`. */
function twoProjects(more: Record<string, string | object> = {}): Person {
  return person({
    [USER]: { mcpServers: { mine: nodeServer('echo'), both: nodeServer('echo', 'users') } },
    [`home/a/${NAME}`]: {
      mcpServers: { ours: nodeServer('echo'), both: nodeServer('echo', 'projects') },
    },
    [`home/b/${NAME}`]: { extends: false, mcpServers: { theirs: nodeServer('echo') } },
    ...more,
  });
}

const suites = async (client: RawClient): Promise<string[]> => {
  const { result } = (await client.request('tools/list')) as Json;
  return result.tools.map((tool: Json) => tool.name.replace(/_suite$/, '')).sort();
};

const whoami = async (client: RawClient, server: string): Promise<Json> =>
  JSON.parse(textOf(await client.call(`${server}_suite`, { action: 'call', subtool: 'whoami', args: {} })));

test('list says which file each server is from, in two projects, below them and outside', async () => {
  const { run, place } = twoProjects();
  const user = place.path(USER);
  const a = place.path('home/a', NAME);
  const b = place.path('home/b', NAME);
  const listed = async (cwd: string): Promise<Json> => {
    const { json, code } = await run(cwd, 'list', '--json');
    expect(code).toBe(0);
    const servers = json.servers.map(({ name, source }: Json) => [name, [source.file, source.scope]]);
    return { files: json.files, servers: Object.fromEntries(servers) };
  };
  const inA = {
    files: [
      { path: a, scope: 'project' },
      { path: user, scope: 'user' },
    ],
    servers: { ours: [a, 'project'], both: [a, 'project'], mine: [user, 'user'] },
  };
  expect(await listed('a')).toEqual(inA);
  expect(await listed('a/src/deep')).toEqual(inA);
  expect(await listed('b')).toEqual({
    files: [{ path: b, scope: 'project' }],
    servers: { theirs: [b, 'project'] },
  });
  expect(await listed('notes')).toEqual({
    files: [{ path: user, scope: 'user' }],
    servers: { mine: [user, 'user'], both: [user, 'user'] },
  });
  const text = (await run('a', 'list')).stdout;
  expect(text).toMatch(new RegExp(`^ours .* ${NAME}$`, 'm'));
  expect(text).toMatch(new RegExp(`^mine .*\\.config/switchboard/${NAME}$`, 'm'));
  expect((await run('a', 'doctor')).stdout).toContain(`✓ configuration ${user} (user file)`);
  const dry = (await run('a', '--dry-run', '--json')).json;
  expect(dry.servers.map(({ name, source }: Json) => [name, source.file])).toEqual([
    ['ours', a],
    ['both', a],
    ['mine', user],
  ]);
  expect((await run('a', 'list', '--config', b, '--json')).json).toMatchObject({
    files: [{ path: b, scope: 'explicit' }],
    servers: [{ name: 'theirs' }],
  });
});

test('a host gets the servers of the project it starts the gateway in, and those of the user', async () => {
  const { gateway, place } = twoProjects();
  const [a, deep, b, notes] = await Promise.all(['a', 'a/src/deep', 'b', 'notes'].map((cwd) => gateway(cwd)));
  expect(await suites(a!)).toEqual(['both', 'mine', 'ours']);
  expect(await suites(deep!)).toEqual(['both', 'mine', 'ours']);
  expect(await suites(b!)).toEqual(['theirs']);
  expect(await suites(notes!)).toEqual(['both', 'mine']);
  expect((await whoami(deep!, 'both')).args).toEqual(['projects']);
  expect((await whoami(notes!, 'both')).args).toEqual(['users']);
  // As hosts do with the servers of a user: they are started where the work is.
  expect((await whoami(deep!, 'mine')).cwd).toBe(place.path('home/a'));
  expect((await whoami(notes!, 'mine')).cwd).toBe(place.path('home/notes'));
});

test("without a project, add makes the user's own file, for its owner only", async () => {
  const { run, place } = person();
  const added = await run('notes', 'add', 'memory', ...ECHO);
  expect(added).toMatchObject({ code: 0, stderr: '' });
  expect(added.stdout).toContain(`Added "memory" to ${place.path(USER)}.`);
  if (process.platform !== 'win32') {
    expect(statSync(place.path(USER)).mode & 0o777).toBe(0o600);
    expect(statSync(place.path('home/.config/switchboard')).mode & 0o777).toBe(0o700);
  }
  expect((await run('b', 'list', '--json')).json.servers).toMatchObject([{ name: 'memory' }]);
  const removed = await run('b', 'remove', 'memory', '--json');
  expect(removed.json).toMatchObject({ removed: 'memory', file: place.path(USER), scope: 'user' });
});

test('--project makes a file where there is none, and otherwise changes the nearest one', async () => {
  const { run, place } = person();
  expect((await run('a', 'add', 'one', '--project', '--json', ...ECHO)).json).toMatchObject({
    file: place.path('home/a', NAME),
    scope: 'project',
  });
  expect((await run('a/src/deep', 'add', 'two', ...ECHO)).stdout).toContain(
    `Added "two" to ${place.path('home/a', NAME)}.`,
  );
  expect((await run('a', 'add', 'three', '--user', ...ECHO)).stdout).toContain(
    `Added "three" to ${place.path(USER)}.`,
  );
  const servers = (await run('a', 'list', '--json')).json.servers;
  expect(servers.map(({ name, source }: Json) => [name, source.scope])).toEqual([
    ['one', 'project'],
    ['two', 'project'],
    ['three', 'user'],
  ]);
});

test('a directory that is given to add is the same wherever the entry is read', async () => {
  const { run, place } = twoProjects();
  await run('a/src', 'add', 'u', '--user', '--cwd', 'deep', ...ECHO);
  await run('a/src', 'add', 'p', '--cwd', 'deep', ...ECHO);
  expect(JSON.parse(place.read(USER)).mcpServers.u.cwd).toBe(place.path('home/a/src/deep'));
  expect(JSON.parse(place.read(`home/a/${NAME}`)).mcpServers.p.cwd).toBe('src/deep');
});

test('a server of one name may be in both files, and the output says which one counts', async () => {
  const { run, place } = twoProjects();
  const over = await run('a', 'add', 'mine', ...ECHO);
  expect(over).toMatchObject({ code: 0 });
  expect(over.stdout).toContain(`In this project it overrides "mine" in ${place.path(USER)}.`);
  const under = await run('a', 'add', 'ours', '--user', ...ECHO);
  expect(under.stdout).toContain(`In this project "ours" in ${place.path('home/a', NAME)} overrides it.`);
  const taken = await run('a', 'add', 'both', '--user', ...ECHO);
  expect(taken).toMatchObject({ code: 2 });
  expect(taken.stderr).toContain(`${place.path(USER)} already has a server named "both".`);
  const removed = await run('a', 'remove', 'both');
  expect(removed.stdout).toContain(`Removed "both" from ${place.path('home/a', NAME)}.`);
  expect(removed.stdout).toContain(`The server of this name in ${place.path(USER)} is used instead.`);
});

test("a project's command does not change the user's file by accident", async () => {
  const { run, place } = twoProjects();
  const before = place.read(USER);
  for (const command of ['remove', 'wrap', 'unwrap']) {
    const refused = await run('a', command, 'mine');
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain(
      `"mine" is not defined in ${place.path('home/a', NAME)} but in ${place.path(USER)}.`,
    );
    expect(refused.stderr).toContain('To change it there, add --user.');
  }
  expect(place.read(USER)).toBe(before);
  const wrapped = await run('a', 'wrap', 'mine', '--user', '--model', 'host');
  expect(wrapped.stdout).toContain(`Wrapped "mine" in ${place.path(USER)}`);
  expect(JSON.parse(place.read(USER)).mcpServers.mine.language).toEqual({ model: 'host' });
  expect((await run('a', 'unwrap', 'mine', '--user')).stdout).toContain(
    `Unwrapped "mine" in ${place.path(USER)}.`,
  );
  expect(JSON.parse(place.read(USER))).toEqual(JSON.parse(before));
  expect((await run('a', 'remove', 'mine', '--user')).code).toBe(0);
});

test.each([
  [['--user', '--project'], '--user and --project cannot be combined.'],
  [['--user', '--config', NAME], '--config already names the file, so --user has no effect.'],
])('%j cannot be meant', async (flags, message) => {
  const { run } = twoProjects();
  const refused = await run('a', 'add', 'x', ...flags, ...ECHO);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(message);
});

test.skipIf(process.platform === 'win32')(
  'a change is told to the gateways that read the file, and to no others',
  async () => {
    const { run, gateway } = twoProjects({ 'home/c/other.json': OTHER });
    const [a, b, notes, named] = await Promise.all([
      gateway('a/src'),
      gateway('b'),
      gateway('notes'),
      gateway('c', '--config', 'other.json'),
    ]);
    const told = ({ json }: Finished): number[] =>
      json.gateways.map(({ pid, told: was }: Json) => (was ? pid : -pid)).sort();
    const pids = (...clients: (RawClient | undefined)[]): number[] =>
      clients.map((each) => each!.pid!).sort();
    const user = await run('b', 'add', 'new', '--user', '--json', ...ECHO);
    expect(told(user)).toEqual(pids(a, notes));
    await until(async () => (await suites(notes)).includes('new'), { what: 'the new server' });
    await until(async () => (await suites(a)).includes('new'), { what: 'the new server in the project' });
    const project = await run('a', 'add', 'newer', '--json', ...ECHO);
    expect(told(project)).toEqual(pids(a));
    await until(async () => (await suites(a)).includes('newer'), { what: 'the new server' });
    expect(await suites(b)).toEqual(['theirs']);
    // A file that one did not have at its start.
    expect(told(await run('notes', 'add', 'own', '--project', '--json', ...ECHO))).toEqual(pids(notes));
    await until(async () => (await suites(notes)).includes('own'), {
      what: 'the server of the new project',
    });
    expect(told(await run('b', 'reload', '--json'))).toEqual(pids(b));
    expect(told(await run('a', 'reload', '--json'))).toEqual(pids(a, notes));
    expect(await suites(named)).toEqual(['named']);
  },
);

test.skipIf(process.platform === 'win32')(
  'the first file of a user is read by gateways that run already',
  async () => {
    const { run, gateway } = person();
    const client = await gateway('notes');
    expect((await run('b', 'add', 'first', '--json', ...ECHO)).json.gateways).toMatchObject([
      { pid: client.pid, told: true },
    ]);
    await until(async () => (await suites(client)).includes('first'), { what: 'the first server' });
  },
);

test.skipIf(process.platform === 'win32')(
  'a slip in one file costs nothing of the other, and nothing at all where the gateway runs already',
  async () => {
    const { run, gateway, place } = twoProjects();
    const running = await gateway('a');
    place.write(USER, '{ "mcpServers": ');
    const listed = await run('a', 'list', '--json');
    expect(listed.json.servers.map(({ name }: Json) => name)).toEqual(['ours', 'both']);
    expect(listed.stderr).toContain(`${place.path(USER)}:1:17`);
    expect(listed.stderr).toContain('is ignored until it is corrected');
    const doctor = await run('a', 'doctor');
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`✗ configuration ${place.path(USER)} (user file): ignored`);
    expect(await suites(await gateway('a'))).toEqual(['both', 'ours']);
    const reloaded = await run('a', 'reload');
    expect(reloaded.code).not.toBe(0);
    expect(reloaded.stderr).toContain(place.path(USER));
    running.signal('SIGHUP');
    await until(() => running.stderr.includes('nothing has changed'), { what: 'the log line' });
    expect(await suites(running)).toEqual(['both', 'mine', 'ours']);
    // The other way round.
    place.write(USER, { mcpServers: { mine: nodeServer('echo') } });
    place.write(`home/a/${NAME}`, '{');
    expect((await run('a', 'add', 'more', '--user', ...ECHO)).code).toBe(0);
    expect(await suites(await gateway('a'))).toEqual(['mine', 'more']);
    expect((await run('a', 'add', 'more', '--project', ...ECHO)).stderr).toContain(
      place.path('home/a', NAME),
    );
  },
);

test('the error of a server that does not start names its file', async () => {
  const { run, gateway, place } = person({
    [USER]: { mcpServers: { bad: { command: process.execPath, args: ['-e', 'process.exit(3)'] } } },
  });
  const called = await run('a', 'tools', 'bad');
  expect(called.code).not.toBe(0);
  expect(called.stdout + called.stderr).toContain(`It is defined in ${place.path(USER)}.`);
  const client = await gateway('a');
  const answer = await client.call('bad_suite', { action: 'introspect' });
  expect(JSON.stringify(answer)).toContain(`It is defined in ${place.path(USER)}.`);
});

test('$schema of a new file resolves, whatever becomes of the installation that made it', async () => {
  const { run, runFrom, place } = person();
  // As npx has it, until its cache is cleaned.
  const cache = place.path('npx/node_modules/mcp-switchboard');
  cpSync(join(ROOT, 'dist'), join(cache, 'dist'), { recursive: true });
  cpSync(join(ROOT, SCHEMA), join(cache, SCHEMA));
  const user = await runFrom(join(cache, 'dist'), 'notes', 'add', 'mine', ...ECHO);
  expect(user.stdout).toContain(place.path('home/.config/switchboard', SCHEMA));
  expect((await runFrom(join(cache, 'dist'), 'a', 'add', 'ours', '--project', ...ECHO)).code).toBe(0);
  rmSync(place.path('npx'), { recursive: true });
  const described = (file: string): unknown => {
    const config = JSON.parse(place.read(file));
    expect(Object.keys(config)[0]).toBe('$schema');
    const schema = JSON.parse(readFileSync(resolve(dirname(place.path(file)), config.$schema), 'utf8'));
    expect(new Ajv2020({ strict: false }).validate(schema, config)).toBe(true);
    return config.$schema;
  };
  expect(described(USER)).toBe(`./${SCHEMA}`);
  expect(described(`home/a/${NAME}`)).toBe(`./.switchboard/${SCHEMA}`);
  // Where colleagues have the package in the project, that is the one to refer to.
  place.write(`home/b/node_modules/mcp-switchboard/${SCHEMA}`, readFileSync(join(ROOT, SCHEMA), 'utf8'));
  await run('b', 'add', 'theirs', '--project', ...ECHO);
  expect(described(`home/b/${NAME}`)).toBe(`./node_modules/mcp-switchboard/${SCHEMA}`);
  expect(existsSync(place.path('home/b/.switchboard'))).toBe(false);
});

test("the user's copy of the schema is kept up to date, and a project's stays as it is", async () => {
  const { run, place } = person();
  await run('a', 'add', 'one', '--user', ...ECHO);
  await run('a', 'add', 'one', '--project', ...ECHO);
  const users = place.write(`home/.config/switchboard/${SCHEMA}`, '{}');
  const projects = place.write(`home/a/.switchboard/${SCHEMA}`, '{}');
  await run('a', 'add', 'two', '--user', ...ECHO);
  await run('a', 'add', 'two', '--project', ...ECHO);
  expect(readFileSync(users)).toEqual(readFileSync(join(ROOT, SCHEMA)));
  expect(readFileSync(projects, 'utf8')).toBe('{}');
});
