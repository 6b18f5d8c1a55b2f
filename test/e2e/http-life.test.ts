/** How a gateway that clients connect to begins, changes and ends, and what it leaves behind: nothing. */
import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import { begin, EventReader, HttpSession } from '../helpers/http-client.ts';
import { HttpGateway, startHttpGateway, TOKEN, type ProgramOptions } from '../helpers/http-gateway.ts';
import { alive, waitUntilGone } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'plain' };

/** Starts a call of slow_echo and waits until it has arrived at its server. */
async function running(session: HttpSession, text: string, ms: number): Promise<{ answer: Promise<any> }> {
  const calls = async (): Promise<number> =>
    JSON.parse(textOf(await session.call('received'))).filter((m: string) => m === 'tools/call').length;
  const before = await calls();
  const answer = session.call('slow_echo', { text, ms }).catch((error: unknown) => error);
  await until(async () => (await calls()) > before + 1, { what: 'the call to arrive' });
  return { answer };
}

/** Opens a stream of the older transport and gives where to post to. */
async function openEvents(gateway: HttpGateway): Promise<{ reader: EventReader; address: string }> {
  const cut = new AbortController();
  const headers = { authorization: `Bearer ${gateway.token}` };
  const reader = new EventReader(await fetch(gateway.sse, { headers, signal: cut.signal }), cut);
  const endpoint = await until(() => reader.events.find(({ event }) => event === 'endpoint'), {
    what: 'the endpoint',
  });
  return { reader, address: new URL(endpoint.data, gateway.sse).href };
}

describe('the end', () => {
  test('SIGTERM lets a running call finish, takes nothing new, and leaves nothing', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
    const session = await HttpSession.open(gateway);
    const { answer } = await running(session, 'finished', 1500);
    gateway.signal('SIGTERM');
    const [refused, unwanted] = await until(
      async () => {
        const answers = await Promise.all([
          session.post('{"jsonrpc":"2.0","id":"late","method":"tools/list"}'),
          begin(gateway),
        ]);
        return answers.every(({ status }) => status === 503) ? answers : undefined;
      },
      { what: 'new requests to be refused' },
    );
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.json()).toMatchObject({
      id: 'late',
      error: { message: expect.stringMatching(/shutting down/) },
    });
    expect(await unwanted.text()).toMatch(/shutting down/);
    expect((await gateway.health()).status).toBe('stopping');
    const probes = ['/readyz', '/healthz'].map(
      async (path) => (await fetch(new URL(path, gateway.url))).status,
    );
    expect(await Promise.all(probes)).toEqual([503, 200]);
    expect(textOf(await answer)).toBe('finished');
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await waitUntilGone(gateway.marker);
  });

  test('a call that takes longer than it may is answered with an error', async () => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      { config: { ...FLAT, timeouts: { drainMs: 300 } } },
    );
    const session = await HttpSession.open(gateway);
    const { answer } = await running(session, 'never', 60_000);
    gateway.signal('SIGTERM');
    expect((await answer).error?.message ?? textOf(await answer)).toMatch(/shutting down|stop|ended|closed/i);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await waitUntilGone(gateway.marker);
  });

  test('streams are ended, not broken off', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
    const session = await HttpSession.open(gateway);
    const [listening, { reader }] = await Promise.all([session.listen(), openEvents(gateway)]);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
    await until(() => listening.ended && reader.ended, { what: 'the streams to end' });
  });

  test('a second SIGTERM ends everything at once', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
    const session = await HttpSession.open(gateway);
    const { answer } = await running(session, 'never', 60_000);
    gateway.signal('SIGTERM');
    await until(() => gateway.stderr.includes('stopping'), { what: 'it to be stopping' });
    gateway.signal('SIGTERM');
    expect((await gateway.exited).code).toBe(1);
    await waitUntilGone(gateway.marker);
    await answer;
  });

  test('kill -9 leaves no server, no matter which client started it', async () => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo'), shared: { ...nodeServer('named'), isolation: 'shared' } },
      { config: FLAT },
    );
    const sessions = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
    await Promise.all(
      sessions.map(async (session) => {
        textOf(await session.call('pid'));
        textOf(await session.call('who', { tag: 'x' }));
      }),
    );
    expect(gateway.children().length).toBeGreaterThanOrEqual(4);
    gateway.signal('SIGKILL');
    expect((await gateway.exited).signal).toBe('SIGKILL');
    await waitUntilGone(gateway.marker);
  });
});

describe.concurrent('a session that is not used', () => {
  test('ends with its servers; one that listens stays', async (scope) => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      { config: FLAT, http: { sessionIdleMs: 1500 }, scope },
    );
    const [idle, listens] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    const stream = await listens.listen();
    const [pid, kept] = await Promise.all(
      [idle, listens].map(async (session) => Number(textOf(await session.call('pid')))),
    );
    await gateway.untilLeft({ sessions: 1, children: 1 });
    scope.expect([alive(pid!), alive(kept!)]).toEqual([false, true]);
    scope.expect((await idle.post('{"jsonrpc":"2.0","id":1,"method":"ping"}')).status).toBe(404);
    scope.expect(textOf(await listens.call('pid'))).toBe(String(kept));
    stream.cut();
    await gateway.untilLeft({ sessions: 0, children: 0 });
    await gateway.stop();
  });

  test('one whose call takes longer than that is not given up', async (scope) => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      { config: FLAT, http: { sessionIdleMs: 1000 }, scope },
    );
    const session = await HttpSession.open(gateway);
    scope.expect(textOf(await session.call('slow_echo', { text: 'patience', ms: 3000 }))).toBe('patience');
    await gateway.stop();
  });

  test('one of the older transport ends when its stream does', async (scope) => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT, scope });
    const { reader, address } = await openEvents(gateway);
    scope.expect((await gateway.health()).sessions).toBe(1);
    reader.cut();
    await gateway.untilLeft({ sessions: 0, children: 0 });
    const headers = { authorization: `Bearer ${gateway.token}`, 'content-type': 'application/json' };
    const late = await fetch(address, {
      method: 'POST',
      headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    scope.expect(late.status).toBe(404);
    await gateway.stop();
  });
});

describe('SIGHUP', () => {
  const config = (servers: object, more: object = {}): object => ({
    ...FLAT,
    http: { token: TOKEN },
    mcpServers: servers,
    ...more,
  });

  test('gives every client the servers of the configuration as it is now', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
    const sessions = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
    const streams = await Promise.all(sessions.map((session) => session.listen()));
    const pids = await Promise.all(sessions.map(async (session) => textOf(await session.call('pid'))));
    await Promise.all(sessions.map((session) => session.request('tools/list')));
    gateway.project.write(
      'switchboard.config.json',
      config({ echo: nodeServer('echo'), named: nodeServer('named') }),
    );
    gateway.signal('SIGHUP');
    await Promise.all(
      streams.map((stream) => stream.waitFor(({ method }) => method === 'notifications/tools/list_changed')),
    );
    // An earlier change may be told late, so that the first one that comes need not be this one.
    const answers = await Promise.all(
      sessions.map((session) =>
        until(
          async () => {
            const { result } = await session.call('who', { tag: 'x' });
            return result && JSON.parse(result.content[0].text).pid;
          },
          { what: 'the added one to answer' },
        ),
      ),
    );
    expect(new Set(answers).size).toBe(sessions.length);
    // What did not change has gone on running.
    expect(await Promise.all(sessions.map(async (session) => textOf(await session.call('pid'))))).toEqual(
      pids,
    );

    gateway.project.write('switchboard.config.json', config({ named: nodeServer('named') }));
    gateway.signal('SIGHUP');
    await until(() => pids.every((pid) => !alive(Number(pid))), { what: 'what was taken out to end' });
    expect(answers.every((pid) => alive(pid))).toBe(true);
    const newcomer = await HttpSession.open(gateway);
    const { result } = await newcomer.request('tools/list');
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['who']);
    for (const stream of streams) stream.cut();
    await gateway.stop();
  });

  test('a shared server goes on when it is the same, and is one again when it is another', async () => {
    const shared = (...args: string[]) => ({ ...nodeServer('named', ...args), isolation: 'shared' });
    const gateway = await startHttpGateway({ named: shared('--name=first') }, { config: FLAT });
    const sessions = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
    const who = (): Promise<{ name: string; pid: number }[]> =>
      Promise.all(
        sessions.map(async (session) => JSON.parse(textOf(await session.call('who', { tag: 'x' })))),
      );
    const first = await who();
    expect(new Set(first.map(({ pid }) => pid)).size).toBe(1);
    gateway.project.write('switchboard.config.json', config({ named: shared('--name=second') }));
    gateway.signal('SIGHUP');
    const second = await until(
      async () => {
        const now = await who().catch(() => []);
        return now.length > 0 && now.every(({ name }) => name === 'second') ? now : undefined;
      },
      { what: 'the new one to answer' },
    );
    expect(new Set(second.map(({ pid }) => pid)).size).toBe(1);
    await until(() => !alive(first[0]!.pid), { what: 'the old one to end' });
    expect(gateway.children()).toHaveLength(1);
    gateway.project.write(
      'switchboard.config.json',
      config({ named: shared('--name=second'), echo: nodeServer('echo') }),
    );
    gateway.signal('SIGHUP');
    await until(async () => (await sessions[0]!.call('pid')).result !== undefined, { what: 'the added one' });
    expect((await who()).map(({ pid }) => pid)).toEqual(second.map(({ pid }) => pid));
    gateway.project.write('switchboard.config.json', config({ echo: nodeServer('echo') }));
    gateway.signal('SIGHUP');
    await until(() => !alive(second[0]!.pid), { what: 'what was taken out to end' });
    await gateway.stop();
  });

  test('from shared to a server for each, and back', async () => {
    const named = (isolation: string) => ({ ...nodeServer('named'), isolation });
    const gateway = await startHttpGateway({ named: named('shared') }, { config: FLAT });
    const sessions = await Promise.all([1, 2, 3].map(() => HttpSession.open(gateway)));
    const pids = async (): Promise<Set<number>> => {
      const answers = await Promise.all(sessions.map((session) => session.call('who', { tag: 'x' })));
      return new Set(answers.map((answer) => JSON.parse(textOf(answer)).pid));
    };
    const [shared, ...others] = await pids();
    expect(others).toEqual([]);
    gateway.project.write('switchboard.config.json', config({ named: named('session') }));
    gateway.signal('SIGHUP');
    // Sessions switch one after the other: the shared process may serve one of them for a moment longer.
    const separate = async (): Promise<boolean> => {
      const all = await pids();
      return all.size === 3 && !all.has(shared!);
    };
    await until(() => separate().catch(() => false), { what: 'a process for each' });
    await gateway.untilLeft({ children: 3 });
    gateway.project.write('switchboard.config.json', config({ named: named('shared') }));
    gateway.signal('SIGHUP');
    await until(async () => (await pids().catch(() => undefined))?.size === 1, {
      what: 'one process for all',
    });
    await gateway.untilLeft({ children: 1 });
    await gateway.stop();
  });

  test.each(['shared', 'session'])(
    'a shared server whose new definition (%s) does not start goes on as it was for all',
    async (isolation) => {
      const shared = { ...nodeServer('named'), isolation: 'shared' };
      const gateway = await startHttpGateway({ named: shared }, { config: FLAT });
      const sessions = await Promise.all([1, 2].map(() => HttpSession.open(gateway)));
      const pids = async (): Promise<Set<number>> => {
        const answers = await Promise.all(sessions.map((session) => session.call('who', { tag: 'x' })));
        return new Set(answers.map((answer) => JSON.parse(textOf(answer)).pid));
      };
      const before = await pids();
      const broken = { command: '/no/such/program', isolation };
      gateway.project.write('switchboard.config.json', config({ named: broken }));
      gateway.signal('SIGHUP');
      await until(() => gateway.stderr.includes('failed=named'), {
        what: 'the failure in the log',
        seen: () => gateway.stderr,
      });
      expect(await pids()).toEqual(before);
      gateway.project.write(
        'switchboard.config.json',
        config({ named: { ...shared, args: [...shared.args, '--x'] } }),
      );
      gateway.signal('SIGHUP');
      await until(async () => !(await pids()).has([...before][0]!), { what: 'the corrected one to answer' });
      expect((await pids()).size).toBe(1);
      await gateway.untilLeft({ children: 1 });
      await gateway.stop();
    },
  );

  test('a shared server that clients go on with, as it was defined before, ends with the last of them', async () => {
    const shared = { ...nodeServer('named'), isolation: 'shared' };
    const gateway = await startHttpGateway({ named: shared }, { config: FLAT });
    const [first, last] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    await Promise.all([first, last].map((session) => session.call('who', { tag: 'x' })));
    const broken = { command: '/no/such/program', isolation: 'session' };
    gateway.project.write('switchboard.config.json', config({ named: broken }));
    gateway.signal('SIGHUP');
    await until(() => gateway.stderr.includes('failed=named'), {
      what: 'the failure in the log',
      seen: () => gateway.stderr,
    });
    await first.end();
    expect(JSON.parse(textOf(await last.call('who', { tag: 'y' })))).toMatchObject({ tag: 'y' });
    await last.end();
    await gateway.untilLeft({ children: 0 });
    await gateway.stop();
  });

  test('a configuration that cannot be read changes nothing', async () => {
    const shared = { ...nodeServer('named'), isolation: 'shared' };
    const gateway = await startHttpGateway({ echo: nodeServer('echo'), named: shared }, { config: FLAT });
    const session = await HttpSession.open(gateway);
    const pid = textOf(await session.call('pid'));
    const who = async (): Promise<any> => JSON.parse(textOf(await session.call('who', { tag: 'x' }))).pid;
    const shares = await who();
    gateway.project.write('switchboard.config.json', '{ "mcpServers": ');
    gateway.signal('SIGHUP');
    const last = /switchboard error .*nothing has changed\. Correct it and run: switchboard reload$/m;
    await until(() => last.test(gateway.stderr), {
      what: 'the error in the log',
      seen: () => gateway.stderr,
    });
    expect(textOf(await session.call('pid'))).toBe(pid);
    // One server that cannot be used as it is written goes on as it was, and so does a shared one.
    const unusable = { ...shared, env: { X: '${NOT_SET_ANYWHERE}' } };
    gateway.project.write('switchboard.config.json', config({ echo: nodeServer('echo'), named: unusable }));
    gateway.signal('SIGHUP');
    await until(() => gateway.stderr.includes('keeping the old definition'), {
      what: 'the warning in the log',
      seen: () => gateway.stderr,
    });
    expect(textOf(await session.call('pid'))).toBe(pid);
    expect(await who()).toBe(shares);
    const newcomer = await HttpSession.open(gateway);
    expect(textOf(await newcomer.call('pid'))).not.toBe(pid);
    await gateway.stop();
  });
});

test('what has changed and holds only from the next start is pointed out', async () => {
  const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
  gateway.project.write('switchboard.config.json', {
    ...FLAT,
    mcpServers: { echo: nodeServer('echo') },
    http: { token: 'another-token-0123456789' },
  });
  gateway.signal('SIGHUP');
  await until(() => /warn +some changes take effect after a restart settings=http$/m.test(gateway.stderr), {
    what: 'the warning in the log',
    seen: () => gateway.stderr,
  });
  // The old token is still the one.
  expect(await gateway.health()).toMatchObject({ status: 'ok' });
  expect(gateway.stderr).not.toContain('another-token');
  await gateway.stop();
});

test('clients that come and go, and those that are refused, are in the log', async () => {
  const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
  const session = await HttpSession.open(gateway);
  await session.end();
  expect((await begin({ url: gateway.url, token: 'wrong' })).status).toBe(401);
  await until(() => /client disconnected/.test(gateway.stderr) && /refused/.test(gateway.stderr), {
    what: 'the lines in the log',
    seen: () => gateway.stderr,
  });
  expect(gateway.stderr).toMatch(/^\S+Z switchboard info +client connected name=\S+ sessions=1$/m);
  expect(gateway.stderr).toMatch(/^\S+Z switchboard warn +refused status=401 why="wrong token" path=\/mcp$/m);
  expect(gateway.stderr).not.toContain(session.id);
  await gateway.stop();
});

describe('what others see of it', () => {
  test('/status counts sessions, and `switchboard list` shows its servers while it runs', async () => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo'), shared: { ...nodeServer('named'), isolation: 'shared' } },
      { config: FLAT },
    );
    const list = async (): Promise<any> => {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [join(ROOT, 'dist/index.js'), 'list', '--json'],
        { cwd: gateway.project.dir, env: { ...process.env, ...ownState(gateway.project) } },
      );
      return JSON.parse(stdout);
    };
    expect(await gateway.health()).toMatchObject({
      status: 'ok',
      sessions: 0,
      servers: 2,
      name: 'switchboard',
    });
    const session = await HttpSession.open(gateway);
    const pid = Number(textOf(await session.call('pid')));
    const shared = JSON.parse(textOf(await session.call('who', { tag: 'x' }))).pid;
    expect(await gateway.health()).toMatchObject({ status: 'ok', sessions: 1 });
    const shown = await until(
      async () => {
        const text = JSON.stringify(await list());
        return text.includes(String(pid)) && text.includes(String(shared)) ? text : undefined;
      },
      { what: 'both processes in the list', every: 200 },
    );
    expect(shown).not.toContain(TOKEN);
    await session.end();
    await gateway.untilLeft({ sessions: 0 });
    await until(async () => !JSON.stringify(await list()).includes(String(pid)), {
      what: 'the ended one to be gone from the list',
      every: 200,
    });
    await gateway.stop();
  });
});

describe('mcp-proxy-server', () => {
  const PROXY = { program: 'mcp-proxy-server' } as const;
  const project = () =>
    createProject({ 'config.json': { mcpServers: { echo: nodeServer('echo') }, http: { token: TOKEN } } });
  const start = (options: Omit<ProgramOptions, 'program'>): Promise<HttpGateway> =>
    new HttpGateway(project(), { ...PROXY, ...options }).ready();

  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => void server.close(resolve));
    return port;
  }

  test('with PORT it serves over HTTP, and ends with its last client', async () => {
    const port = await freePort();
    const gateway = await start({ args: ['--json'], env: { PORT: String(port) } });
    expect(gateway.url).toBe(`http://127.0.0.1:${port}/mcp`);
    const [one, two] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    expect(textOf(await one.call('echo', { text: 'proxied' }))).toBe('proxied');
    await one.end();
    expect(textOf(await two.call('echo', { text: 'still' }))).toBe('still');
    expect(await two.end()).toBe(204);
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await waitUntilGone(gateway.marker);
  });

  test('with PORT=0 and --http or --sse it takes any free port', async () => {
    for (const flag of ['--http', '--sse']) {
      const gateway = await start({ args: [flag, '--json'], env: { PORT: '0', KEEP_SERVER_OPEN: '1' } });
      expect(gateway.port).toBeGreaterThan(0);
      expect(gateway.sse).toBe(`http://127.0.0.1:${gateway.port}/sse`);
      await gateway.stop();
    }
  });

  test('a client of the older transport that disconnects is the last one, too', async () => {
    const gateway = await start({ args: ['--sse', '--json'], env: { PORT: '0' } });
    const { reader, address } = await openEvents(gateway);
    const post = (message: object): Promise<Response> =>
      fetch(address, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'x', version: '0' },
    };
    expect((await post({ id: 1, method: 'initialize', params })).status).toBe(202);
    await reader.waitFor(({ id }) => id === 1, 'the greeting');
    await post({ method: 'notifications/initialized' });
    await post({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'older' } } });
    const answered = await reader.waitFor(({ id }) => id === 2, 'the answer');
    expect(textOf(answered)).toBe('older');
    reader.cut();
    expect(await gateway.exited).toEqual({ code: 0, signal: null });
    await waitUntilGone(gateway.marker);
  });

  test('a KEEP_SERVER_OPEN that is neither 1 nor 0 is pointed out', async () => {
    const project = createProject({ 'config.json': { mcpServers: { echo: nodeServer('echo') } } });
    for (const [value, warns] of [
      ['true', true],
      ['0', false],
      ['', false],
    ] as const) {
      const env = { PORT: '0', KEEP_SERVER_OPEN: value };
      const gateway = new HttpGateway(project, { ...PROXY, args: ['--http'], env });
      await until(() => gateway.stdout.includes('Others ('), { what: 'the announcement' });
      expect(gateway.stdout).toContain('It stops when its last client disconnects');
      expect(gateway.stderr.includes('KEEP_SERVER_OPEN is neither 1 nor 0'), value).toBe(warns);
      await gateway.stop();
    }
  });

  test('KEEP_SERVER_OPEN=1 keeps it when the last client has left', async () => {
    const gateway = await start({ args: ['--json'], env: { PORT: '0', KEEP_SERVER_OPEN: '1' } });
    const session = await HttpSession.open(gateway);
    await session.call('pid');
    await session.end();
    const { reader } = await openEvents(gateway);
    reader.cut();
    await gateway.untilLeft({ sessions: 0, children: 0 });
    const next = await HttpSession.open(gateway);
    expect(textOf(await next.call('echo', { text: 'next' }))).toBe('next');
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  test('a request that is refused is no client: it does not end for that', async () => {
    const gateway = await start({ args: ['--json'], env: { PORT: '0' } });
    expect((await fetch(gateway.url, { method: 'DELETE' })).status).toBe(401);
    expect((await begin({ url: gateway.url, token: 'wrong' })).status).toBe(401);
    const session = await HttpSession.open(gateway);
    expect(textOf(await session.call('echo', { text: 'here' }))).toBe('here');
    await session.end();
    expect((await gateway.exited).code).toBe(0);
  });

  test('a PORT that is none: exit code 2, naming it', async () => {
    const gateway = new HttpGateway(project(), { ...PROXY, args: ['--json'], env: { PORT: 'eighty' } });
    expect((await gateway.exited).code).toBe(2);
    expect(JSON.parse(gateway.stdout)).toMatchObject({
      error: { code: 'USAGE', message: expect.stringContaining('PORT') },
    });
  });

  test('--stdio wins over PORT', async () => {
    const gateway = new HttpGateway(project(), { ...PROXY, args: ['--stdio'], env: { PORT: '0' } });
    // Its stdin is at its end from the start.
    expect((await gateway.exited).code).toBe(0);
    expect(gateway.stderr).not.toContain('listening');
  });
});
