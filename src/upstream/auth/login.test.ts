import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { build } from 'esbuild';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  startAuthServer,
  type AuthServer,
  type AuthServerSettings,
} from '../../../test/servers/auth-server.mjs';
import { assemblyForEsbuild } from '../../../scripts/lib/assembly.mjs';
import { createLogger } from '../../shared/log.ts';
import { until } from '../../../test/helpers/until.ts';
import type { Login, Renewed } from '../login.ts';
import { login, loginState, type LoginOptions } from './index.ts';
import { createLogin } from './login.ts';

let directory: string;
let lines: string[];
let server: AuthServer;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-login-'));
  lines = [];
});
afterEach(async () => {
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const options = (): LoginOptions => ({
  server: 'notes',
  url: server.url,
  oauth: {},
  directory,
  log: createLogger({ level: 'debug', program: 'test', write: (line) => lines.push(line) }),
});

/** A person logs in. */
async function personLogsIn(): Promise<void> {
  const tell = (address: string): void => void fetch(address).then((answer) => answer.text());
  const { signal } = new AbortController();
  await login({ ...options(), openBrowser: false, signal, timeoutMs: 20_000, tell });
}

/** More than a busy machine needs for a renewal, in milliseconds. */
const PATIENT = 30_000;

/** A login that a person has made. */
async function loggedIn(settings: Partial<AuthServerSettings> = {}): Promise<Login> {
  server = await startAuthServer(settings);
  await personLogsIn();
  return createLogin(options(), PATIENT);
}

const PERSON = { kind: 'person' };
const another = { kind: 'renewed', authorization: expect.stringMatching(/^Bearer access-/) };
const valueOf = (renewed: Renewed): string | undefined =>
  renewed.kind === 'renewed' ? renewed.authorization : undefined;

const file = (): string =>
  join(
    directory,
    'auth',
    readdirSync(join(directory, 'auth')).find((name) => name.endsWith('.json'))!,
  );
const stored = (): any => JSON.parse(readFileSync(file(), 'utf8'));
const change = (tokens: object): void => {
  const all = stored();
  writeFileSync(file(), JSON.stringify({ ...all, tokens: { ...all.tokens, ...tokens } }));
};
const warnings = (): string[] => lines.filter((line) => line.includes(' warn '));

test('without a login there is no token, until a person has made one elsewhere', async () => {
  server = await startAuthServer();
  const one = createLogin(options());
  expect(await one.authorization()).toBeUndefined();
  expect(await one.renewed(undefined, 'Bearer')).toEqual(PERSON);
  expect(server.requests).toEqual([]);
  await personLogsIn();
  const made = await one.authorization();
  expect(made).toMatch(/^Bearer access-/);
  expect(await one.renewed(undefined, 'Bearer')).toEqual({ kind: 'renewed', authorization: made });
  expect(lines.join('')).not.toContain('access-');
});

test('a valid token is used without any request', async () => {
  const one = await loggedIn();
  const before = server.requests.length;
  const first = await one.authorization();
  expect(first).toMatch(/^Bearer access-/);
  expect(await one.authorization()).toBe(first);
  expect(server.requests.length).toBe(before);
});

test('a token that ends within a minute is renewed before it is used', async () => {
  const one = await loggedIn({ accessSeconds: 30 });
  const { access } = stored().tokens;
  server.settings.accessSeconds = 3600;
  expect(await one.authorization()).not.toBe(`Bearer ${access}`);
  expect(server.counts.refreshes).toBe(1);
  await one.authorization();
  expect(server.counts.refreshes).toBe(1);
});

test('twelve callers with a refused token lead to one refresh, and all get its token', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  server.revokeAll('access');
  const all = await Promise.all(
    Array.from({ length: 12 }, () => one.renewed(refused, 'Bearer').then(valueOf)),
  );
  expect(server.counts.refreshes).toBe(1);
  expect(new Set(all).size).toBe(1);
  expect(all[0]).toBe(await one.authorization());
  expect(all[0]).not.toBe(refused);
});

test('several gateways share one refresh too', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  server.revokeAll('access');
  const gateways = Array.from({ length: 12 }, () => createLogin(options(), PATIENT));
  const all = await Promise.all(gateways.map((each) => each.renewed(refused, undefined).then(valueOf)));
  expect(server.counts.refreshes).toBe(1);
  expect(new Set(all).size).toBe(1);
  // The older login learns of the new token from the file.
  expect(await one.authorization()).toBe(all[0]);
});

test('a refresh token that changes with each use is kept up to date', async () => {
  let one = await loggedIn();
  for (let round = 0; round < 3; round++) {
    const refused = await one.authorization();
    server.revokeAll('access');
    expect(await one.renewed(refused, undefined)).toEqual(another);
    one = createLogin(options(), PATIENT);
  }
  expect(server.counts.refreshes).toBe(3);
  expect(warnings()).toEqual([]);
});

test('a refresh token that stays the same is kept', async () => {
  const one = await loggedIn({ rotate: false });
  const { refresh } = stored().tokens;
  await one.renewed(await one.authorization(), undefined);
  expect(stored().tokens.refresh).toBe(refresh);
});

test('a revoked login is over: its tokens go, and the client stays for the next login', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  server.revokeAll();
  expect(await one.renewed(refused, undefined)).toEqual(PERSON);
  expect(await one.authorization()).toBeUndefined();
  expect(stored()).toMatchObject({ client: { kind: 'registered' } });
  expect(stored().tokens).toBeUndefined();
  expect(warnings()).toEqual([expect.stringContaining('the login has expired')]);
  expect(warnings()[0]).toContain('invalid_grant');
  expect(await one.renewed(refused, undefined)).toEqual(PERSON);
  expect(server.counts.refreshes).toBe(1);
  expect(loginState(options())).toEqual({ kind: 'none' });
});

test('an issuer that no longer knows the client ends the login, and the next login registers again', async () => {
  const one = await loggedIn();
  server.forgetClients();
  expect(await one.renewed(await one.authorization(), undefined)).toEqual(PERSON);
  expect(stored().client).toBeUndefined();
});

const refreshes = (): number =>
  server.requests.filter(({ body }) => body.includes('grant_type=refresh_token')).length;

test('an issuer that fails costs only time: the tokens are kept, and the reason is reported', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  server.revokeAll('access');
  server.settings.tokenFault = { status: 503, body: 'overloaded, your token is secret-in-a-page' };
  const reason = `its issuer ${server.origin}: it responded with status 503`;
  expect(await one.renewed(refused, undefined)).toEqual({ kind: 'unavailable', reason });
  expect(warnings()).toEqual([expect.stringContaining('status 503')]);
  expect(lines.join('')).not.toContain('secret-in-a-page');
  server.settings.tokenFault = undefined;
  await until(async () => (await one.renewed(refused, undefined)).kind === 'renewed', {
    what: 'the issuer to be asked again',
  });
});

test('an issuer in trouble is asked once, not by every request of a login that is over', async () => {
  const one = await loggedIn();
  change({ expiresAt: Date.now() - 1000 });
  server.settings.tokenFault = { status: 503, body: '' };
  const request = async (): Promise<Renewed> => {
    expect(await one.authorization()).toBeUndefined();
    return one.renewed(undefined, 'Bearer');
  };
  // All within the pause after a failure, even on a busy machine.
  const all = await Promise.all(Array.from({ length: 12 }, request));
  expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['unavailable']));
  expect(refreshes()).toBe(1);
});

test('an issuer that never answers does not hold up requests for long', async () => {
  await loggedIn();
  const one = createLogin(options(), 200);
  change({ expiresAt: Date.now() - 1000 });
  server.settings.tokenFault = 'hang';
  expect(await one.authorization()).toBeUndefined();
  const late = { kind: 'unavailable', reason: 'its issuer has not responded yet' };
  expect(await one.renewed(undefined, 'Bearer')).toEqual(late);
  expect(await one.renewed(undefined, 'Bearer')).toEqual(late);
  await until(() => refreshes() === 1, { what: 'the issuer to be asked' });
  // The renewal continues, and its outcome goes to whoever asks then.
  await server.close();
  await until(
    async () => (await one.renewed(undefined, 'Bearer')).kind === 'unavailable' && warnings().length > 0,
  );
  expect(stored().tokens.refresh).toMatch(/^refresh-/);
});

test('a token that is good for a moment is used while the issuer is in trouble, one that is over is not', async () => {
  const one = await loggedIn({ accessSeconds: 30 });
  const { access } = stored().tokens;
  server.settings.tokenFault = { status: 503, body: '' };
  expect(await one.authorization()).toBe(`Bearer ${access}`);
  expect(await one.authorization()).toBe(`Bearer ${access}`);
  expect(warnings().length).toBe(1);
  change({ expiresAt: Date.now() - 1000 });
  expect(await one.authorization()).toBeUndefined();
});

test('a login that cannot be renewed ends with its token', async () => {
  const one = await loggedIn({ refresh: false, accessSeconds: 30 });
  expect(await one.authorization()).toMatch(/^Bearer/);
  change({ expiresAt: Date.now() - 1000 });
  expect(await one.authorization()).toBeUndefined();
  expect(await one.renewed(undefined, undefined)).toEqual(PERSON);
  expect(loginState(options()).kind).toBe('expired');
});

test('a server that has changed its issuer needs a new login, and the old issuer is not asked', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  server.settings.issuers = ['http://127.0.0.1:9'];
  expect(await one.renewed(refused, undefined)).toEqual(PERSON);
  expect(server.counts.refreshes).toBe(0);
  expect(warnings()).toEqual([expect.stringContaining('another issuer')]);
});

test('a refused server cannot lead a refresh astray by what it says', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  const challenge = 'Bearer resource_metadata="https://169.254.169.254/latest"';
  expect(await one.renewed(refused, challenge)).toMatchObject({ kind: 'unavailable' });
  expect(server.counts.refreshes).toBe(0);
});

test('more rights than were given are not had by a refresh', async () => {
  const one = await loggedIn();
  const refused = await one.authorization();
  const renewed = await one.renewed(refused, 'Bearer error="insufficient_scope", scope="all"');
  expect(renewed).toMatchObject({ kind: 'rights', scope: 'all' });
  expect(server.counts.refreshes).toBe(0);
});

test('a token is sent to the server that it was made for only', async () => {
  await loggedIn();
  expect(await createLogin({ ...options(), url: `${server.origin}/other` }).authorization()).toBeUndefined();
  expect(await createLogin({ ...options(), server: 'other' }).authorization()).toBeUndefined();
});

/** A program that renews a refused token once and prints the result. */
async function renewer(): Promise<string> {
  const program = join(directory, 'renewer.mjs');
  const contents = `
    import { createLogin } from './login.ts';
    import { silentLogger } from '../../shared/log.ts';
    const { refused, ...options } = JSON.parse(process.argv[2]);
    const got = await createLogin({ ...options, log: silentLogger }, ${PATIENT}).renewed(refused);
    console.log(got.authorization ?? got.kind);
  `;
  await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)), loader: 'ts' },
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'error',
    plugins: [assemblyForEsbuild],
  });
  return program;
}

function renewIn(program: string, refused: string | undefined): { child: ChildProcess; said: () => string } {
  const { log, ...plain } = options();
  log.debug('another process renews the login');
  const child = spawn(process.execPath, [program, JSON.stringify({ ...plain, refused })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  return { child, said: () => output.trim() };
}

test('processes that renew at the same time refresh once between them', async () => {
  const one = await loggedIn();
  const program = await renewer();
  const refused = await one.authorization();
  server.revokeAll('access');
  const others = Array.from({ length: 3 }, () => renewIn(program, refused));
  const [ours] = await Promise.all([
    one.renewed(refused, undefined).then(valueOf),
    ...others.map(({ child }) => once(child, 'close')),
  ]);
  expect(server.counts.refreshes).toBe(1);
  expect(others.map(({ said }) => said())).toEqual([ours, ours, ours]);
});

test('a process that is killed during a renewal does not block others', async () => {
  const one = await loggedIn();
  const program = await renewer();
  const refused = await one.authorization();
  server.revokeAll('access');
  server.settings.tokenFault = 'hang';
  const asked = (): boolean => server.requests.some(({ body }) => body.includes('grant_type=refresh_token'));
  const { child } = renewIn(program, refused);
  await until(asked, { deadline: 20_000, what: 'the other process to ask for a refresh' });
  child.kill('SIGKILL');
  await once(child, 'close');
  server.settings.tokenFault = undefined;
  expect(await one.renewed(refused, undefined)).toEqual(another);
  expect(server.counts.refreshes).toBe(1);
  expect(readdirSync(join(directory, 'auth')).filter((name) => !name.endsWith('.json'))).toEqual([]);
});
