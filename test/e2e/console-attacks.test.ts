/** Whoever is not the person: other pages, other programs, and what a gateway or a server says to get around the rules. */
import { connect, createServer } from 'node:net';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { sendRaw, startConsole, TestPage } from '../helpers/console.ts';
import { startGateway } from '../helpers/gateway.ts';
import { startHttpGateway, TOKEN } from '../helpers/http-gateway.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const ACTION = JSON.stringify({ method: 'projects.list', params: {} });

test('nobody gets in without a link, twice with the same, or from another page', async () => {
  const one = await startConsole(createProject({}));
  const other = await startConsole(createProject({}));
  const { origin, link } = one;
  const host = new URL(origin).host;
  // Looking at a link does not use it up, as chat programs do that.
  expect((await sendRaw(origin, link, { method: 'HEAD' })).status).toBe(401);
  const cookie = await one.enter();
  expect((await sendRaw(origin, link)).status).toBe(401);
  expect((await sendRaw(origin, '/console?link=')).status).toBe(401);
  const entered = await sendRaw(other.origin, other.link);
  const [set = ''] = entered.headers['set-cookie'] ?? [];
  expect(set).toMatch(/; Path=\/console; HttpOnly; SameSite=Strict$/);
  const otherCookie = set.split(';')[0] ?? '';

  const post = (headers: Record<string, string>, body = ACTION) =>
    sendRaw(origin, '/console/actions', { method: 'POST', headers, body });
  const good = { cookie, 'switchboard-console': '1' };
  expect((await post(good)).status).toBe(200);
  expect((await post({ ...good, origin })).status).toBe(200);
  const refused: [Record<string, string>, number][] = [
    [{ cookie }, 403],
    [{ cookie, 'switchboard-console': '0' }, 403],
    [{ 'switchboard-console': '1' }, 401],
    [{ ...good, cookie: `${cookie}x` }, 401],
    [{ ...good, cookie: otherCookie }, 401],
    // The name of this console with the secret of the other.
    [{ ...good, cookie: `${cookie.split('=')[0]}=${otherCookie.split('=')[1]}` }, 401],
    // Two of a name: one may have been planted by another program of this machine.
    [{ ...good, cookie: `${cookie}; ${cookie}` }, 401],
    [{ ...good, origin: 'https://example.com' }, 403],
    [{ ...good, origin: 'null' }, 403],
    [{ ...good, origin: other.origin }, 403],
    [{ ...good, origin: origin.replace('http', 'https') }, 403],
    [{ ...good, 'sec-fetch-site': 'cross-site' }, 403],
    [{ ...good, 'sec-fetch-site': 'same-site' }, 403],
    // The name of an attacker that leads here.
    [{ ...good, host: 'attacker.example' }, 421],
    [{ ...good, host: `attacker.example:${new URL(origin).port}` }, 421],
    [{ ...good, host: '127.0.0.1.attacker.example' }, 421],
  ];
  for (const [headers, status] of refused)
    expect([headers, (await post(headers)).status]).toEqual([headers, status]);
  expect((await sendRaw(origin, '/console/actions', { headers: good })).status).toBe(405);
  expect((await sendRaw(origin, '/console/events', {})).status).toBe(401);
  expect(
    (await sendRaw(origin, '/console/events', { headers: { cookie, origin: 'https://example.com' } })).status,
  ).toBe(403);
  expect(
    (await sendRaw(origin, '/console/events', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }))
      .status,
  ).toBe(403);
  // No page of another origin may read, show or script any of it.
  const { headers } = await sendRaw(origin, '/console', { headers: { host } });
  expect(headers['access-control-allow-origin']).toBeUndefined();
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'$/,
  );
  expect(
    (
      await sendRaw(origin, '/console/actions', {
        method: 'OPTIONS',
        headers: { origin: 'https://example.com' },
      })
    ).status,
  ).toBe(403);
});

test('no path leads to a file that is not part of the page', async () => {
  const console = await startConsole(createProject({}));
  const cookie = await console.enter();
  const paths = [
    '/console/../package.json',
    '/console/assets/../../index.js',
    '/console/assets/%2e%2e/%2e%2e/package.json',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/..\\..\\package.json',
    '/console/assets//etc/passwd',
    '/console/%00',
    '/console/assets/__proto__',
    '/console/constructor',
    '/consoleindex.html',
    `/console/${'a'.repeat(8000)}`,
  ];
  for (const path of paths) {
    const { status, text } = await sendRaw(console.origin, path, { headers: { cookie } });
    expect([path, status]).toEqual([path, 404]);
    expect(text).not.toMatch(/mcp-switchboard|root:/);
  }
});

test('bodies and parameters of the wrong kind are refused, and change nothing', async () => {
  const { project } = await startGateway({ echo: nodeServer('echo') });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  const before = readFileSync(project.path('switchboard.config.json'), 'utf8');
  expect((await page.send('x'.repeat(5 * 1024 * 1024)).catch(() => ({ status: 413 }))).status).toBe(413);
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '{"method":7}',
    '{"method":"toString","params":{}}',
    '{"method":"__proto__"}',
  ];
  const params: unknown[] = [
    { gateway: 7, server: 'echo' },
    { gateway, server: { toString: 'echo' } },
    { gateway, server: 'echo\0' },
    { gateway: '__proto__', server: 'echo' },
    { gateway, server: '--config=/etc/passwd' },
    { gateway, server: 'a'.repeat(300_000) },
    { gateway },
    null,
  ];
  for (const method of ['servers.disable', 'servers.stop', 'servers.edit', 'calls.cancel', 'lists.get'])
    bodies.push(...params.map((each) => JSON.stringify({ method, params: each })));
  for (const body of bodies) {
    const { status, text } = await page.send(body);
    // What any client may see is all that is left of `lists.get`.
    const isRead = body.includes('lists.get') && body.includes(gateway);
    expect([body.slice(0, 200), status, JSON.parse(text).ok]).toEqual([body.slice(0, 200), 200, isRead]);
  }
  expect(readFileSync(project.path('switchboard.config.json'), 'utf8')).toBe(before);
});

test('a console for reading refuses every action that changes something', async () => {
  const { project } = await startGateway({ echo: nodeServer('echo') });
  const page = await (await startConsole(project, ['--read-only'])).open();
  const gateway = await page.gateway();
  expect(page.state.readOnly).toBe(true);
  const server = { gateway, server: 'echo' };
  const change = { host: 'cursor', change: 'install' } as const;
  const service = { directory: project.dir };
  const changes: [string, object][] = [
    ...['start', 'stop', 'reload', 'enable', 'disable', 'remove', 'login', 'logout'].map(
      (what): [string, object] => [`servers.${what}`, server],
    ),
    ['servers.add', { gateway, server: { name: 'x', entry: { command: 'x' } } }],
    ['servers.edit', { ...server, entry: { command: 'x' } }],
    ['servers.expose', { ...server, exposure: 'flat' }],
    ['gateways.reload', { gateway }],
    ['calls.cancel', { gateway, call: '1' }],
    ['tools.call', { ...server, stream: page.state.stream, trial: 't', tool: 'echo', arguments: {} }],
    ['tools.cancel', { trial: 't' }],
    ['tools.answer', { trial: 't', request: '1' }],
    ['hosts.change', change],
    ...['start', 'stop', 'restart'].map((what): [string, object] => [`services.${what}`, service]),
    ['projects.checkout', { ...service, branch: 'main' }],
  ];
  for (const [method, params] of changes) {
    const answer = JSON.parse((await page.send(JSON.stringify({ method, params }))).text);
    expect([method, answer.error?.code]).toEqual([method, 'CONSOLE_READ_ONLY']);
  }
  // Every other action reads.
  expect((await page.ask('servers.entry', server)).ok).toBe(true);
  expect(page.server('echo')?.state.kind).toBe('idle');
});

test('secrets of entries are never shown, and stay when an entry is changed', async () => {
  const secrets = ['env-secret-1234', 'arg-secret-1234', 'header-secret-1234', 'url-secret-1234'];
  const { project } = await startGateway({
    local: {
      ...nodeServer('echo', '--api-key', 'arg-secret-1234'),
      env: { TOKEN: 'env-secret-1234', NAME: '${HOME}' },
    },
    remote: {
      url: 'http://127.0.0.1:9/mcp?token=url-secret-1234',
      headers: { 'X-Key': 'header-secret-1234' },
    } as never,
  });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  await page.choose('calls', 'logs');
  await page.ask('servers.start', { gateway, server: 'remote' });
  const shown: unknown[] = [];
  for (const server of ['local', 'remote']) {
    const { entry } = await page.do('servers.entry', { gateway, server });
    shown.push(
      entry,
      await page.do('servers.edit', { gateway, server, entry: { ...entry, description: 'new' } }),
    );
  }
  shown.push(await page.do('logs.search', {}), page.events);
  for (const secret of secrets) expect(JSON.stringify(shown)).not.toContain(secret);
  const { mcpServers } = JSON.parse(readFileSync(project.path('switchboard.config.json'), 'utf8'));
  expect(mcpServers.local).toMatchObject({
    description: 'new',
    env: { TOKEN: 'env-secret-1234', NAME: '${HOME}' },
  });
  expect(mcpServers.local.args).toEqual([...nodeServer('echo').args, '--api-key', 'arg-secret-1234']);
  expect(mcpServers.remote).toMatchObject({ description: 'new', headers: { 'X-Key': 'header-secret-1234' } });
  expect(mcpServers.remote.url).toContain('url-secret-1234');
  // A secret cannot be read by moving it to where it is shown.
  const { entry } = await page.do('servers.entry', { gateway, server: 'local' });
  const moved = await page.ask('servers.edit', {
    gateway,
    server: 'local',
    entry: { ...entry, description: '••••••••' },
  });
  expect(moved).toMatchObject({ ok: false, error: { code: 'ARGS_INVALID' } });
});

test('a page that does not read holds nobody up, and gets everything anew', async () => {
  const { client, project } = await startGateway({ echo: nodeServer('echo') });
  const console = await startConsole(project);
  const cookie = await console.enter();
  const { hostname, port } = new URL(console.origin);
  const deaf = connect(Number(port), hostname);
  atTestEnd(() => Promise.resolve(void deaf.destroy()));
  deaf.write(`GET /console/events HTTP/1.1\r\nHost: ${hostname}:${port}\r\nCookie: ${cookie}\r\n\r\n`);
  deaf.pause();
  const page = await TestPage.open(console.origin, cookie);
  await page.choose('calls');
  // Calls are counted from when the console has found the gateway.
  await page.gateway();
  for (let round = 0; round < 20; round++)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        client.call('echo_suite', { action: 'call', subtool: 'echo', args: { text: 'x' } }),
      ),
    );
  await until(() => page.server('echo')?.calls.total === 1000, { what: 'all calls' });
  expect((await page.do('calls.list', { limit: 1 })).calls).toHaveLength(1);
});

test('a stranger at the socket of a gateway learns nothing, and a stranger in its place is left alone', async () => {
  const { project } = await startGateway({ echo: nodeServer('echo') });
  const run = project.path('.state/run');
  const stateFile = await until(
    () => (existsSync(run) ? readdirSync(run) : []).find((name) => name.endsWith('.json')),
    { what: 'the state file' },
  );
  const state = JSON.parse(readFileSync(join(run, stateFile), 'utf8'));
  const said = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(state.control.path);
      let answer = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      socket.on('error', () => undefined).once('close', () => resolve(answer));
      socket.write(text);
    });
  expect(await said('{"method":"watch"}\n')).toBe('{"error":"not allowed"}\n');
  expect(await said(`{"token":"${'0'.repeat(32)}","method":"watch"}\n`)).toBe('{"error":"not allowed"}\n');
  // Whoever has the token and sends no JSON is cut off.
  expect(await said(`{"token":"${state.control.token}","method":"watch"}\nGET / HTTP/1.1\r\n`)).toContain(
    '"type":"gateway"',
  );

  // A program that took the place of a gateway: it speaks for another one, or says nothing at all.
  const fake = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const events = [
        { type: 'gateway', gateway: { id: 'fake', pid: process.pid } },
        { type: 'server', server: { gateway: 'another', name: '<script>', state: { kind: 'idle' } } },
      ];
      socket.write(`${JSON.stringify({ events })}\n`);
    });
  });
  const path = project.path('fake.sock');
  await new Promise<void>((resolve) => fake.listen(path, resolve));
  atTestEnd(() => new Promise((resolve) => fake.close(() => resolve())));
  const lie = { ...state, pid: process.ppid, startTime: 0, control: { path, token: 'x' } };
  writeFileSync(join(run, `${process.ppid}.json`), JSON.stringify(lie));
  const { json } = await runCli(project, ['status', '--json'], {
    env: { SWITCHBOARD_STATE_DIR: project.path('.state') },
  });
  expect(json.gateways.filter(({ live }: { live: boolean }) => live)).toMatchObject([{ pid: state.pid }]);
  expect(JSON.stringify(json)).not.toContain('<script>');
});

test('the console of an HTTP gateway is for browsers of this machine, and its token opens it for nobody', async () => {
  const running = await startHttpGateway({ echo: nodeServer('echo') });
  const { origin } = new URL(running.url);
  const authorization = `Bearer ${TOKEN}`;
  expect((await sendRaw(origin, '/console', { headers: { authorization } })).status).toBe(401);
  expect((await sendRaw(origin, '/console/events', { headers: { authorization } })).status).toBe(401);
  expect((await sendRaw(origin, '/console', { headers: { host: 'example.com' } })).status).toBe(421);
  // The cookie of a console is no token.
  expect(
    (await sendRaw(origin, '/mcp', { method: 'POST', headers: { cookie: 'switchboard-console=x' } })).status,
  ).toBe(401);
  expect(running.stdout).not.toContain('link=');

  const off = await startHttpGateway({ echo: nodeServer('echo') }, { http: { console: 'off' } });
  expect((await sendRaw(new URL(off.url).origin, '/console')).status).toBe(401);
});
