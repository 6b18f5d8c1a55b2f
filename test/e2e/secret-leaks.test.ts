/**
 * Secrets with odd characters in every place that takes `${secret:NAME}`, then a search for them, in many encodings, in
 * everything that commands, logs, errors, pages, files and processes show.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { startConsole } from '../helpers/console.ts';
import { createHostHome, FILES } from '../helpers/host-home.ts';
import { HttpGateway } from '../helpers/http-gateway.ts';
import { NO_KEYCHAIN, startKeychain } from '../helpers/keychain.ts';
import { processesWith } from '../helpers/processes.ts';
import { startClient, type RawClient } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { NO_REDIS, StoreServer } from '../helpers/store-server.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

/** Where a secret is used, and what may be in it there. Each value has a text by which it is found, and known. */
const SECRETS = {
  ENV: { odd: true },
  ARGS: { odd: true },
  CRASH: { odd: true },
  COMMAND: {},
  CWD: {},
  ENVFILE: {},
  PRESET: { odd: true },
  SANDBOX: {},
  MODEL: {},
  URLPATH: {},
  URLQUERY: {},
  PASSWORD: {},
  HEADER: { header: true },
  BADHEADER: { odd: true },
  BADURL: { odd: true },
  CLIENT: { odd: true },
  PROJECT: {},
  LOGS: {},
  TOKEN: { token: true },
  STORE: {},
  BADSTORE: { odd: true },
  BADTOKEN: { odd: true },
  INTROSPECTION: { odd: true },
} as const;
type Name = keyof typeof SECRETS;
const NAMES = Object.keys(SECRETS) as Name[];

/** Found whatever is escaped around it. Long enough that base64 of it is distinctive, too. */
const coreOf = (name: string): string => `Zq7${name.toLowerCase()}xK9vT4`;
const ref = (name: Name): string => `\${secret:${name}}`;

function valueOf(name: Name): string {
  const core = coreOf(name);
  const kinds: { odd?: boolean; header?: boolean; token?: boolean } = SECRETS[name];
  if (kinds.token === true) return `${core}-.~+/=(x|y)*%41`;
  if (kinds.header === true) return `${core} "two" 'three' $\{HOME} \\ %41+/=&?#@ [a-z]*(b|c)$ é`;
  // Both lines have it, for a mask may know lines.
  if (kinds.odd === true)
    return `${core} "two" 'three' $\{HOME} $\${x} \\ %41+/=&?#@:\n${core} [a-z]*(b|c)$ \u{1f511} é \t end `;
  return `${core}"+%41é`;
}

/** What of a secret shows in base64 wherever it stands in what was encoded. */
function base64Of(text: string): string[] {
  return ['', 'a', 'aa'].map((before) => {
    const encoded = Buffer.from(before + text).toString('base64');
    return encoded.slice(before === '' ? 0 : 4, Math.floor((before.length + text.length) / 3) * 4);
  });
}

const SEARCHED = NAMES.map((name) => {
  const core = coreOf(name);
  const words = [core, Buffer.from(core).toString('hex'), ...base64Of(core)].map((word) =>
    word.toLowerCase(),
  );
  return { name, words };
});

/** Collects where secrets were seen, and what was looked at, so that looking at nothing is seen as well. */
class Search {
  readonly leaks: string[] = [];
  readonly looked = new Map<string, number>();

  in(where: string, text: string, except: readonly Name[] = []): void {
    this.looked.set(where, (this.looked.get(where) ?? 0) + text.length);
    const lower = text.toLowerCase();
    for (const { name, words } of SEARCHED) {
      if (except.includes(name)) continue;
      const at = words.map((word) => lower.indexOf(word)).find((index) => index >= 0);
      if (at !== undefined)
        this.leaks.push(`${name} in ${where}: ${text.slice(Math.max(0, at - 80), at + 60)}`);
    }
  }

  /** Every file below a directory, and the names of the files. */
  files(directory: string, except: (path: string) => boolean = () => false): void {
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const shown = relative(directory, path);
      if (except(shown)) continue;
      this.in(`file ${shown}`, entry.isFile() ? `${shown}\n${readFileSync(path, 'latin1')}` : shown);
    }
  }
}

/** A service that refuses every request, and repeats all of it. */
async function startRefusing(status: number) {
  const server = createServer((request: IncomingMessage, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const [, basic = ''] = /^Basic (.*)$/.exec(request.headers.authorization ?? '') ?? [];
      const url = request.url ?? '';
      const said = [url, body, JSON.stringify(request.headers), Buffer.from(basic, 'base64').toString()];
      try {
        said.push(decodeURIComponent(url), decodeURIComponent(body.replaceAll('+', ' ')));
      } catch {
        // Not everything is encoded.
      }
      response.writeHead(status, { 'content-type': 'application/json' });
      const message = said.join(' ');
      response.end(JSON.stringify({ error: 'invalid_client', error_description: message, message }));
    });
  }).listen(0, '127.0.0.1');
  await until(() => server.listening, { what: 'the service' });
  atTestEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serversOf(project: Project) {
  const [refuses, fails, grants] = await Promise.all([
    startRefusing(401),
    startRefusing(500),
    startRefusing(401),
  ]);
  const telling = (...args: string[]) => nodeServer('telling', '--about=xK9vT4', ...args);
  const login = { grant: 'client_credentials', issuer: `http://${grants}`, clientId: 'us' };
  project.write('of.env', `FROM_FILE=${coreOf('ENV')}\n`);
  return {
    env: { ...telling(), env: { GIVEN: ref('ENV'), 'not-by-name': `x${ref('ENV')}y` } },
    args: { ...telling(), args: [...telling().args, '--other', ref('ARGS'), `--x=${ref('ARGS')}`] },
    crash: { ...telling('--die'), env: { GIVEN: ref('CRASH') } },
    flat: { ...telling(), env: { GIVEN: ref('ENV') }, exposure: 'flat' },
    command: { command: `./no-such-${ref('COMMAND')}` },
    cwd: { ...nodeServer('echo'), cwd: `no-such-${ref('CWD')}` },
    envfile: { ...nodeServer('echo'), envFile: `no-such-${ref('ENVFILE')}.env` },
    fromfile: { ...telling(), envFile: 'of.env' },
    preset: {
      ...nodeServer('echo'),
      tools: { echo: { presets: { text: ref('PRESET') } }, fail: { presets: { message: ref('PRESET') } } },
    },
    sandboxed: { ...nodeServer('echo'), sandbox: { write: [`no-such-${ref('SANDBOX')}`] } },
    model: {
      ...nodeServer('echo'),
      language: { provider: 'openai', model: 'small', baseUrl: `http://${fails}/v1`, apiKey: ref('MODEL') },
    },
    path: { url: `http://${refuses}/${ref('URLPATH')}/mcp`, oauth: false },
    query: { url: `http://${fails}/mcp?key=${ref('URLQUERY')}&a=b`, oauth: false },
    closed: { url: `http://user:${ref('PASSWORD')}@127.0.0.1:9/${ref('URLPATH')}?key=${ref('URLQUERY')}` },
    password: { url: `http://user:${ref('PASSWORD')}@${refuses}/mcp` },
    header: { url: `http://${refuses}/mcp`, headers: { 'X-Key': ref('HEADER') }, oauth: false },
    bearer: { url: `http://${fails}/mcp`, headers: { Authorization: `Bearer ${ref('HEADER')}` } },
    badheader: { url: `http://${refuses}/mcp`, headers: { 'X-Key': ref('BADHEADER') } },
    badurl: { url: ref('BADURL') },
    login: { url: `http://${grants}/mcp`, oauth: { ...login, clientSecret: ref('CLIENT') } },
    yard: { builtin: 'switchyard', project: `no-such-${ref('PROJECT')}` },
    innocent: nodeServer('echo'),
  };
}

/** The commands, each run as it is and with `--json`. */
const SHOW = [
  ['list'],
  ['tools'],
  ['doctor', '--start', '--verbose'],
  ['--dry-run'],
  ['status'],
  ['logs'],
  ['calls'],
  ['history'],
  ['secret', 'list'],
  ['trust'],
  ['trust', 'env'],
  ['search', 'fail'],
  ['auth'],
  ['edit', 'args'],
  ['edit', 'query', '--exposure', 'flat', '--dry-run'],
  ['call', 'env', 'die', '--log-level', 'debug'],
];
/** Commands that change something, and those that fail. */
const OTHER = [
  ['allow', '--list'],
  ['token', 'list'],
  ['disable', 'env', '--dry-run'],
  ['remove', 'query', '--dry-run'],
  ['add', 'more', '--dry-run', '--env', `X=${ref('ENV')}`, '--', 'node', ref('ARGS')],
  ['add', 'far', '--dry-run', '--url', `http://127.0.0.1:9/mcp?key=${ref('URLQUERY')}`],
  ['wrap', 'innocent', '--dry-run'],
  ['no-such-command'],
  ['call', 'no-such-server', 'x'],
  ['call', 'model', 'natural_language', 'query=hello'],
  ...['command', 'cwd', 'envfile', 'crash', 'sandboxed', 'path', 'query', 'closed', 'password', 'header'].map(
    (server) => ['call', server, 'x', '--json'],
  ),
  ...['bearer', 'badheader', 'badurl', 'login', 'yard'].map((server) => ['call', server, 'x']),
];

/** Tells the gateway to write a report of itself and to end in an error that nobody handles. */
const CRASH = `process.on('SIGUSR2', () => {
  process.report.writeReport();
  setImmediate(() => { throw new Error('made to crash'); });
});`;

async function setSecrets(project: Project, env: Readonly<Record<string, string>>, search: Search) {
  for (const name of NAMES) {
    const input = valueOf(name);
    const { code, stdout, stderr } = await runCli(project, ['secret', 'set', name], { env, input });
    expect([code, stderr]).toEqual([0, '']);
    search.in('secret set', stdout);
  }
}

/** A project with secrets in every place, and files of ours in it alone. */
async function secretProject(search: Search) {
  const project = createProject();
  mkdirSync(project.path('tmp'));
  const env = {
    XDG_CONFIG_HOME: project.path('.config'),
    SWITCHBOARD_STATE_DIR: project.path('.state'),
    TMPDIR: project.path('tmp'),
  };
  await setSecrets(project, env, search);
  return { project, env };
}

/** What a project may not have anywhere but in the file of the secrets, which is read by its owner alone. */
function searchFiles(search: Search, project: Project, except: readonly string[] = []): void {
  const file = '.config/switchboard/secrets.json';
  expect(statSync(project.path(file)).mode & 0o777).toBe(0o600);
  search.files(project.dir, (path) => path === file || except.some((each) => path.startsWith(each)));
}

/** Uses every server of a gateway, by the tools that clients are shown. */
async function useServers(client: RawClient, search: Search): Promise<void> {
  const tools = await client.listTools();
  search.in('tools/list', JSON.stringify(tools));
  const suites = tools.map(({ name }) => String(name)).filter((name) => name.endsWith('_suite'));
  expect(suites.length).toBeGreaterThan(15);
  for (const name of suites) {
    const shown = await client.call(name, { action: 'introspect' });
    search.in(`introspect ${name}`, JSON.stringify(shown));
  }
  const call = (server: string, subtool: string, args: object = {}) =>
    client.call(`${server}_suite`, { action: 'call', subtool, args });
  // What a server answers reaches the client as it is, and nobody else.
  for (const subtool of ['fail', 'reject']) await call('env', subtool);
  await call('args', 'fail');
  await call('fromfile', 'reject');
  for (const subtool of ['echo', 'fail']) await call('preset', subtool);
  for (const server of suites.map((name) => name.slice(0, -'_suite'.length)))
    search.in(`call of ${server}`, JSON.stringify(await call(server, 'no-such-tool')));
  for (const subtool of ['status', 'project_status', 'list_services'])
    search.in('call of yard', JSON.stringify(await call('yard', subtool)));
  search.in('call that ends its server', JSON.stringify(await call('args', 'die')));
  const model = await client.call('model__natural_language', { query: 'hello' });
  search.in('call of a model', JSON.stringify(model));
}

test('a secret in any place is in no list, log, error, page, file or process that is not to have it', async () => {
  const search = new Search();
  const { project, env } = await secretProject(search);
  project.write('switchboard.config.json', {
    mcpServers: await serversOf(project),
    logDirectory: `logs-${ref('LOGS')}`,
    logArguments: true,
    audit: { arguments: true },
    discoverGlobs: [],
  });
  project.write('crash.mjs', CRASH);
  mkdirSync(project.path('reports'));
  const gateway = startClient({
    cwd: project.dir,
    args: ['--log-level', 'debug'],
    env: {
      ...env,
      NODE_OPTIONS: `--import=${project.path('crash.mjs')} --report-directory=${project.path('reports')}`,
    },
    deadline: 60_000,
  });
  await gateway.initialize();
  const page = await (await startConsole(project)).open();
  await page.choose('logs', 'calls');
  await useServers(gateway, search);

  const processes = processesWith(gateway.marker);
  expect(processes.length).toBeGreaterThan(4);
  for (const { pid, command } of processes) {
    const isTold = command.includes('telling.mjs');
    search.in(
      `environment of ${command}`,
      readFileSync(`/proc/${pid}/environ`, 'utf8'),
      isTold ? ['ENV'] : [],
    );
    // The only one is warned of.
    const except = command.includes('--other') ? (['ARGS'] as const) : [];
    search.in('command line', readFileSync(`/proc/${pid}/cmdline`, 'utf8'), except);
  }
  for (const command of [...SHOW.flatMap((each) => [each, [...each, '--json']]), ...OTHER]) {
    const { stdout, stderr } = await runCli(project, command, { env });
    expect(stdout + stderr, command.join(' ')).not.toBe('');
    search.in(command.join(' '), stdout + stderr);
  }
  const doctor = await runCli(project, ['doctor', 'args'], { env });
  expect(doctor.stdout).toContain('pass it in "env" instead');

  const id = await page.gateway();
  const { calls } = await page.do('calls.list', { limit: 500 });
  expect(calls.length).toBeGreaterThan(20);
  for (const call of calls)
    search.in('calls.get', JSON.stringify(await page.do('calls.get', { gateway: id, call: call.id })));
  search.in('logs.search', JSON.stringify(await page.do('logs.search', { text: '', limit: 1000 })));
  search.in('lists.get', JSON.stringify(await page.do('lists.get', { gateway: id, client: null })));
  for (const server of ['env', 'args', 'path', 'query', 'header', 'login', 'preset', 'crash'])
    for (const method of ['servers.entry', 'servers.trust', 'tools.list'] as const)
      search.in(method, JSON.stringify(await page.ask(method, { gateway: id, server })));
  search.in('stream of the console', JSON.stringify(page.events));
  page.close();

  gateway.signal('SIGUSR2');
  await gateway.waitForStderr(/made to crash/);
  await until(() => readdirSync(project.path('reports')).length > 0, { what: 'the report' });
  search.in('log', gateway.stderr);
  await gateway.dispose();
  // A path that somebody makes of a secret is one.
  searchFiles(search, project, ['of.env', `logs-${coreOf('LOGS')}`]);
  const [logs = ''] = readdirSync(project.dir).filter((name) => name.startsWith('logs-'));
  search.in('log file', readFileSync(project.path(logs, 'switchboard.log'), 'utf8'));
  expect(search.leaks).toEqual([]);
  for (const what of ['log file', 'stream of the console', 'file .state/audit'])
    expect(
      [...search.looked.keys()].some((where) => where.startsWith(what)),
      what,
    ).toBe(true);
}, 600_000);

test('a gateway over HTTP tells nobody its token, its store or its secrets, nor does what it refuses to start with', async () => {
  const search = new Search();
  const { project, env } = await secretProject(search);
  const provider = await startRefusing(401);
  const store =
    NO_REDIS === undefined ? await StoreServer.start('--requirepass', valueOf('STORE')) : undefined;
  const config = {
    mcpServers: { innocent: nodeServer('echo') },
    http: {
      token: ref('TOKEN'),
      oauth: {
        issuer: `http://${provider}`,
        introspection: {
          endpoint: `http://${provider}/ask`,
          clientId: 'us',
          clientSecret: ref('INTROSPECTION'),
        },
      },
    },
    logLevel: 'debug',
    discoverGlobs: [],
  };
  const withStore =
    store === undefined
      ? {}
      : { store: `redis://:${encodeURIComponent(valueOf('STORE'))}@127.0.0.1:${store.port}` };
  project.write('switchboard.config.json', { ...config, ...withStore });
  const gateway = await new HttpGateway(project, { args: ['--http', '0', '--json'], env }).ready();
  const ask = async (path: string, authorization: string) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(new URL(path, gateway.url), { method: 'POST', headers, body });
    search.in(`answer of ${path}`, `${JSON.stringify([...response.headers])} ${await response.text()}`);
    return response.status;
  };
  expect(await ask('/mcp', `Bearer ${valueOf('TOKEN')}`)).not.toBe(401);
  // Neither one that nobody knows, nor one that the provider is asked about and quotes our secret for.
  for (const wrong of ['Bearer x', `Bearer ${'a'.repeat(40)}`, `Basic ${btoa('a:b')}`])
    expect([401, 503]).toContain(await ask('/mcp', wrong));
  const status = await fetch(new URL('/status', gateway.url), {
    headers: { authorization: `Bearer ${valueOf('TOKEN')}` },
  });
  expect(status.status).toBe(200);
  search.in('/status', await status.text());
  for (const command of [['status'], ['logs'], ['list'], ['doctor'], ['token', 'list']])
    for (const json of [[], ['--json']]) {
      const { stdout, stderr } = await runCli(project, [...command, ...json], { env });
      search.in(command.join(' '), stdout + stderr);
    }
  for (const { pid, command } of processesWith(gateway.marker)) {
    search.in(`environment of ${command}`, readFileSync(`/proc/${pid}/environ`, 'utf8'));
    search.in('command line', readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  }
  // It aborts, as a fault in Node itself would make it.
  gateway.signal('SIGABRT');
  await gateway.exited;
  search.in('announcement', gateway.stdout);
  search.in('log', gateway.stderr);
  for (const wrong of [
    { http: { token: ref('BADTOKEN') } },
    { store: ref('BADSTORE') },
    { store: `redis://:${ref('STORE')}@127.0.0.1:1` },
    { http: { token: ref('TOKEN') }, store: `redis://127.0.0.1:1/${ref('STORE')}` },
  ]) {
    project.write('switchboard.config.json', { ...config, ...wrong });
    const refused = new HttpGateway(project, { args: ['--http', '0', '--log-level', 'debug'], env });
    await until(() => refused.stderr !== '', { what: 'a reason', deadline: 30_000 });
    await refused.stop();
    search.in(`start with ${JSON.stringify(wrong)}`, refused.stdout + refused.stderr);
  }
  searchFiles(search, project, ['switchboard.config.json']);
  expect(search.leaks).toEqual([]);
}, 300_000);

/** Without what is a reference in the files of hosts, which stays there. */
const literal = (name: Name): string => valueOf(name).replaceAll('$', '');

test('secrets in the files of hosts are in no preview, and in no file but theirs, their copies and ours', async () => {
  const search = new Search();
  const env = (name: Name) => ({ API_KEY: literal(name), [`${name}_TOKEN`]: `Bearer ${literal(name)}` });
  const args = ['--token', literal('ARGS'), `--api-key=${literal('ARGS')}`];
  const at = createHostHome({
    [FILES.cursor]: { mcpServers: { one: { ...nodeServer('echo'), env: env('ENV') } } },
    [FILES['claude-code']]: {
      mcpServers: { two: { command: 'npx', args: ['two', ...args], env: env('CRASH') } },
    },
    [FILES.vscode]: {
      servers: {
        three: {
          type: 'http',
          url: 'https://three.example/mcp',
          headers: { 'X-Api-Key': literal('HEADER') },
        },
        four: { type: 'http', url: `https://four.example/mcp?token=${valueOf('URLQUERY')}` },
      },
    },
    [FILES.codex]: `[mcp_servers.five]\ncommand = "five"\n[mcp_servers.five.env]\nAPI_KEY = ${JSON.stringify(literal('CLIENT'))}\n`,
  });
  const run = async (...command: string[]) => {
    const { code, stdout, stderr } = await at.run(command);
    expect(stdout + stderr, command.join(' ')).not.toBe('');
    search.in(command.join(' '), stdout + stderr);
    return code;
  };
  for (const json of [[], ['--json']]) {
    for (const command of ['import', 'init', 'install'])
      for (const how of [[], ['--secrets', 'store']])
        if (command !== 'install' || how.length === 0) await run(command, '--dry-run', ...how, ...json);
    await run('import', '--takeover', '--dry-run', ...json);
  }
  expect(await run('import', '--takeover', '--yes', '--secrets', 'store')).toBe(0);
  for (const json of [[], ['--json']]) {
    for (const command of [['list'], ['secret', 'list'], ['edit', 'one'], ['eject', '--dry-run'], ['doctor']])
      await run(...command, ...json);
    await run('uninstall', 'cursor', '--dry-run', ...json);
  }
  // Whoever restores the files of a host needs them whole: copies in directories that only their owner can open.
  const copies = ['.state/backups', '.state/takeover'];
  expect(at.backups()).not.toEqual([]);
  for (const copy of at.backups()) expect(statSync(dirname(at.home.path(copy))).mode & 0o777).toBe(0o700);
  searchFiles(search, at.home, copies);
  for (const json of [['--json'], []]) await run('eject', ...json);
  expect(search.leaks).toEqual([]);
}, 300_000);

describe.skipIf(NO_KEYCHAIN !== undefined)(`in a keychain${NO_KEYCHAIN ? ` (${NO_KEYCHAIN})` : ''}`, () => {
  test('a secret is in no file at all', async () => {
    const search = new Search();
    const keychain = await startKeychain();
    const project = createProject();
    const env = { XDG_CONFIG_HOME: project.path('.config'), TMPDIR: project.path('tmp'), ...keychain.env };
    mkdirSync(project.path('tmp'));
    await setSecrets(project, env, search);
    const { env: told, crash, password } = await serversOf(project);
    project.write('switchboard.config.json', {
      mcpServers: { env: told, crash, password },
      logDirectory: 'logs',
    });
    for (const command of [['list'], ['doctor', '--start'], ['secret', 'list'], ['call', 'env', 'die']])
      for (const json of [[], ['--json']]) {
        const { stdout, stderr } = await runCli(project, [...command, ...json], { env });
        search.in(command.join(' '), stdout + stderr);
      }
    search.files(project.dir, (path) => path === 'of.env');
    expect(search.leaks).toEqual([]);
  }, 300_000);
});
