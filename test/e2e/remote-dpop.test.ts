/**
 * Logins whose tokens are bound to a key (RFC 9449), with the built program, a real identity provider and a server that
 * checks every proof itself.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { exportPKCS8, exportJWK, generateKeyPair } from 'jose';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { ownState } from '../helpers/gateway.ts';
import { RunningProgram } from '../helpers/http-gateway.ts';
import { NO_KEYCHAIN, startKeychain } from '../helpers/keychain.ts';
import { browse } from '../helpers/provider-browser.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startDpopServer, type DpopServer, type DpopServerSettings } from '../servers/dpop-server.mjs';
import { startIdentityProvider, type IdentityProvider } from '../servers/identity-provider.mjs';

const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };

/** Everything that the programs of the current test have written. */
let told: (() => string)[] = [];
beforeEach(() => (told = []));

interface WorldOptions {
  readonly server?: Partial<DpopServerSettings>;
  readonly provider?: Omit<Parameters<typeof startIdentityProvider>[0], 'resource'>;
  readonly oauth?: object;
  readonly env?: Readonly<Record<string, string>>;
  /** The path of the server. */
  readonly path?: string;
}

interface World {
  readonly server: DpopServer;
  readonly provider: IdentityProvider;
  readonly project: Project;
  /** Changes how the server is logged in to. */
  readonly configure: (oauth: object) => void;
  readonly run: (...args: string[]) => Promise<{ code: number | null; stdout: string; stderr: string }>;
  /** A person logs in; gives what the program says. */
  readonly logIn: () => Promise<string>;
  readonly gateway: () => Promise<Gateway>;
  /** The file of the login, as it is now. */
  readonly stored: () => any;
}

interface Gateway {
  readonly client: RawClient;
  readonly whoami: () => Promise<string>;
}

async function world(options: WorldOptions = {}): Promise<World> {
  const server = await startDpopServer(options.server);
  const provider = await startIdentityProvider({
    refresh: true,
    ...options.provider,
    resource: server.resource,
  });
  server.settings.issuer = provider.url;
  for (const each of [server, provider]) atTestEnd(() => each.close());
  const project = createProject({});
  const configure = (oauth: object): void => {
    const entry = { url: server.origin + (options.path ?? '/mcp'), oauth };
    project.write('switchboard.config.json', JSON.stringify({ mcpServers: { bound: entry } }));
  };
  configure(options.oauth ?? {});
  const env = { ...DEBUG, ...options.env };
  const start = (args: string[]): RunningProgram => {
    const program = new RunningProgram(project, { args, env });
    told.push(() => program.stdout + program.stderr);
    return program;
  };
  const run: World['run'] = async (...args) => {
    const program = start(args);
    const { code } = await program.exited;
    return { code, stdout: program.stdout, stderr: program.stderr };
  };
  onTestFinished(() => {
    const everything = told.map((text) => text()).join('\n');
    const login = stored();
    const secrets = [login?.tokens?.proofKey, login?.tokens?.access, login?.tokens?.refresh];
    for (const secret of secrets.filter((each) => each !== undefined))
      expect(everything.includes(secret), `${secret} is told`).toBe(false);
    for (const { headers } of server.requests)
      for (const secret of [headers.dpop, headers.authorization?.split(' ')[1]])
        if (secret !== undefined) expect(everything.includes(String(secret)), 'a header is told').toBe(false);
    // No proof is sent twice, wherever it goes.
    const proofs = [
      ...server.requests.map(({ headers }) => headers.dpop),
      ...provider.tokenRequests.map(({ proof }) => proof),
    ];
    const sent = proofs.filter((proof) => proof !== undefined);
    expect(new Set(sent).size).toBe(sent.length);
  });
  const stored = (): any => {
    const folder = project.path('.state/auth');
    try {
      const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.json'));
      return JSON.parse(readFileSync(`${folder}/${name}`, 'utf8'));
    } catch {
      return undefined;
    }
  };
  return {
    server,
    provider,
    project,
    configure,
    run,
    stored,
    async logIn() {
      const program = start(['auth', 'bound', '--no-browser']);
      const page = await until(() => /^ {2}(http:\S+)$/m.exec(program.stderr)?.[1], {
        what: 'the address to log in at',
        deadline: 20_000,
        seen: () => program.stderr,
      });
      const { status, text } = await browse(page);
      expect([status, await program.exited], `${text}\n${program.stderr}`).toEqual([
        200,
        { code: 0, signal: null },
      ]);
      return program.stdout;
    },
    async gateway() {
      const client = startClient({ cwd: project.dir, env: { ...ownState(project), ...env } });
      told.push(() => client.stderr + client.lines.map(({ text }) => text).join('\n'));
      await client.initialize();
      const args = { action: 'call', subtool: 'whoami', args: {} };
      return { client, whoami: async () => textOf(await client.call('bound_suite', args)) };
    },
  };
}

/** Who the requests with these methods came from, refused ones left out. */
const keysOf = (server: DpopServer): Set<string | undefined> =>
  new Set(server.requests.flatMap(({ from }) => (from === undefined ? [] : [from.key])));
/** The stream of the server's own is open. */
const listening = (server: DpopServer): Promise<unknown> =>
  until(() => server.requests.some(({ method, from }) => method === 'GET' && from !== undefined), {
    what: 'the stream to be opened',
    deadline: 20_000,
  });
const problems = (server: DpopServer): string[] =>
  server.requests.flatMap(({ problem }) =>
    problem === undefined || problem === 'invalid_token: none' ? [] : [problem],
  );

describe('a server that asks for proofs', () => {
  test('gets one with every request, to the end of the session', async () => {
    const { server, provider, logIn, gateway, run, stored, project } = await world();
    const before = await gateway();
    expect(await before.whoami()).toContain('requires a login');
    expect(await logIn()).toContain('bound to a key');
    expect(await before.whoami()).toMatch(/^alice with [\w-]{43}$/);
    await listening(server);
    expect((await before.client.close()).code).toBe(0);
    const methods = server.requests.filter(({ from }) => from !== undefined).map(({ method }) => method);
    expect(new Set(methods)).toEqual(new Set(['POST', 'GET', 'DELETE']));
    expect(problems(server)).toEqual([]);
    expect(provider.tokenRequests.map(({ status, proof }) => [status, typeof proof])).toEqual([
      [200, 'string'],
    ]);
    const list = await run('auth', '--json');
    expect(JSON.parse(list.stdout).servers[0].login).toMatchObject({
      kind: 'logged-in',
      dpop: true,
      renewable: true,
    });
    expect((await run('auth')).stdout).toContain('bound to a key');
    expect(stored().tokens).toMatchObject({ type: 'DPoP', proofKey: expect.stringMatching(/^[\w-]{43}$/) });
    for (const name of readdirSync(project.path('.state/auth')))
      expect(statSync(project.path('.state/auth', name)).mode & 0o077, name).toBe(0);
  });

  test('gets them over the older transport too', async () => {
    const { server, logIn, gateway } = await world({ path: '/sse' });
    await logIn();
    const { whoami } = await gateway();
    expect(await whoami()).toMatch(/^alice with/);
    const paths = server.requests.filter(({ from }) => from !== undefined).map(({ path }) => path);
    expect(new Set(paths)).toEqual(new Set(['/sse', '/messages']));
    expect(problems(server)).toEqual([]);
  });

  test('knows the same key after renewals and in other gateways, which renew once between them', async () => {
    const { server, provider, logIn, gateway, stored } = await world();
    provider.accessSeconds = 30;
    await logIn();
    const { proofKey, access } = stored().tokens;
    const gateways = await Promise.all([gateway(), gateway()]);
    const all = () => Promise.all(gateways.flatMap(({ whoami }) => [whoami(), whoami(), whoami()]));
    provider.accessSeconds = 600;
    const first = await all();
    expect(new Set(first).size).toBe(1);
    expect(first[0]).toMatch(/^alice with/);
    const grants = () => provider.tokenRequests.map(({ form, status }) => [form.get('grant_type'), status]);
    expect(grants()).toEqual([
      ['authorization_code', 200],
      ['refresh_token', 200],
    ]);
    expect(stored().tokens.proofKey).toBe(proofKey);
    expect(stored().tokens.access).not.toBe(access);
    expect(keysOf(server).size).toBe(1);
    expect(problems(server)).toEqual([]);
  });

  test.skipIf(NO_KEYCHAIN !== undefined)(
    'is reached with a key that is in the keychain, and in no file',
    async () => {
      const { env, entries } = await startKeychain();
      const { server, logIn, gateway, project } = await world({ env });
      await logIn();
      expect(await (await gateway()).whoami()).toMatch(/^alice with/);
      const [text = ''] = entries().values();
      const { proofKey } = JSON.parse(text).tokens;
      expect(proofKey).toMatch(/^[\w-]{43}$/);
      for (const name of readdirSync(project.path('.state/auth')))
        expect(readFileSync(project.path('.state/auth', name), 'utf8')).not.toContain(proofKey);
      expect(problems(server)).toEqual([]);
    },
  );
});

describe('nonces', () => {
  test('of the issuer and of the server are used, each once', async () => {
    const { server, provider, logIn, gateway } = await world({
      provider: { nonces: true },
      server: { nonces: true },
    });
    provider.accessSeconds = 30;
    await logIn();
    provider.accessSeconds = 600;
    const { whoami } = await gateway();
    expect(await whoami()).toMatch(/^alice with/);
    expect(await Promise.all([whoami(), whoami(), whoami(), whoami()])).toEqual(
      Array(4).fill(await whoami()),
    );
    await listening(server);
    // The newest one is remembered, so one call after another is not refused any more.
    const before = server.requests.length;
    for (let n = 0; n < 3; n++) await whoami();
    expect(server.requests.slice(before).map(({ problem }) => problem)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const statuses = provider.tokenRequests.map(({ form, status }) => [form.get('grant_type'), status]);
    expect(statuses).toEqual([
      ['authorization_code', 400],
      ['authorization_code', 200],
      ['refresh_token', 400],
      ['refresh_token', 200],
    ]);
    expect(new Set(problems(server))).toEqual(new Set(['use_dpop_nonce']));
  });

  test.each([
    ['of a server that always wants another one', () => String(Math.random())],
    ['with characters that none may have', () => 'a"b, c\\d é'],
    ['that are endlessly long', () => 'x'.repeat(3000)],
  ])('%s end the call with a clear error, after one more try at most', async (_, nonce) => {
    const { server, logIn, gateway } = await world({ server: { nonce } });
    await logIn();
    const { whoami } = await gateway();
    expect(await whoami()).toContain("Server 'bound' did not accept a DPoP proof with its own nonce.");
    const tried = server.requests.filter(({ headers }) => headers.dpop !== undefined);
    for (const { text } of tried)
      expect(tried.filter((other) => other.text === text).length).toBeLessThanOrEqual(2);
    for (const { headers } of tried) expect(headers.dpop).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });
});

describe('a server that refuses', () => {
  test('a proof is told apart from one that refuses the login, which is not renewed then', async () => {
    const { provider, server, logIn, gateway, stored } = await world();
    await logIn();
    server.settings.refuse = 'invalid_dpop_proof';
    const { whoami } = await gateway();
    const said = await whoami();
    expect(said).toContain("Server 'bound' rejected the DPoP proof of the login. Check the clock");
    expect(said).toContain('switchboard auth bound');
    expect(provider.tokenRequests).toHaveLength(1);
    server.settings.refuse = undefined;
    expect(await whoami()).toMatch(/^alice with/);
    expect(stored().tokens).toBeDefined();
  });

  test('a token gets another one, bound to the same key', async () => {
    const { provider, server, logIn, gateway } = await world();
    await logIn();
    const { whoami } = await gateway();
    const before = await whoami();
    server.settings.refuse = 'invalid_token';
    expect(await whoami()).toContain('no longer accepts the login');
    server.settings.refuse = undefined;
    expect(await whoami()).toBe(before);
    expect(provider.tokenRequests.map(({ form }) => form.get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
    ]);
  });
});

describe('a redirect', () => {
  test('to another origin gets neither token nor proof', async () => {
    const elsewhere = await startDpopServer();
    atTestEnd(() => elsewhere.close());
    const { server, logIn, gateway } = await world({ path: '/moved', server: { moved: elsewhere.url } });
    await logIn();
    const { whoami } = await gateway();
    expect(await whoami()).toContain(`redirects to ${elsewhere.origin}`);
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests.some(({ from }) => from !== undefined)).toBe(true);
  });

  test('within the origin gets a proof of its own', async () => {
    const { server, logIn, gateway } = await world({ path: '/moved', server: { moved: '/mcp' } });
    await logIn();
    const { whoami } = await gateway();
    expect(await whoami()).toMatch(/^alice with/);
    expect(problems(server)).toEqual([]);
  });
});

describe('the configuration', () => {
  const claims = (access: string): any =>
    JSON.parse(Buffer.from(access.split('.')[1]!, 'base64url').toString());

  test('says nothing: a server that does not ask gets bearer tokens, though its issuer could do more', async () => {
    const { provider, logIn, gateway, stored } = await world({ server: { scheme: 'Bearer' } });
    await logIn();
    expect(await (await gateway()).whoami()).toBe('alice with no key');
    expect(provider.tokenRequests[0]!.proof).toBeUndefined();
    expect(stored().tokens).not.toHaveProperty('proofKey');
  });

  test('requires a key: it is used though the server does not ask, and a login without one does not count', async () => {
    const { server, configure, logIn, gateway, run, stored } = await world({ server: { scheme: 'Bearer' } });
    await logIn();
    server.settings.scheme = 'Bearer realm="x", DPoP';
    configure({ dpop: 'required' });
    expect(JSON.parse((await run('auth', '--json')).stdout).servers[0].login).toEqual({ kind: 'none' });
    const { whoami } = await gateway();
    expect(await whoami()).toContain('requires a login');
    await logIn();
    expect(claims(stored().tokens.access).cnf.jkt).toMatch(/^[\w-]{43}$/);
    expect(await whoami()).toMatch(/^alice with [\w-]{43}$/);
  });

  test('forbids it: no proof is sent, and the server says what it thinks of that', async () => {
    const { provider, logIn, gateway } = await world({ oauth: { dpop: 'off' } });
    expect(await logIn()).not.toContain('bound to a key');
    expect(await (await gateway()).whoami()).toContain('no longer accepts the login');
    for (const { proof } of provider.tokenRequests) expect(proof).toBeUndefined();
  });
});

describe('a service', () => {
  test.each([
    ['a secret', false],
    ['a signed assertion, which the issuer takes only once', true],
  ])('with %s gets tokens that are bound to a key, with the nonces of both', async (_, signs) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const client = {
      client_id: 'service',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      ...(signs
        ? {
            token_endpoint_auth_method: 'private_key_jwt',
            jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] },
          }
        : { client_secret: 'secret-of-the-service' }),
    };
    const oauth = {
      grant: 'client_credentials',
      clientId: 'service',
      ...(signs ? { privateKey: '${KEY}', keyId: 'k' } : { clientSecret: 'secret-of-the-service' }),
    };
    const { server, provider, gateway } = await world({
      provider: { clients: [client], nonces: true },
      server: { nonces: true },
      oauth,
      env: { KEY: await exportPKCS8(privateKey) },
    });
    provider.accessSeconds = 30;
    const { whoami } = await gateway();
    const first = await whoami();
    expect(first).toMatch(/with [\w-]{43}$/);
    // Each token ends within a minute, so every call gets another, bound to the same key.
    expect(await whoami()).toBe(first);
    const [asked, ...later] = provider.tokenRequests.map(({ status }) => status);
    expect(asked).toBe(400);
    expect(new Set(later)).toEqual(new Set([200]));
    expect(new Set(problems(server))).toEqual(new Set(['use_dpop_nonce']));
  });
});
