/** Remote servers: headers, addresses, and the life of a connection. */
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { startGateway } from '../helpers/gateway.ts';
import { alive } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { freePort, startOddServer, remoteEntry } from '../helpers/remote-server.ts';
import { runProgram } from '../helpers/run-program.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };

describe('headers and addresses', () => {
  const SECRET = 'value-of-the-variable-5353';

  test('headers with ${NAME} arrive with every request, and are told to nobody', async () => {
    const server = await startOddServer({ listening: 'open' });
    const { client, call, project } = await startGateway(
      {
        odd: remoteEntry(`${server.origin}/mcp?key=\${MY_KEY}`, {
          type: 'http',
          headers: { Authorization: 'Bearer ${MY_KEY}', 'X-Plain': 'a ${MISSING:-fallback} b' },
        }),
        unset: remoteEntry(server.url, { headers: { 'X-Other': '${NOT_SET_ANYWHERE}' } }),
      },
      { env: { ...DEBUG, MY_KEY: SECRET }, config: { logArguments: true } },
    );
    expect(textOf(await call('odd', 'ok', { tag: 'a' }))).toBe('ran a');
    await until(() => server.listeners() === 1, { what: 'the stream' });
    // What goes wrong is told without them too.
    for (const body of ['you sent $authorization', '{"echo":"$authorization"}']) {
      const { result } = await call('odd', 'status', { status: 500, type: 'text/plain', body });
      expect(result.content[0].text).toContain('HTTP 500');
      expect(result.content[0].text).not.toContain(SECRET);
    }
    await client.waitForStderr(/NOT_SET_ANYWHERE/);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['odd_suite', 'unset_suite']);
    expect((await client.close()).code).toBe(0);
    expect(client.stderr).not.toContain(SECRET);
    await until(() => server.requests.some(({ method }) => method === 'DELETE'), { what: 'our farewell' });
    expect(server.sessions()).toBe(0);
    expect(new Set(server.requests.map(({ method }) => method))).toEqual(new Set(['POST', 'GET', 'DELETE']));
    for (const { path, headers } of server.requests) {
      expect(path).toBe(`/mcp?key=${SECRET}`);
      expect(headers.authorization).toBe(`Bearer ${SECRET}`);
      expect(headers['x-plain']).toBe('a fallback b');
    }
    for (const args of [
      ['list'],
      ['list', '--json'],
      ['doctor'],
      ['doctor', '--json'],
      ['doctor', '--start'],
      ['--dry-run'],
      ['tools', 'odd'],
    ]) {
      const { stdout, stderr } = await runProgram(project, args, { env: { ...DEBUG, MY_KEY: SECRET } });
      expect(stdout.length, args.join(' ')).toBeGreaterThan(10);
      expect(stdout + stderr, args.join(' ')).not.toContain(SECRET);
    }
  });

  test('a user name and a password in the address are sent as such, and shown nowhere', async () => {
    const server = await startOddServer();
    const url = server.url.replace('://', `://me:${SECRET}@`);
    const { client, call, project } = await startGateway({ odd: remoteEntry(url) }, { env: DEBUG });
    expect(textOf(await call('odd', 'ok', { tag: 'a' }))).toBe('ran a');
    expect((await client.close()).code).toBe(0);
    const basic = `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}`;
    expect(server.requests.every(({ headers }) => headers.authorization === basic)).toBe(true);
    await server.stop();
    const refused = await runProgram(project, ['call', 'odd', 'ok'], { env: DEBUG });
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('connection refused');
    for (const { stdout, stderr } of [refused, await runProgram(project, ['list'], { env: DEBUG })])
      expect(stdout + stderr).not.toContain(SECRET);
    expect(client.stderr).not.toContain(SECRET);
  });

  test('an address on IPv6 works', async (context) => {
    const { createServer } = await import('node:http');
    const server = await startOddServer();
    const bridge = createServer((request, response) => {
      void fetch(server.url, {
        method: 'POST',
        headers: request.headers as Record<string, string>,
        body: request as any,
        duplex: 'half',
      } as any).then(
        async (answer) => {
          response.writeHead(answer.status, {
            'content-type': 'application/json',
            'mcp-session-id': answer.headers.get('mcp-session-id') ?? '',
          });
          response.end(await answer.text());
        },
        () => response.destroy(),
      );
    });
    const listening = await new Promise<boolean>((resolve) => {
      bridge.once('error', () => resolve(false));
      bridge.listen(0, '::1', () => resolve(true));
    });
    if (!listening) context.skip('no IPv6 on this machine');
    atTestEnd(async () => {
      bridge.closeAllConnections();
      await new Promise((resolve) => bridge.close(resolve));
    });
    const { port } = bridge.address() as { port: number };
    const { call } = await startGateway({ odd: remoteEntry(`http://[::1]:${port}/mcp`, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'six' }))).toBe('ran six');
  });
});

test("a remote server and a program side by side: one's trouble does not touch the other", async () => {
  const server = await startOddServer();
  const { client, call } = await startGateway({
    far: remoteEntry(server.url, { type: 'http' }),
    near: nodeServer('echo'),
  });
  const pid = Number(textOf(await call('near', 'pid')));
  const held = [1, 2, 3].map((n) => call('far', 'held', { tag: `h${n}` }));
  await until(() => server.waiting() === 3, { what: 'three to wait' });
  expect(textOf(await call('near', 'echo', { text: 'meanwhile' }))).toBe('meanwhile');
  process.kill(pid, 'SIGKILL');
  await until(() => !alive(pid), { what: 'the program to be gone' });
  expect(textOf(await call('far', 'ok', { tag: 'fine' }))).toBe('ran fine');
  server.release();
  expect((await Promise.all(held)).map(textOf)).toEqual(['ran h1', 'ran h2', 'ran h3']);
  await server.stop();
  // The first may still have been written to the one that was killed.
  const again = await until(async () => Number(textOf(await call('near', 'pid'))), {
    what: 'the program to be back',
  });
  expect((await call('far', 'ok', { tag: 'gone' })).result.isError).toBe(true);
  expect(textOf(await call('near', 'pid'))).toBe(String(again));
  expect((await client.close()).code).toBe(0);
  expect(alive(again)).toBe(false);
});

describe('the life of a connection', () => {
  test('two hundred calls at once: each gets its own answer, and each is carried out once', async () => {
    const server = await startOddServer();
    const { call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    const tags = Array.from({ length: 200 }, (_, n) => `many-${n}`);
    const answers = await Promise.all(
      tags.map((tag, n) => call('far', n % 2 === 0 ? 'ok' : 'ok_events', { tag })),
    );
    expect(answers.map(textOf)).toEqual(tags.map((tag) => `ran ${tag}`));
    expect(tags.every((tag) => server.ran(tag) === 1)).toBe(true);
    expect(server.sessions()).toBe(1);
  });

  test('an unused server is taken leave of, and greeted again when it is needed', async () => {
    const server = await startOddServer({ listening: 'open' });
    const { call } = await startGateway(
      { far: remoteEntry(server.url, { type: 'http' }) },
      { config: { timeouts: { idleMs: 300 } } },
    );
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    await until(() => server.sessions() === 0 && server.listeners() === 0, { what: 'our leave' });
    expect(textOf(await call('far', 'ok', { tag: 'b' }))).toBe('ran b');
    expect(server.sessions()).toBe(1);
  });

  test('a server without sessions is used without, also after a restart', async () => {
    const server = await startOddServer({ sessions: false, port: await freePort() });
    const { client, call } = await startGateway({ far: remoteEntry(server.url) });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    await server.stop();
    await server.start();
    let answer = await call('far', 'ok', { tag: 'b' });
    // It may have been written to a connection that was just closing; then it is not sent again.
    if (answer.result?.isError === true) answer = await call('far', 'ok', { tag: 'b' });
    expect(textOf(answer)).toBe('ran b');
    expect((await client.close()).code).toBe(0);
    expect(server.requests.some(({ method }) => method === 'DELETE')).toBe(false);
    expect(server.requests.some(({ headers }) => headers['mcp-session-id'] !== undefined)).toBe(false);
  });

  test('a changed entry is used from the next call on, and the old session is ended', async () => {
    const server = await startOddServer();
    const entry = (key: string): object => ({
      mcpServers: { far: remoteEntry(server.url, { type: 'http', headers: { 'X-Key': key } }) },
    });
    const { client, call, project } = await startGateway({}, { config: entry('first') });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    project.write('switchboard.config.json', entry('second'));
    client.signal('SIGHUP');
    await client.waitForStderr(/configuration reloaded/);
    expect(textOf(await call('far', 'ok', { tag: 'b' }))).toBe('ran b');
    const key = (tag: string): unknown =>
      server.requests.find(({ body }) => body.includes(`"${tag}"`))?.headers['x-key'];
    expect([key('a'), key('b')]).toEqual(['first', 'second']);
    await until(() => server.sessions() === 1, { what: 'the old session to be ended' });
  });

  test('one that does not take leave of us holds up no exit', async () => {
    const server = await startOddServer({
      listening: 'open',
      before: ({ method }) => method === 'DELETE',
    });
    const { client, call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('far', 'ok', { tag: 'a' }))).toBe('ran a');
    const { code, ms } = await client.close();
    expect(code).toBe(0);
    expect(ms).toBeLessThan(8000);
    expect(server.requests.filter(({ method }) => method === 'DELETE')).toHaveLength(1);
  });

  test('calls in flight at the end of input are answered before it leaves', async () => {
    const server = await startOddServer();
    const { client, call } = await startGateway({ far: remoteEntry(server.url, { type: 'http' }) });
    const held = ['a', 'b', 'c'].map((tag) => call('far', 'held', { tag }));
    await until(() => server.waiting() === 3, { what: 'three to wait' });
    const closing = client.close();
    server.release();
    expect((await Promise.all(held)).map(textOf)).toEqual(['ran a', 'ran b', 'ran c']);
    expect((await closing).code).toBe(0);
    expect(server.sessions()).toBe(0);
  });
});
