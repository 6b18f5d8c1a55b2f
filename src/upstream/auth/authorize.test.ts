import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  startAuthServer,
  type AuthServer,
  type AuthServerSettings,
} from '../../../test/servers/auth-server.mjs';
import { createLogger } from '../../shared/log.ts';
import type { Renewed } from '../login.ts';
import { login, loginState, logout, type AuthorizeOptions } from './index.ts';
import { createLogin } from './login.ts';

let directory: string;
let lines: string[];
const servers: AuthServer[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-auth-'));
  lines = [];
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  rmSync(directory, { recursive: true, force: true });
});

async function start(options: Partial<AuthServerSettings> = {}): Promise<AuthServer> {
  const server = await startAuthServer(options);
  servers.push(server);
  return server;
}

interface Shown {
  status: number;
  text: string;
}

/** The options of `login`, with a browser that follows every redirect and shows the last page. */
function by(url: string, more: Partial<AuthorizeOptions> = {}): AuthorizeOptions & { page: Promise<Shown> } {
  let shown: (page: Shown) => void;
  const page = new Promise<Shown>((resolve) => (shown = resolve));
  return {
    server: 'notes',
    url,
    oauth: {},
    directory,
    log: createLogger({ level: 'debug', program: 'test', write: (line) => lines.push(line) }),
    openBrowser: false,
    signal: new AbortController().signal,
    timeoutMs: 20_000,
    tell: (address) => {
      void fetch(address).then(async (answer) => shown({ status: answer.status, text: await answer.text() }));
    },
    page,
    ...more,
  };
}

const stored = (): any => {
  const folder = join(directory, 'auth');
  const [name] = readdirSync(folder).filter((each) => each.endsWith('.json'));
  return JSON.parse(readFileSync(join(folder, name!), 'utf8'));
};

/** The Authorization header that a renewal returned. */
function given(renewed: Renewed): string | undefined {
  return renewed.kind === 'renewed' ? renewed.authorization : undefined;
}

async function whoami(url: string, authorization: string | undefined): Promise<any> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } }),
  });
  return answer.ok ? answer.json() : answer.status;
}

test('a person logs in, and the server is theirs', async () => {
  const server = await start();
  const options = by(server.url);
  const result = await login(options);
  expect(result).toMatchObject({ issuer: server.origin, scope: 'read write', renewable: true });
  expect(result.expiresAt).toBeGreaterThan(Date.now());
  const page = await options.page;
  expect(page.status).toBe(200);
  expect(page.text).toContain('Logged in');
  expect(page.text).not.toContain('<script');
  const authorization = await createLogin(options).authorization();
  expect((await whoami(server.url, authorization)).result.content[0].text).toMatch(/^you came as client-/);
  expect(loginState(options)).toMatchObject({ kind: 'logged-in', issuer: server.origin });
});

test('the issuer is asked with PKCE, for this server, and for the scope the server names', async () => {
  const server = await start({ challengeScope: 'read', scopes: ['read', 'write', 'offline_access'] });
  await login(by(server.url));
  const asked = server.requests.find(({ path }) => path === '/authorize')!.query;
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('resource')).toBe(server.url);
  expect(asked.get('scope')).toBe('read offline_access');
  // Issuers may limit a client to the scopes it was registered for.
  const registration = server.requests.find(({ path }) => path === '/register')!;
  expect(JSON.parse(registration.body).scope).toBe('read offline_access');
  const form = new URLSearchParams(server.requests.find(({ path }) => path === '/token')!.body);
  expect(form.get('resource')).toBe(server.url);
});

test('only the owner can read what is kept, and no line of the log holds a secret', async () => {
  const server = await start({ accessSeconds: 5 });
  const options = by(server.url);
  await login(options);
  const one = createLogin(options);
  await one.authorization();
  server.revokeAll();
  await one.renewed(await one.authorization(), undefined);
  const folder = join(directory, 'auth');
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.json$/)]);
  expect(lines.length).toBeGreaterThan(0);
  for (const secret of server.issued) expect(lines.join('')).not.toContain(secret);
});

test('the next login is made as the same client, at the same port', async () => {
  const server = await start();
  await login(by(server.url));
  const before = stored().client;
  await login(by(server.url));
  expect(stored().client).toEqual(before);
  expect(server.counts.registrations).toBe(1);
});

test('where the port is taken, a new client is registered', async () => {
  const server = await start();
  await login(by(server.url));
  const { port } = new URL(stored().client.redirectUri);
  const squatter = createServer().listen(Number(port), '127.0.0.1');
  await new Promise((resume) => squatter.once('listening', resume));
  await login(by(server.url));
  squatter.close();
  expect(server.counts.registrations).toBe(2);
  expect(new URL(stored().client.redirectUri).port).not.toBe(port);
});

test('a port that is configured is used or complained about', async () => {
  const server = await start();
  const squatter = createServer().listen(0, '127.0.0.1');
  await new Promise((resume) => squatter.once('listening', resume));
  const { port: callbackPort } = squatter.address() as { port: number };
  await expect(login(by(server.url, { oauth: { callbackPort } }))).rejects.toMatchObject({
    code: 'AUTH_PORT',
  });
  await new Promise((resume) => squatter.close(resume));
  await login(by(server.url, { oauth: { callbackPort } }));
  expect(new URL(stored().client.redirectUri).port).toBe(String(callbackPort));
});

test('a client that the user has registered is used, and its secret stays in the configuration', async () => {
  const server = await start({ registration: false, clients: [{ id: 'mine', secret: 'hush-hush-hush' }] });
  const oauth = { clientId: 'mine', clientSecret: 'hush-hush-hush', scope: 'read' };
  const options = by(server.url, { oauth });
  expect(await login(options)).toMatchObject({ scope: 'read' });
  expect(JSON.stringify(stored())).not.toContain('hush-hush');
  server.revokeAll('access');
  const one = createLogin(options);
  const renewed = await one.renewed(await one.authorization(), undefined);
  expect((await whoami(server.url, given(renewed))).result.content[0].text).toBe('you came as mine');
  // A login made as another client does not count.
  expect(await createLogin({ ...options, oauth: { clientId: 'other' } }).authorization()).toBeUndefined();
});

test('a client can be described by a document in the place of a registration', async () => {
  const clientMetadataUrl = 'https://switchboard.example/client.json';
  const documents = { [clientMetadataUrl]: { redirect_uris: ['http://127.0.0.1/callback'] } };
  const server = await start({ documents });
  await login(by(server.url, { oauth: { clientMetadataUrl } }));
  expect(stored().client).toMatchObject({ kind: 'document', id: clientMetadataUrl });
  expect(server.counts.registrations).toBe(0);
  // An issuer that does not support metadata documents registers the client.
  server.settings.documents = undefined;
  await login(by(server.url, { oauth: { clientMetadataUrl } }));
  expect(stored().client.kind).toBe('registered');
  await expect(
    login(by(server.url, { oauth: { clientMetadataUrl: 'http://switchboard.example/' } })),
  ).rejects.toMatchObject({ code: 'AUTH_CLIENT' });
});

test('without any way to get a client, the hint is to register one', async () => {
  const server = await start({ registration: false });
  await expect(login(by(server.url))).rejects.toMatchObject({
    code: 'AUTH_CLIENT',
    hint: expect.stringContaining('clientId'),
  });
});

test.each<[string, Partial<AuthServerSettings>]>([
  ['a server whose issuer speaks OpenID', { metadata: 'openid' }],
  ['a server that names no description', { challenge: false }],
  ['a server without a description, which is its own issuer', { resourceMetadata: false }],
  [
    'an old server whose endpoints have to be assumed',
    { resourceMetadata: false, metadata: 'none', iss: false },
  ],
  ['an issuer that does not say who it is', { iss: false }],
  ['an issuer that does not say how long tokens last', { accessSeconds: undefined }],
])('%s takes a login', async (_, settings) => {
  const server = await start(settings);
  const options = by(server.url);
  await login(options);
  const one = createLogin(options);
  const first = await one.authorization();
  expect(await whoami(server.url, first)).toHaveProperty('result');
  server.revokeAll('access');
  const second = given(await one.renewed(first, undefined));
  expect(second).not.toBe(first);
  expect(await whoami(server.url, second)).toHaveProperty('result');
});

test.each([[undefined], [['plain']], [[]]])(
  'an issuer that does not say that it checks PKCE (%j) is not asked, nor registered with',
  async (methods) => {
    const server = await start({ metadataChanges: { code_challenge_methods_supported: methods } });
    await expect(login(by(server.url))).rejects.toMatchObject({
      code: 'AUTH_FAILED',
      message: expect.stringContaining('PKCE (S256)'),
    });
    expect(server.counts).toMatchObject({ registrations: 0, authorizations: 0 });
  },
);

test('rights that the server asked for later are asked for by the next login, and by those after it', async () => {
  const server = await start({ challengeScope: 'read' });
  const asked = (): (string | null)[] =>
    server.requests.filter(({ path }) => path === '/authorize').map(({ query }) => query.get('scope'));
  const options = by(server.url);
  await login(options);
  const one = createLogin(options);
  const refusal = 'Bearer error="insufficient_scope", scope="write admin:all", error_description="no"';
  const refused = await one.authorization();
  expect(await one.renewed(refused, refusal)).toEqual({
    kind: 'rights',
    scope: 'write admin:all',
    configured: false,
  });
  // It is still valid for its own scopes.
  expect(await one.authorization()).toBe(refused);
  await login(by(server.url));
  expect(asked()).toEqual(['read', 'read write admin:all']);
  // Issuers may limit a client to the scopes it was registered for.
  const registered = server.requests.filter(({ path }) => path === '/register');
  expect(registered.map(({ body }) => JSON.parse(body).scope)).toEqual(['read', 'read write admin:all']);
  expect(await one.renewed(refused, refusal)).toMatchObject({ kind: 'renewed' });
  await login(by(server.url));
  expect(asked()[2]).toBe('read write admin:all');
  expect(server.counts.registrations).toBe(2);
});

test('rights beyond what the configuration names are not asked for', async () => {
  const server = await start();
  const options = by(server.url, { oauth: { scope: 'read' } });
  await login(options);
  const one = createLogin(options);
  const refusal = 'Bearer error=insufficient_scope, scope=write';
  expect(await one.renewed(await one.authorization(), refusal)).toEqual({
    kind: 'rights',
    scope: 'write',
    configured: true,
  });
  await login(options);
  const asked = server.requests.filter(({ path }) => path === '/authorize');
  expect(asked.map(({ query }) => query.get('scope'))).toEqual(['read', 'read']);
});

test.each(['scope="a\\"b"', `scope="${'x'.repeat(3000)}"`, 'scope=""', ''])(
  'what cannot be asked for is not kept: %s',
  async (scope) => {
    const server = await start();
    const options = by(server.url);
    await login(options);
    const one = createLogin(options);
    const refusal = `Bearer error="insufficient_scope", ${scope}`;
    expect(await one.renewed(await one.authorization(), refusal)).toMatchObject({ scope: undefined });
    expect(stored().wanted).toBeUndefined();
  },
);

test.each([1e18, 0, -5])(
  'an issuer that says that a token ends in %d s has not said when',
  async (accessSeconds) => {
    const server = await start({ accessSeconds });
    const options = by(server.url);
    expect((await login(options)).expiresAt).toBeUndefined();
    expect(loginState(options)).toMatchObject({ kind: 'logged-in', expiresAt: undefined });
  },
);

test('a denied login says what to do next', async () => {
  const server = await start({ deny: 'access_denied' });
  const options = by(server.url);
  await expect(login(options)).rejects.toMatchObject({
    code: 'AUTH_DENIED',
    message: expect.stringContaining('access_denied'),
  });
  const page = await options.page;
  expect(page.status).toBe(400);
  expect(page.text).toContain('&#60;b&#62;said');
  expect(page.text).not.toContain('<b>');
});

test('an answer with another state is not taken, and the right one still is', async () => {
  const server = await start();
  const pages: Shown[] = [];
  const visit = async (address: string, init?: RequestInit): Promise<void> => {
    const answer = await fetch(address, init);
    pages.push({ status: answer.status, text: await answer.text() });
  };
  const tell = async (address: string, port: number): Promise<void> => {
    const callback = `http://127.0.0.1:${port}/callback`;
    await visit(`${callback}?state=guess&code=x`);
    await visit(`${callback}?code=x`);
    await visit(`http://127.0.0.1:${port}/elsewhere?state=guess`);
    await visit(callback, { method: 'POST' });
    await visit(address);
  };
  let told: Promise<void> | undefined;
  await login(by(server.url, { tell: (address, port) => void (told = tell(address, port)) }));
  await told;
  expect(pages.map(({ status }) => status)).toEqual([400, 400, 404, 404, 200]);
  expect(server.counts.codes).toBe(1);
});

test('an answer of another issuer is refused before the code is used', async () => {
  const server = await start({ iss: 'https://other.example', metadataChanges: {} });
  await expect(login(by(server.url))).rejects.toMatchObject({
    code: 'AUTH_FAILED',
    message: expect.stringContaining('another issuer'),
  });
  expect(server.counts.codes).toBe(0);
});

test('an issuer that passes itself off as another is refused', async () => {
  const server = await start({ metadataChanges: { issuer: 'https://other.example' } });
  await expect(login(by(server.url))).rejects.toMatchObject({ code: 'AUTH_DISCOVERY' });
});

test('a description that is about another server is refused', async () => {
  const server = await start({ resource: 'https://other.example/mcp' });
  await expect(login(by(server.url))).rejects.toMatchObject({ code: 'AUTH_DISCOVERY' });
});

test.each<[string, (origin: string) => Partial<AuthServerSettings>]>([
  ['issuers', () => ({ issuers: ['https://169.254.169.254'] })],
  ['its description', () => ({ challengeUrl: 'https://169.254.169.254/latest' })],
  ['the token endpoint', () => ({ metadataChanges: { token_endpoint: 'http://login.invalid/token' } })],
  ['the page to log in', () => ({ metadataChanges: { authorization_endpoint: 'https://169.254.1.1/' } })],
])('a server that leads to where nobody should go is refused: %s', async (_, settings) => {
  const server = await start();
  Object.assign(server.settings, settings(server.origin));
  await expect(login(by(server.url))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(server.counts.authorizations).toBe(0);
});

test('a redirect to another origin is not followed with what is secret', async () => {
  const other = await start();
  const server = await start();
  server.settings.tokenFault = { status: 307, headers: { location: `${other.origin}/token` }, body: '' };
  await expect(login(by(server.url))).rejects.toMatchObject({ code: 'AUTH_FAILED' });
  expect(other.requests).toEqual([]);
});

test.each<[string, Partial<AuthServerSettings>, string]>([
  ['an error page', { tokenFault: { status: 500, body: '<h1>secret-in-a-page</h1>' } }, 'status 500'],
  ['what is not JSON', { tokenFault: { status: 200, body: 'secret-in-a-page' } }, 'is invalid'],
  [
    'more than anybody needs',
    { tokenFault: { status: 200, body: 'x'.repeat(2 * 1024 * 1024) } },
    'larger than',
  ],
  [
    'a token that no header can hold',
    { tokenFault: { status: 200, body: '{"access_token":"a\\nb","token_type":"Bearer"}' } },
    'unsupported type of token',
  ],
])('an issuer that answers with %s makes one clear error', async (_, settings, said) => {
  const server = await start(settings);
  const failure: unknown = await login(by(server.url)).catch((error: unknown) => error);
  expect(failure).toHaveProperty('message', expect.stringContaining(said));
  expect((failure as Error).message).not.toContain('secret-in-a-page');
  expect(loginState(by(server.url)).kind).toBe('none');
});

test('a server that asks for no login says so', async () => {
  const server = await start({
    mcpFault: { status: 200, body: '{}' },
    resourceMetadata: false,
    metadata: 'none',
  });
  await expect(login(by(server.url))).rejects.toMatchObject({ code: 'AUTH_NOT_ASKED' });
});

test('a server that cannot be reached is named', async () => {
  const server = await start();
  await server.close();
  await expect(login(by(`${server.url}?key=secret-in-query`))).rejects.toMatchObject({
    code: 'AUTH_UNREACHABLE',
    message: `Request to ${server.url} failed: connection refused.`,
  });
});

test('an abandoned login times out, and the next one registers a new client', async () => {
  const server = await start();
  await login(by(server.url));
  server.forgetClients();
  const options = by(server.url, { timeoutMs: 300 });
  await expect(login(options)).rejects.toMatchObject({ code: 'AUTH_TIMEOUT' });
  expect(await options.page).toMatchObject({ text: 'unknown client' });
  await login(by(server.url));
  expect(server.counts.registrations).toBe(2);
});

test('a login can be stopped, and leaves nothing listening', async () => {
  const server = await start();
  const controller = new AbortController();
  let port = 0;
  const tell = (_: string, given: number): void => {
    port = given;
    controller.abort();
  };
  await expect(login(by(server.url, { signal: controller.signal, tell }))).rejects.toMatchObject({
    code: 'AUTH_STOPPED',
  });
  await expect(fetch(`http://127.0.0.1:${port}/callback`)).rejects.toThrow();
});

test('logging out takes the tokens back and forgets them', async () => {
  const server = await start();
  const options = by(server.url);
  await login(options);
  const authorization = await createLogin(options).authorization();
  expect(await logout(options, options.signal)).toMatchObject({ removed: true, revoked: true });
  expect(await whoami(server.url, authorization)).toBe(401);
  expect(loginState(options)).toEqual({ kind: 'none' });
  expect(readdirSync(join(directory, 'auth'))).toEqual([]);
  expect(await logout(options, options.signal)).toMatchObject({ removed: false, revoked: false });
});

test('logging out works without the issuer too', async () => {
  const server = await start({ revocation: false });
  const options = by(server.url);
  await login(options);
  expect(await logout(options, options.signal)).toMatchObject({ removed: true, revoked: false });
  await login(options);
  await server.close();
  const result = await logout(options, options.signal);
  expect(result).toMatchObject({ removed: true, revoked: false, reason: expect.any(String) });
});
