/**
 * Logging in to servers that run elsewhere, with the built program and a real authorization server: the login is made
 * once, kept for its owner alone, renewed once for however many need it, and asked for again with a clear sentence.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { ownState } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { officialClients } from '../helpers/http-official-clients.ts';
import { NO_KEYCHAIN, startKeychain } from '../helpers/keychain.ts';
import { marker, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { remoteEntry } from '../helpers/remote-server.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startAuthServer, type AuthServer, type AuthServerSettings } from '../servers/auth-server.mjs';
import { startOddHttp } from '../servers/odd-http.mjs';

const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };
const MANY = 12;

/** Everything that any program of the current test has written, for whoever looks for secrets in it. */
let told: (() => string)[] = [];
/** What every program of the current test has in its environment. */
let common: Readonly<Record<string, string>> = {};

beforeEach(() => {
  told = [];
  common = {};
});

interface Running {
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Resolves with the exit code, when nothing of it is left. */
  readonly done: Promise<number | null>;
  readonly stop: (signal: NodeJS.Signals) => void;
}

/** Starts a command of the built program. */
function start(project: Project, args: readonly string[], env: Record<string, string> = {}): Running {
  const mark = marker();
  const child = spawn(process.execPath, [join(ROOT, 'dist/index.js'), ...args], {
    cwd: project.dir,
    env: { ...process.env, ...ownState(project), ...DEBUG, NO_COLOR: '1', ...common, ...env, ...mark.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  told.push(() => stdout + stderr);
  const done = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code))).then(
    async (code) => {
      await waitUntilGone(mark);
      return code;
    },
  );
  atTestEnd(async () => {
    child.kill('SIGKILL');
    await done;
  });
  return { stdout: () => stdout, stderr: () => stderr, done, stop: (signal) => void child.kill(signal) };
}

/** Runs one to its end. */
async function run(
  project: Project,
  ...args: string[]
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const running = start(project, args);
  const code = await running.done;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** The address that is printed for a person, once it is. */
function invitation({ stderr, done }: Running): Promise<string> {
  let over = false;
  void done.then(() => (over = true));
  return until(
    () => {
      if (over) throw new Error(`It ended without an address: ${stderr()}`);
      return /^ {2}(http:\S+)$/m.exec(stderr())?.[1];
    },
    { what: 'the address to log in at', deadline: 20_000, seen: stderr },
  );
}

/** What a person does in the browser: opens the address, agrees, and is sent back. Gives the page that is shown then. */
async function browse(url: string): Promise<{ status: number; page: string }> {
  const response = await fetch(url);
  return { status: response.status, page: await response.text() };
}

async function logIn(project: Project, server = 'guarded'): Promise<string> {
  const running = start(project, ['auth', server, '--no-browser']);
  const { status, page } = await browse(await invitation(running));
  expect(status).toBe(200);
  expect(page).not.toContain('<script');
  expect(await running.done, running.stderr()).toBe(0);
  return running.stdout();
}

async function authServer(options: Partial<AuthServerSettings> = {}): Promise<AuthServer> {
  const server = await startAuthServer(options);
  // Runs last of all: what was told is complete then.
  onTestFinished(async () => {
    await server.close();
    const everything = told.map((text) => text()).join('\n');
    for (const secret of server.issued)
      expect(everything.includes(secret), `a ${secret.split('-')[0]} is told`).toBe(false);
  });
  return server;
}

function projectFor(server: { readonly url: string }, more: object = {}, entry: object = {}): Project {
  return createProject({
    'switchboard.config.json': {
      exposure: 'flat',
      naming: 'prefixed',
      mcpServers: { guarded: remoteEntry(server.url, { exposure: 'suite', ...entry }), ...more },
    },
  });
}

interface Gateway {
  readonly client: RawClient;
  readonly whoami: () => Promise<RpcMessage>;
}

async function gatewayIn(project: Project): Promise<Gateway> {
  const client = startClient({ cwd: project.dir, env: { ...ownState(project), ...DEBUG, ...common } });
  told.push(() => client.stderr + client.lines.map(({ text }) => text).join('\n'));
  await client.initialize();
  return {
    client,
    whoami: () => client.call('guarded_suite', { action: 'call', subtool: 'whoami', args: {} }),
  };
}

const times = <T>(count: number, action: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, action));

function expectServed(answers: readonly RpcMessage[]): void {
  for (const answer of answers) expect(textOf(answer)).toMatch(/^you came as client-/);
}

/** The sentence that a person can act on. */
function expectLoginAsked(
  { result }: RpcMessage,
  how = /requires a login|no longer accepts the login/,
): void {
  expect(result?.isError).toBe(true);
  const { text } = result.content[0];
  expect(text).toContain("'guarded'");
  expect(text).toMatch(how);
  expect(text).toContain('switchboard auth guarded');
}

const loginOf = async (project: Project): Promise<any> => {
  const { code, stdout } = await run(project, 'auth', '--json');
  expect(code).toBe(0);
  return JSON.parse(stdout).servers.find(({ name }: { name: string }) => name === 'guarded').login;
};

/** Whatever lies in the folder of logins. */
function loginFiles(project: Project): string[] {
  const directory = project.path('.state/auth');
  return existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith('.json')) : [];
}

describe('logging in', () => {
  test('a call says which command it takes, and works after that without a restart', async () => {
    const server = await authServer();
    const project = projectFor(server, { near: { ...nodeServer('echo'), exposure: 'suite' } });
    const { client, whoami } = await gatewayIn(project);
    expectLoginAsked(await whoami(), /requires a login/);
    expect(await loginOf(project)).toEqual({ kind: 'none' });
    const said = await logIn(project);
    expect(said).toContain('Logged in to guarded');
    expect(said).toContain(server.origin);
    expectServed([await whoami()]);
    expect(server.counts).toMatchObject({ registrations: 1, authorizations: 1, codes: 1, refreshes: 0 });
    const asked = server.requests.find(({ path }) => path === '/authorize')!.query;
    expect(asked.get('code_challenge_method')).toBe('S256');
    expect(asked.get('resource')).toBe(server.url);
    const near = await client.call('near_suite', { action: 'call', subtool: 'echo', args: { text: 'x' } });
    expect(textOf(near)).toBe('x');
    expect((await client.close()).code).toBe(0);
  });

  test('the login is for its owner alone, and can be looked at without being shown', async () => {
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    expect(statSync(project.path('.state/auth')).mode & 0o777).toBe(0o700);
    const files = loginFiles(project);
    expect(files).toHaveLength(1);
    for (const name of readdirSync(project.path('.state/auth')))
      expect(statSync(project.path('.state/auth', name)).mode & 0o077, name).toBe(0);
    expect(await loginOf(project)).toMatchObject({
      kind: 'logged-in',
      issuer: server.origin,
      renewable: true,
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    const { stdout } = await run(project, 'auth');
    expect(stdout).toMatch(
      new RegExp(`guarded +logged in, \\d+ min left, renewed automatically +${server.origin} +${server.url}`),
    );
    const called = await run(project, 'call', 'guarded', 'whoami');
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('you came as client-') });
    expect((await run(project, 'tools', 'guarded')).stdout).toContain('whoami');
  });

  test('without a login a command fails with the same advice', async () => {
    const server = await authServer();
    const project = projectFor(server);
    const called = await run(project, 'call', 'guarded', 'whoami');
    expect(called.code).toBe(3);
    expect(called.stderr).toMatch(/'guarded' requires a login/);
    expect(called.stderr).toContain('switchboard auth guarded');
  });

  test('a client that is known beforehand uses its own secret', async () => {
    const server = await authServer({
      registration: false,
      clients: [{ id: 'client-known', secret: 'secret-of-the-client' }],
    });
    const project = projectFor(
      server,
      {},
      {
        oauth: { clientId: 'client-known', clientSecret: '${CLIENT_SECRET}' },
      },
    );
    const running = start(project, ['auth', 'guarded', '--no-browser'], {
      CLIENT_SECRET: 'secret-of-the-client',
    });
    await browse(await invitation(running));
    expect(await running.done).toBe(0);
    expect(running.stdout() + running.stderr()).not.toContain('secret-of-the-client');
    expect(server.counts.registrations).toBe(0);
  });

  test('logging out takes the login back and deletes it; the gateway that runs notices', async () => {
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    const out = await run(project, 'auth', 'guarded', '--logout');
    expect(out).toMatchObject({ code: 0, stdout: 'Logged out of guarded.\n' });
    expect(server.counts.revocations).toBeGreaterThan(0);
    expect(loginFiles(project)).toEqual([]);
    expect(await loginOf(project)).toEqual({ kind: 'none' });
    expectLoginAsked(await whoami());
    const again = await run(project, 'auth', 'guarded', '--logout');
    expect(again).toMatchObject({ code: 0, stdout: 'You were not logged in to guarded.\n' });
    await logIn(project);
    expectServed([await whoami()]);
  });
});

/** A project with a login whose access token is over, and whose next one is not. */
async function withExpired(): Promise<{ server: AuthServer; project: Project }> {
  const server = await authServer({ accessSeconds: 1 });
  const project = projectFor(server);
  await logIn(project);
  server.settings.accessSeconds = 3600;
  return { server, project };
}

describe('renewing', () => {
  test('a login that has expired is renewed without a word', async () => {
    const { server, project } = await withExpired();
    const { client, whoami } = await gatewayIn(project);
    expectServed([await whoami(), await whoami()]);
    expect(server.counts.refreshes).toBe(1);
    // The log is there, and has nothing to complain of.
    expect(client.stderr).toMatch(/^\S+Z switchboard info {2}/m);
    expect(client.stderr).not.toMatch(/^\S+Z switchboard (?:warn|error) /m);
  });

  test('once for twelve calls at the same time, whether it has expired or was refused', async () => {
    const { server, project } = await withExpired();
    const { whoami } = await gatewayIn(project);
    expectServed(await times(MANY, whoami));
    expect(server.counts.refreshes).toBe(1);
    server.revokeAll('access');
    expectServed(await times(MANY, whoami));
    expect(server.counts.refreshes).toBe(2);
    expect(server.counts.authorizations).toBe(1);
  });

  test('once for two gateways at the same time', async () => {
    const { server, project } = await withExpired();
    const gateways = await Promise.all([gatewayIn(project), gatewayIn(project)]);
    const all = (): Promise<RpcMessage[]> =>
      Promise.all(gateways.map(({ whoami }) => times(MANY, whoami))).then((answers) => answers.flat());
    expectServed(await all());
    expect(server.counts.refreshes).toBe(1);
    for (let round = 2; round <= 4; round++) {
      server.revokeAll('access');
      expectServed(await all());
      expect(server.counts.refreshes).toBe(round);
    }
  });

  test('once for twelve clients of one gateway over HTTP, each with a session of its own', async () => {
    const { server, project } = await withExpired();
    const gateway = await startHttpGateway(
      { guarded: remoteEntry(server.url, { exposure: 'suite' }) },
      { env: { ...DEBUG, ...ownState(project) } },
    );
    told.push(() => gateway.stdout + gateway.stderr);
    const connect = officialClients['SDK v2 over Streamable HTTP']!;
    const clients = await times(MANY, () => connect(gateway));
    const all = async (): Promise<void> => {
      const args = { action: 'call', subtool: 'whoami', args: {} };
      const results = await Promise.all(clients.map((client) => client.call('guarded_suite', args)));
      expectServed(results.map((result) => ({ result })));
    };
    await all();
    expect(server.counts.refreshes).toBe(1);
    server.revokeAll('access');
    await all();
    expect(server.counts.refreshes).toBe(2);
  });

  test('a login that was taken back: the call says so and which command it takes, and works after that', async () => {
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    server.revokeAll();
    for (const answer of await times(3, whoami)) expectLoginAsked(answer);
    expectLoginAsked(await whoami());
    expect(server.counts.refreshes).toBe(1);
    expect((await loginOf(project)).kind).not.toBe('logged-in');
    await logIn(project);
    expectServed(await times(3, whoami));
    // The client is still known, so it did not register again.
    expect(server.counts.registrations).toBe(1);
  });

  test('trouble with the issuer loses no login', async () => {
    const { server, project } = await withExpired();
    server.settings.tokenFault = { status: 503, body: 'later', headers: { 'content-type': 'text/plain' } };
    server.revokeAll('access');
    const { whoami } = await gatewayIn(project);
    expect((await whoami()).result.isError).toBe(true);
    server.settings.tokenFault = undefined;
    await until(async () => (await whoami()).result.isError !== true, { what: 'the login to be renewed' });
    expect(server.counts.authorizations).toBe(1);
  });

  test('one that is not renewable ends with the sentence', async () => {
    const server = await authServer({ refresh: false });
    const project = projectFor(server);
    await logIn(project);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    server.revokeAll();
    expectLoginAsked(await whoami(), /no longer accepts the login/);
  });
});

describe('whom a login is for', () => {
  test('another issuer gets neither tokens nor codes', async () => {
    const server = await authServer();
    const other = await authServer();
    const project = projectFor(server);
    await logIn(project);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    server.settings.issuers = [other.origin];
    server.revokeAll('access');
    const answer = await whoami();
    const sent = JSON.stringify(other.requests.map(({ body, authorization }) => [body, authorization]));
    for (const secret of server.issued) expect(sent.includes(secret)).toBe(false);
    // Renewed where it was made, or asked for anew; but not at the other.
    if (answer.result.isError === true) expectLoginAsked(answer);
    expect(other.counts).toMatchObject({ refreshes: 0, codes: 0, authorizations: 0 });
  });

  test.each<[what: string, settings: Partial<AuthServerSettings>]>([
    ['an answer that names another issuer', { iss: 'http://127.0.0.1:9/other' }],
    ['an answer with a state that is not ours', { state: 'somebody-elses-state' }],
    ['a refusal', { deny: 'access_denied' }],
    ['a description that names another issuer', { metadataChanges: { issuer: 'http://127.0.0.1:9' } }],
    ['a description for another resource', { resource: 'http://127.0.0.1:9/mcp' }],
    ['an issuer that takes no PKCE', { metadataChanges: { code_challenge_methods_supported: ['plain'] } }],
    ['no registration', { registration: false }],
    ['an issuer that does not describe itself', { metadata: 'none' }],
  ])('%s makes no login, and says why', async (_what, settings) => {
    const server = await authServer(settings);
    const project = projectFor(server);
    const running = start(project, ['auth', 'guarded', '--no-browser']);
    // Where it comes so far, the page is opened; then it ends, or waits for one that is meant for it.
    let visited = false;
    let code: number | null | undefined;
    void running.done.then((given) => (code = given));
    await until(
      async () => {
        const url = /^ {2}(http:\S+)$/m.exec(running.stderr())?.[1];
        if (url !== undefined && !visited) {
          visited = true;
          await browse(url).catch(() => undefined);
          if (settings.state !== undefined) running.stop('SIGINT');
        }
        return code !== undefined;
      },
      { what: 'the command to end', deadline: 20_000, seen: running.stderr },
    );
    expect(code).not.toBe(0);
    expect(code).not.toBe(70);
    if (settings.state === undefined) {
      expect(code).toBe(1);
      expect(running.stderr()).toMatch(/^switchboard: .*(?:guarded|127\.0\.0\.1)/m);
    }
    expect(server.issued.filter((secret) => /^(?:access|refresh)-/.test(secret))).toEqual([]);
    expect(await loginOf(project)).toEqual({ kind: 'none' });
  });

  test('other servers are not sent it', async () => {
    const server = await authServer();
    const odd = await startOddHttp();
    atTestEnd(() => odd.stop());
    const project = projectFor(server, { other: remoteEntry(odd.url, { exposure: 'suite' }) });
    await logIn(project);
    const { client, whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    const called = await client.call('other_suite', { action: 'call', subtool: 'ok', args: { tag: 'o' } });
    expect(textOf(called)).toBe('ran o');
    expect(odd.requests.length).toBeGreaterThan(2);
    for (const { headers } of odd.requests) expect(headers.authorization).toBe(undefined);
    // The same name at another address is another server.
    project.write('switchboard.config.json', {
      mcpServers: { guarded: remoteEntry(odd.url, { exposure: 'suite' }) },
    });
    expect(await loginOf(project)).toEqual({ kind: 'none' });
    expect((await run(project, 'call', 'guarded', 'ok', 'tag=moved')).code).toBe(0);
    for (const { headers } of odd.requests) expect(headers.authorization).toBe(undefined);
  });

  test('servers that there is no login for are refused with the reason', async () => {
    const server = await authServer();
    const project = projectFor(server, {
      near: nodeServer('echo'),
      keyed: remoteEntry(server.url, { headers: { authorization: 'Bearer written-in-the-file' } }),
      off: remoteEntry(server.url, { oauth: false }),
    });
    for (const [name, says] of [
      ['near', /local program/],
      ['keyed', /Authorization header/],
      ['off', /disabled/],
      ['guardet', /guarded/],
    ] as const) {
      const { code, stdout, stderr } = await run(project, 'auth', name, '--no-browser');
      expect(code, name).toBe(2);
      expect(stderr, name).toMatch(says);
      expect(stdout + stderr).not.toContain('written-in-the-file');
    }
    const listed = JSON.parse((await run(project, 'auth', '--json')).stdout).servers;
    expect(listed.map(({ name, login }: any) => [name, login.kind])).toEqual([
      ['guarded', 'none'],
      ['keyed', 'header'],
      ['off', 'off'],
    ]);
    const refused = await run(project, 'call', 'keyed', 'whoami');
    expect(refused.stderr).toMatch(/'keyed' rejected the Authorization header from the configuration/);
    expect(server.counts.registrations).toBe(0);
  });

  test('Ctrl-C while it waits ends it at once, and leaves no login', async () => {
    const server = await authServer();
    const project = projectFor(server);
    const running = start(project, ['auth', 'guarded', '--no-browser']);
    const url = await invitation(running);
    running.stop('SIGINT');
    expect(await running.done).toBe(130);
    expect(await loginOf(project)).toEqual({ kind: 'none' });
    // Nobody is there any more to take the code.
    await expect(browse(url)).rejects.toThrow();
    expect(server.counts.codes).toBe(0);
  });
});

describe.skipIf(NO_KEYCHAIN !== undefined)(`in the keychain${NO_KEYCHAIN ? ` (${NO_KEYCHAIN})` : ''}`, () => {
  /** Whether a file of the state directory holds one of the secrets that were issued. */
  const isInFiles = (project: Project, { issued }: AuthServer): boolean => {
    const folder = project.path('.state/auth');
    const all = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    return issued.some((secret) => all.join('').includes(secret));
  };
  const stored = async (project: Project): Promise<unknown> =>
    JSON.parse((await run(project, 'secret', 'list', '--json')).stdout).logins;
  const entry = (store: string) => ({ server: 'guarded', store, changedAt: expect.stringMatching(/Z$/) });

  test('a login is in the keychain alone, is listed without its tokens, and logging out removes it', async () => {
    const keychain = await startKeychain();
    common = keychain.env;
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    expect(isInFiles(project, server)).toBe(false);
    expect(await stored(project)).toEqual([entry('keychain')]);
    expect(await loginOf(project)).toMatchObject({
      kind: 'logged-in',
      issuer: server.origin,
      renewable: true,
    });
    const [account] = keychain.entries().keys();
    expect(account).toMatch(/^login [0-9a-f]{32} \(.*auth\)$/);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    expect(await run(project, 'auth', 'guarded', '--logout')).toMatchObject({ code: 0 });
    expect(server.counts.revocations).toBeGreaterThan(0);
    expect(keychain.entries().size).toBe(0);
    expect(await stored(project)).toEqual([]);
    expectLoginAsked(await whoami());
  });

  test('two gateways that renew at the same time refresh once and lose nothing, round after round', async () => {
    common = (await startKeychain()).env;
    const { server, project } = await withExpired();
    const gateways = await Promise.all([gatewayIn(project), gatewayIn(project)]);
    const all = (): Promise<RpcMessage[]> =>
      Promise.all(gateways.map(({ whoami }) => times(MANY, whoami))).then((answers) => answers.flat());
    expectServed(await all());
    expect(server.counts.refreshes).toBe(1);
    for (let round = 2; round <= 4; round++) {
      server.revokeAll('access');
      expectServed(await all());
      expect(server.counts.refreshes).toBe(round);
    }
    expect(server.counts.authorizations).toBe(1);
    expect(isInFiles(project, server)).toBe(false);
  });

  test('tokens of a process that was killed before it could tell of them are found', async () => {
    const keychain = await startKeychain();
    common = keychain.env;
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    server.revokeAll('access');
    // The other process gets new tokens, puts them into the keychain, and is killed.
    const [[account, text] = ['', '']] = keychain.entries();
    const login = JSON.parse(text);
    const form = {
      grant_type: 'refresh_token',
      refresh_token: login.tokens.refresh,
      client_id: login.client.id,
    };
    const answer = await fetch(`${server.origin}/token`, { method: 'POST', body: new URLSearchParams(form) });
    const given = (await answer.json()) as { access_token: string; refresh_token: string };
    const tokens = { ...login.tokens, access: given.access_token, refresh: given.refresh_token };
    keychain.set(account, JSON.stringify({ ...login, tokens }));
    expectServed([await whoami()]);
    expect(server.counts.refreshes).toBe(1);
  });

  test('a login in a file is taken over when it is first used, also where that was cut off once', async () => {
    const server = await authServer();
    const project = projectFor(server);
    await logIn(project);
    expect(await stored(project)).toEqual([entry('file')]);
    const [name = ''] = loginFiles(project);
    const before = project.read(`.state/auth/${name}`);
    common = (await startKeychain()).env;
    const moved = async (): Promise<void> => {
      const { client, whoami } = await gatewayIn(project);
      expectServed([await whoami()]);
      await until(() => !loginFiles(project).includes(name), { what: 'the login to be moved' });
      expectServed([await whoami()]);
      await client.close();
    };
    await moved();
    expect(isInFiles(project, server)).toBe(false);
    // Killed after it was in the keychain, and before the file was gone.
    writeFileSync(project.path('.state/auth', name), before, { mode: 0o600 });
    await moved();
    expect(await stored(project)).toEqual([entry('keychain')]);
    expect(server.counts.authorizations).toBe(1);
  });

  test('a keychain that is silent or gone is told, costs no login, and is asked again', async () => {
    const keychain = await startKeychain();
    common = keychain.env;
    const { server, project } = await withExpired();
    process.kill(keychain.pid, 'SIGSTOP');
    const { whoami } = await gatewayIn(project);
    const refused = await whoami();
    expect(refused.result.isError).toBe(true);
    expect(refused.result.content[0].text).toMatch(
      /the keychain (?:has not responded yet|cannot be used: it did not answer)/,
    );
    process.kill(keychain.pid, 'SIGCONT');
    await until(async () => (await whoami()).result.isError !== true, {
      what: 'the login to be read',
      deadline: 30_000,
    });
    expect(server.counts).toMatchObject({ refreshes: 1, authorizations: 1 });
    process.kill(keychain.pid, 'SIGKILL');
    const { code, stderr } = await run(project, 'call', 'guarded', 'whoami');
    expect([code, stderr]).toEqual([3, expect.stringContaining('the keychain cannot be used')]);
  }, 90_000);

  test('with SWITCHBOARD_SECRET_STORE=file, a login from the keychain goes to a file when it is renewed', async () => {
    const { env } = await startKeychain();
    common = env;
    const { server, project } = await withExpired();
    common = { ...env, SWITCHBOARD_SECRET_STORE: 'file' };
    const { whoami } = await gatewayIn(project);
    expectServed([await whoami()]);
    expect(await stored(project)).toEqual([entry('file')]);
    expect(server.counts).toMatchObject({ refreshes: 1, authorizations: 1 });
  });
});
