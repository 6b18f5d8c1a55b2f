/** Who gets in, and who does not, asked of the built program: every route, every method, every wrong header. */
import { chmodSync, existsSync, statSync, symlinkSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { ask, HttpSession, type HttpAnswer } from '../helpers/http-client.ts';
import {
  HttpGateway,
  RunningProgram,
  startHttpGateway,
  TOKEN,
  type ProgramOptions,
} from '../helpers/http-gateway.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const PATHS = ['/mcp', '/sse', '/message', '/status', '/', '/unknown', '/mcp/', '/%6dcp'];
const METHODS = ['GET', 'POST', 'DELETE', 'PUT', 'OPTIONS', 'HEAD', 'PATCH'];
const FOREIGN = { origin: 'http://evil.example' };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
});

/** Everything that a client has to get right. */
const RIGHT = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

describe('every route and method', () => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    // Debug, so that whatever could be logged is.
    gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      { args: ['--http', '0', '--json', '--log-level', 'debug'], config: { exposure: 'flat' } },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await gateway.project.remove();
  });

  /** One request of each method to each path, with something changed about the right headers. */
  async function walk(
    change: Readonly<Record<string, string | undefined>>,
    query = '',
  ): Promise<(HttpAnswer & { readonly what: string })[]> {
    return Promise.all(
      PATHS.flatMap((path) =>
        METHODS.map(async (method) => {
          const body = ['GET', 'HEAD', 'OPTIONS'].includes(method) ? undefined : INITIALIZE;
          const answer = await ask({
            port: gateway.port,
            path: `${path}${query}`,
            method,
            headers: {
              ...RIGHT,
              ...(body === undefined ? {} : { 'content-length': String(body.length) }),
              ...change,
            },
            ...(body === undefined ? {} : { body }),
          });
          return { ...answer, what: `${method} ${path}${query}` };
        }),
      ),
    );
  }

  test.each<[string, number, Record<string, string | undefined>, query?: string]>([
    ['a Host that is a name of somebody else', 403, { host: 'evil.example' }],
    ['a Host that only begins like ours', 403, { host: '127.0.0.1.evil.example' }],
    ['a Host that only ends like ours', 403, { host: 'evil.localhost.example:80' }],
    ['a Host that is the address of another machine', 403, { host: '192.168.1.1' }],
    ['an empty Host', 403, { host: '' }],
    ['no Host', 403, { host: undefined }],
    ['the Origin of a web page', 403, FOREIGN],
    ['an Origin on this machine', 403, { origin: 'http://localhost:1' }],
    ['the Origin null', 403, { origin: 'null' }],
    ['an empty Origin', 403, { origin: '' }],
    ['no token', 401, { authorization: undefined }],
    ['a wrong token', 401, { authorization: `Bearer ${TOKEN}x` }],
    ['a part of the token', 401, { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['no token behind Bearer', 401, { authorization: 'Bearer ' }],
    ['another scheme', 401, { authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString('base64')}` }],
    ['the token without a scheme', 401, { authorization: TOKEN }],
    [
      'the token in the query only',
      401,
      { authorization: undefined },
      `?token=${TOKEN}&access_token=${TOKEN}`,
    ],
    ['the token in a cookie only', 401, { authorization: undefined, cookie: `token=${TOKEN}` }],
    ['a wrong Host and no token', 403, { host: 'evil.example', authorization: undefined }],
    ['a wrong Origin and no token', 403, { ...FOREIGN, authorization: undefined }],
  ])('%s: refused with %i', async (_what, status, change, query) => {
    const answers = await walk(change, query);
    expect(answers).toHaveLength(PATHS.length * METHODS.length);
    for (const { what, headers, text, ...answer } of answers) {
      expect(answer.status, what).toBe(status);
      expect(headers['mcp-session-id'], what).toBeUndefined();
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(text, what).not.toContain(TOKEN);
      if (status === 401) expect(headers['www-authenticate'], what).toMatch(/^Bearer/);
      if (!what.startsWith('HEAD')) {
        expect(JSON.parse(text)).toMatchObject({
          jsonrpc: '2.0',
          id: null,
          error: { code: expect.any(Number), message: expect.stringMatching(/http\.\w+|twice/) },
        });
      }
    }
    expect((await gateway.health()).sessions).toBe(0);
    expect(gateway.children()).toEqual([]);
  });

  test('with everything right each is answered as its route says, and without CORS', async () => {
    const answers = await walk({});
    const statuses = Object.fromEntries(answers.map(({ what, status }) => [what, status]));
    for (const { headers } of answers) {
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
    for (const method of METHODS) {
      for (const path of ['/', '/unknown', '/mcp/', '/%6dcp'])
        expect(statuses[`${method} ${path}`]).toBe(404);
    }
    expect(statuses).toMatchObject({
      'POST /mcp': 200,
      'GET /mcp': 400,
      'DELETE /mcp': 400,
      'PUT /mcp': 405,
      'OPTIONS /mcp': 405,
      'HEAD /mcp': 405,
      'GET /sse': 200,
      'POST /sse': 405,
      'POST /message': 400,
      'GET /message': 405,
      'GET /status': 200,
      'POST /status': 405,
    });
    expect(answers.find(({ what }) => what === 'PUT /mcp')!.headers.allow).toBe('POST, GET, DELETE');
    const session = answers.find(({ what }) => what === 'POST /mcp')!.headers['mcp-session-id'];
    const left = await ask({
      port: gateway.port,
      path: '/mcp',
      method: 'DELETE',
      headers: { ...RIGHT, 'mcp-session-id': String(session) },
    });
    expect(left.status).toBe(204);
    await gateway.untilLeft({ sessions: 0, children: 0 });
  });

  test.each(['localhost', 'localhost:80', 'LOCALHOST', '127.0.0.1', '127.1.2.3:1', '[::1]:3006'])(
    'the Host %s means this machine',
    async (host) => {
      const { status } = await ask({ port: gateway.port, path: '/status', headers: { ...RIGHT, host } });
      expect(status).toBe(200);
    },
  );

  test('a body over 4 MiB is refused with 413, announced or not', async () => {
    const session = await HttpSession.open(gateway);
    const headers = { ...RIGHT, 'mcp-session-id': session.id };
    const body = Buffer.alloc(4 * 1024 * 1024 + 1, ' ');
    const announced = await ask({
      port: gateway.port,
      path: '/mcp',
      method: 'POST',
      headers: { ...headers, 'content-length': String(body.length), expect: '100-continue' },
    });
    expect(announced.status).toBe(413);
    const counted = await ask({
      port: gateway.port,
      path: '/mcp',
      method: 'POST',
      headers: { ...headers, 'transfer-encoding': 'chunked' },
      body,
    }).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
    // The gateway may hang up while the rest is still being written.
    if (typeof counted === 'object') expect(counted.status).toBe(413);
    else expect(['EPIPE', 'ECONNRESET']).toContain(counted);
    expect((await session.request('ping')).result).toEqual({});
    await session.end();
  });

  test('nothing of all that put the token into the log', () => {
    expect(gateway.stderr).toContain('listening');
    expect(gateway.stderr + gateway.stdout).not.toContain(TOKEN);
  });
});

test('a host and an origin that the configuration names are let in, others are not', async () => {
  const gateway = await startHttpGateway(
    {},
    { http: { allowedHosts: ['box.example.com'], allowedOrigins: ['https://app.example.com'] } },
  );
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await ask({ port: gateway.port, path: '/status', headers: { ...RIGHT, ...headers } })).status;
  expect(await status({ host: 'box.example.com:443', origin: 'https://app.example.com' })).toBe(200);
  expect(await status({ host: 'x.box.example.com' })).toBe(403);
  expect(await status({ origin: 'https://app.example.com.evil.example' })).toBe(403);
  expect(await status({ origin: 'http://app.example.com' })).toBe(403);
  await gateway.stop();
});

describe('where the token comes from', () => {
  const SECRET = 'secret-from-elsewhere-42';
  const project = (http: object = {}): Project =>
    createProject({ 'switchboard.config.json': { mcpServers: {}, http } });
  const start = (at: Project, { args = [], ...options }: ProgramOptions = {}): Promise<HttpGateway> =>
    new HttpGateway(at, { args: ['--http', '0', '--json', ...args], ...options }).ready();
  const admits = async ({ port }: HttpGateway, token: string): Promise<boolean> =>
    (await ask({ port, path: '/status', headers: { authorization: `Bearer ${token}` } })).status === 200;

  test('the configuration, with a variable in it, before the environment', async () => {
    const gateway = await start(project({ token: '${DOOR_TOKEN}' }), {
      env: { DOOR_TOKEN: SECRET, SWITCHBOARD_HTTP_TOKEN: 'another-one-0123456789' },
    });
    expect(gateway.said.token).toEqual({ from: 'config', file: null });
    expect(await admits(gateway, SECRET)).toBe(true);
    expect(await admits(gateway, 'another-one-0123456789')).toBe(false);
    expect(gateway.stdout + gateway.stderr).not.toContain(SECRET);
    await gateway.stop();
  });

  test('the environment', async () => {
    const gateway = await start(project(), { env: { SWITCHBOARD_HTTP_TOKEN: SECRET } });
    expect(gateway.said.token).toEqual({ from: 'environment', file: null });
    expect(await admits(gateway, SECRET)).toBe(true);
    expect(gateway.stdout + gateway.stderr).not.toContain(SECRET);
    await gateway.stop();
  });

  test('else one is made, kept for the user alone, and shown on request, not in what may be a log', async () => {
    const at = project();
    const first = await start(at);
    const { file } = first.said.token;
    const value = at.read('.state/http-token').trim();
    expect(Buffer.from(value, 'base64url')).toHaveLength(32);
    expect(first.stdout + first.stderr).not.toContain(value);
    expect(file).toBe(at.path('.state/http-token'));
    expect(statSync(file!).mode & 0o777).toBe(0o600);
    expect(statSync(at.path('.state')).mode & 0o777).toBe(0o700);
    expect(first.said.entries.every(({ text }) => text.includes(first.url))).toBe(true);
    await first.stop();
    const second = await start(at);
    expect(second.said.token).toEqual({ from: 'file', file });
    expect(second.stdout).not.toContain(value);
    expect(await admits(second, value)).toBe(true);
    await second.stop();
    const third = await start(at, { args: ['--show-token'] });
    expect(third.said.token.value).toBe(value);
    await third.stop();
  });

  test('two that start at the same time make one', async () => {
    const at = project();
    const both = await Promise.all([1, 2, 3, 4].map(() => start(at, { args: ['--show-token'] })));
    expect(new Set(both.map(({ token }) => token)).size).toBe(1);
    await Promise.all(both.map((gateway) => gateway.stop()));
  });
});

describe('what is not served', () => {
  /** A program that is expected to end by itself. */
  async function refused(
    args: readonly string[],
    {
      config = {},
      prepare,
      ...options
    }: ProgramOptions & { config?: object; prepare?: (at: Project) => void } = {},
  ): Promise<{ code: number | null; stderr: string; stdout: string }> {
    const project = createProject({ 'switchboard.config.json': { mcpServers: {}, ...config } });
    prepare?.(project);
    const program = new RunningProgram(project, { args, ...options });
    const { code } = await program.exited;
    return { code, stderr: program.stderr, stdout: program.stdout };
  }

  test.each([
    ['abc'],
    ['65536'],
    ['-1'],
    ['127.0.0.1:'],
    [':3006'],
    ['::1'],
    ['::1:3006'],
    ['http://127.0.0.1:3006'],
    ['1.5'],
  ])('--http=%s is no address: exit code 2, with an example', async (address) => {
    const { code, stderr, stdout } = await refused([`--http=${address}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/3006/);
  });

  test.each(['0.0.0.0:0', '[::]:0', '192.0.2.1:0', 'example.com:0'])(
    '%s without --allow-remote: exit code 2, and what to add',
    async (address) => {
      const { code, stderr } = await refused(['--http', address], { config: { http: { token: TOKEN } } });
      expect(code).toBe(2);
      expect(stderr).toContain('--allow-remote');
    },
  );

  test('mcpmux serves only the host that starts it', async () => {
    const { code, stderr } = await refused(['--http', '0'], { program: 'mcpmux' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/--http/);
  });

  test.each(['0.0.0.0:0', '[::]:0'])(
    '%s without a name for it: exit code 2, and the setting',
    async (address) => {
      const { code, stderr } = await refused(['--http', address, '--allow-remote'], {
        config: { http: { token: TOKEN } },
      });
      expect(code).toBe(2);
      expect(stderr).toContain('http.allowedHosts');
    },
  );

  test('other machines are let in only with a token of your own', async () => {
    const { code, stderr, stdout } = await refused(['--http', '0.0.0.0:0', '--allow-remote'], {
      config: { http: { allowedHosts: ['box.example.com'] } },
    });
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('http.token');
    expect(stderr).toContain('SWITCHBOARD_HTTP_TOKEN');
  });

  test('with one it listens, and wants a Host that it knows all the same', async () => {
    const gateway = await startHttpGateway(
      {},
      {
        args: ['--http', '0.0.0.0:0', '--allow-remote', '--json'],
        http: { allowedHosts: ['box.example.com'] },
      },
    );
    expect(await gateway.health()).toMatchObject({ status: 'ok' });
    const statusFor = async (host: string): Promise<number> =>
      (await ask({ port: gateway.port, path: '/status', headers: { ...RIGHT, host } })).status;
    expect(await statusFor('box.example.com:8080')).toBe(200);
    expect(await statusFor('192.0.2.7')).toBe(403);
    expect(await statusFor('0.0.0.0')).toBe(403);
    await gateway.stop();
  });

  test('a port that is taken: exit code 1, naming it', async () => {
    const taken = createServer();
    atTestEnd(() => new Promise((resolve) => void taken.close(() => resolve())));
    await new Promise<void>((resolve) => void taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const { code, stderr, stdout } = await refused(['--http', String(port)], {
      config: { http: { token: TOKEN } },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toMatch(/another port/);
    expect(stderr).not.toMatch(/ {4}at /);
  });

  test('a port that another gateway has: it is named, and what it serves', async () => {
    const gateway = await startHttpGateway({});
    const { project, port } = gateway;
    await until(() => existsSync(project.path('.state/run', `${gateway.pid}.json`)), {
      what: 'its run file',
    });
    const again = new RunningProgram(project, { args: ['--http', String(port), '--json'] });
    expect((await again.exited).code).toBe(1);
    const { error } = JSON.parse(again.stdout);
    expect(error.code).toBe('PORT_TAKEN');
    expect(error.message).toContain(`already in use by another gateway (switchboard, pid ${gateway.pid})`);
    expect(error.hint).toContain(`the same configuration at ${gateway.url}: use it`);
    const other = project.write('other.json', {});
    const another = new RunningProgram(project, { args: ['--http', `localhost:${port}`, '--config', other] });
    expect((await another.exited).code).toBe(1);
    expect(another.stdout).toBe('');
    expect(another.stderr).toContain(`It serves ${project.path('switchboard.config.json')}: stop it`);
    await gateway.stop();
  });

  test('with --json the error is an object on stdout', async () => {
    for (const [args, code] of [
      [['--http', 'x'], 'USAGE'],
      [['--http', '0.0.0.0:0'], 'USAGE'],
      [['--http', '0', '--config', 'no.json'], 'CONFIG_NOT_FOUND'],
    ] as const) {
      const { stdout } = await refused([...args, '--json']);
      expect(JSON.parse(stdout).error.code).toBe(code);
    }
  });

  test('an address of another machine: exit code 1, and what to use', async () => {
    const { code, stderr } = await refused(['--http', '192.0.2.1:0', '--allow-remote'], {
      config: { http: { token: TOKEN } },
    });
    expect(code).toBe(1);
    expect(stderr).toContain('192.0.2.1:0');
  });

  test.each<[string, RegExp, Parameters<typeof refused>[1]]>([
    ['a variable that is not set', /DOOR_TOKEN/, { config: { http: { token: '${DOOR_TOKEN}' } } }],
    ['a token that is too short', /16/, { config: { http: { token: 'short-one' } } }],
    ['a short one in the environment', /16/, { env: { SWITCHBOARD_HTTP_TOKEN: 'short-one' } }],
    [
      'one with a space',
      /SWITCHBOARD_HTTP_TOKEN/,
      { env: { SWITCHBOARD_HTTP_TOKEN: 'with a space inside it' } },
    ],
    [
      'a file that others can read',
      /other users can read/,
      {
        prepare: (at) => chmodSync(at.write('.state/http-token', 'kept-token-0123456789\n'), 0o644),
      },
    ],
    [
      'a file that is a link',
      /symbolic link/,
      {
        prepare: (at) => {
          chmodSync(at.write('elsewhere', 'kept-token-0123456789\n'), 0o600);
          at.write('.state/x', '');
          symlinkSync(at.path('elsewhere'), at.path('.state/http-token'));
        },
      },
    ],
  ])('no token that can be used, %s: it says why and does not show it', async (_what, why, options) => {
    const { code, stderr, stdout } = await refused(['--http', '0'], options);
    expect(code).not.toBe(0);
    expect(stdout).toBe('');
    expect(stderr).toMatch(why);
    expect(stderr).not.toMatch(/short-one|with a space inside|kept-token/);
  });
});
