/** What the page of the console shows and does, against real gateways, servers and files. */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startConsole, TestConsole } from '../helpers/console.ts';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { startHttpGateway, RunningProgram } from '../helpers/http-gateway.ts';
import { runCli } from '../helpers/run-cli.ts';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CONFIG = 'switchboard.config.json';

test('a page sees a gateway of a host, and starts, stops and changes its servers', async () => {
  const { client, project } = await startGateway({
    echo: nodeServer('echo'),
    broken: { command: 'no-such-program-for-the-console', args: [] },
    off: { ...nodeServer('echo'), disabled: true },
  });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  expect(await page.untilServer('off', 'disabled')).toMatchObject({
    file: project.path(CONFIG),
    command: expect.stringContaining('echo.mjs'),
  });
  expect(page.server('echo')).toMatchObject({ state: { kind: 'idle' }, exposure: 'suite', kind: 'stdio' });
  const [known] = page.latest(
    (event) => (event.type === 'client' ? event.client : undefined),
    page.state.clients,
  );
  expect(known).toMatchObject({ transport: 'stdio', protocolVersion: expect.any(String) });

  await page.do('servers.start', { gateway, server: 'echo' });
  const running = await page.untilServer('echo', 'running');
  expect(running.state).toMatchObject({ pid: expect.any(Number), problem: null });
  await until(() => (page.server('echo')?.offers.tools ?? 0) > 0, { what: 'the tools' });
  await page.do('servers.stop', { gateway, server: 'echo' });
  await page.untilServer('echo', 'idle');
  // The next call starts it again.
  expect(
    textOf(await client.call('echo_suite', { action: 'call', subtool: 'echo', args: { text: 'again' } })),
  ).toBe('again');
  const pid = (await page.untilServer('echo', 'running')).state;
  await page.do('servers.reload', { gateway, server: 'echo' });
  await until(() => JSON.stringify(page.server('echo')?.state) !== JSON.stringify(pid), {
    what: 'another process',
  });

  const failed = await page.ask('servers.start', { gateway, server: 'broken' });
  expect(failed).toMatchObject({ ok: false, error: { message: expect.stringContaining('no-such-program') } });
  await page.untilServer('broken', 'failed');
  expect(await page.ask('servers.start', { gateway, server: 'nobody' })).toMatchObject({
    ok: false,
    error: { code: 'SERVER_UNKNOWN' },
  });

  // What is written is what the commands write.
  await page.do('servers.enable', { gateway, server: 'off' });
  await page.untilServer('off', 'idle');
  await page.do('servers.disable', { gateway, server: 'off' });
  await page.untilServer('off', 'disabled');
  const [added] = (await page.do('servers.parse', { text: 'npx -y @modelcontextprotocol/server-memory' }))
    .servers;
  expect(added).toEqual({
    name: 'memory',
    entry: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
  });
  await page.do('servers.add', { gateway, server: { name: 'second', entry: { ...nodeServer('echo') } } });
  await page.untilServer('second', 'idle');
  await page.do('servers.expose', { gateway, server: 'second', exposure: 'flat' });
  await until(() => page.server('second')?.exposure === 'flat', { what: 'the exposure' });
  await page.do('servers.remove', { gateway, server: 'second' });
  await until(
    () => page.events.some((event) => event.type === 'server-removed' && event.server === 'second'),
    {
      what: 'the removal',
    },
  );
  expect(Object.keys(JSON.parse(readFileSync(project.path(CONFIG), 'utf8')).mcpServers)).toEqual([
    'echo',
    'broken',
    'off',
  ]);
  const invalid = await page.ask('servers.add', { gateway, server: { name: 'bad', entry: { command: 7 } } });
  expect(invalid).toMatchObject({ ok: false, error: { code: 'CONFIG_INVALID' } });

  // The host leaves, and its gateway with it.
  await client.close();
  await until(() => page.events.some(({ type }) => type === 'gateway-ended'), { what: 'the end' });
});

test('calls are shown as they run, without secrets, and can be cancelled', async () => {
  const secret = 'a-very-secret-value';
  const { client, project } = await startGateway({
    echo: { ...nodeServer('echo'), env: { API_KEY: secret } },
    slow: nodeServer('slow'),
  });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  await page.choose('calls', 'logs');
  await client.call('echo_suite', {
    action: 'call',
    subtool: 'echo',
    args: { text: `say ${secret}`, password: 'x1y2' },
  });
  const done = await until(() => page.call((call) => call.subtool === 'echo' && call.outcome !== null), {
    what: 'the call',
  });
  expect(done).toMatchObject({
    gateway,
    server: 'echo',
    name: 'echo_suite',
    outcome: 'ok',
    method: 'tools/call',
  });
  const detail = await page.do('calls.get', { gateway, call: done.id });
  expect(detail.arguments?.text).toContain('"text":"say ***"');
  expect(detail.arguments?.text).toContain('"password":"[redacted]"');
  expect(detail.result?.text).toContain('say ***');
  expect(await page.do('calls.list', { name: 'ECHO', failed: false })).toMatchObject({
    calls: [{ id: done.id }],
    more: false,
  });

  const hanging = client.call('slow_suite', { action: 'call', subtool: 'hang', args: {} });
  const running = await until(() => page.call((call) => call.subtool === 'hang'), {
    what: 'the running call',
  });
  expect(running.outcome).toBeNull();
  const shown = await runCli(project, ['calls', '--json'], {
    env: { SWITCHBOARD_STATE_DIR: project.path('.state') },
  });
  expect(shown.json.calls).toMatchObject([{ id: done.id }, { id: running.id, outcome: null }]);
  await runCli(project, ['calls', 'cancel', `${gateway}:${running.id}`], {
    env: { SWITCHBOARD_STATE_DIR: project.path('.state') },
  });
  expect(textOf(await hanging)).toContain('cancelled');
  await until(() => page.call((call) => call.id === running.id)?.outcome === 'CANCELLED', {
    what: 'the cancellation',
  });
  const cancelled = await page.do('calls.get', { gateway, call: running.id });
  expect(JSON.parse(cancelled.result?.text ?? '')).toEqual({ error: expect.stringContaining('cancelled') });
  // Its own client gets no answer, so there is none to show.
  const params = { name: 'slow_suite', arguments: { action: 'call', subtool: 'hang' } };
  client.send({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params });
  const leaving = await until(
    () => page.call((call) => call.subtool === 'hang' && call.outcome === null && call.id !== running.id),
    { what: 'the second call' },
  );
  client.notify('notifications/cancelled', { requestId: 'gone' });
  await until(() => page.call((call) => call.id === leaving.id)?.outcome === 'cancelled', {
    what: 'the cancellation by the client',
  });
  expect((await page.do('calls.get', { gateway, call: leaving.id })).result).toBeNull();
  await until(() => page.server('echo')?.calls.total === 1, { what: 'the count' });

  const { lines } = await page.do('logs.search', { text: 'SPAWNED' });
  expect(lines.map(({ text }) => text).join()).toContain('server=slow');
  expect(JSON.stringify(page.events)).not.toContain(secret);
});

test('a tool is tried with progress, questions and cancellation', async () => {
  const { project } = await startGateway({
    asking: nodeServer('asking'),
    progress: nodeServer('progress'),
    slow: nodeServer('slow'),
  });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  const { stream } = page.state;
  const { tools } = await page.do('tools.list', { gateway, server: 'asking' });
  expect(tools.find(({ name }) => name === 'ask_form')?.inputSchema).toMatchObject({ type: 'object' });
  await page.do('servers.stop', { gateway, server: 'asking' });
  await page.untilServer('asking', 'idle');

  const asked = page.do('tools.call', {
    ...{ gateway, server: 'asking', stream, trial: 'one', tool: 'ask_form' },
    arguments: { tag: 'mine' },
  });
  const question = await until(
    () => page.events.find((event) => event.type === 'trial' && event.event.kind === 'request'),
    { what: 'the question' },
  );
  if (question.type !== 'trial' || question.event.kind !== 'request') throw new Error('It is no question');
  expect(question).toMatchObject({ trial: 'one', event: { method: 'elicitation/create' } });
  await page.do('tools.answer', {
    ...{ trial: 'one', request: question.event.request },
    result: { action: 'accept', content: { answer: 'from the page' } },
  });
  expect(JSON.stringify((await asked).result)).toContain('from the page');

  const hanging = page.ask('tools.call', {
    ...{ gateway, server: 'slow', stream, trial: 'two', tool: 'hang', arguments: {} },
  });
  await page.untilServer('slow', 'running');
  await page.do('tools.cancel', { trial: 'two' });
  expect(await hanging).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
});

test('what a model sees can be compared before it is saved', async () => {
  const { client, project } = await startGateway({ everything: npmServer('everything') });
  const page = await (await startConsole(project)).open();
  const gateway = await page.gateway();
  await page.do('servers.start', { gateway, server: 'everything' });
  await until(() => (page.server('everything')?.offers.tools ?? 0) > 0, { what: 'the tools' });
  const suite = await page.do('lists.get', { gateway, client: null });
  const listed = await client.request('tools/list');
  expect(suite.tools.map(({ definition }) => JSON.parse(definition))).toEqual(listed.result.tools);
  const flat = await page.do('lists.get', { gateway, client: null, exposure: 'flat' });
  expect(flat.tools.map(({ name }) => name)).toContain('everything__echo');
  expect(flat.tokens).toBeGreaterThan(suite.tokens);
  const hidden = await page.do('lists.get', { gateway, client: null, exposure: { everything: 'hidden' } });
  expect(hidden.tools).toEqual([]);
  expect((await client.request('tools/list')).result).toEqual(listed.result);
});

test('a gateway over HTTP has the console, and says so to a browser', async () => {
  const running = await startHttpGateway(
    { echo: nodeServer('echo') },
    { args: ['--http', '0', '--json', '--show-token'] },
  );
  const origin = new URL(running.url).origin;
  const welcome = await fetch(origin, { headers: { accept: 'text/html' } });
  expect(await welcome.text()).toContain('href="/console"');
  // Programs are refused as before.
  expect((await fetch(origin)).status).toBe(401);
  const link = (running.said as unknown as { console: string }).console;
  const page = await new TestConsole({ url: `${origin}/console`, link }).open();
  const gateway = await page.gateway();
  await page.do('servers.start', { gateway, server: 'echo' });
  await page.untilServer('echo', 'running');

  const opened = await runCli(running.project, ['console', '--http', '--no-open', '--json'], {
    env: { SWITCHBOARD_STATE_DIR: running.project.path('.state') },
  });
  await new TestConsole(opened.json).open();
  const status = await runCli(running.project, ['status', '--json'], {
    env: { SWITCHBOARD_STATE_DIR: running.project.path('.state') },
  });
  expect(status.json).toMatchObject({
    gateways: [{ pid: running.pid, live: true }],
    servers: [{ name: 'echo' }],
  });
});

test('logs are followed on the command line', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { echo: nodeServer('echo') } } });
  const env = { SWITCHBOARD_STATE_DIR: project.path('.state') };
  // Before there is any gateway.
  const following = new RunningProgram(project, {
    args: ['logs', '--follow', '--json', '--search', 'spawned'],
    env,
  });
  await until(() => existsSync(project.path('.state/run')), { what: 'the command to look for gateways' });
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  await client.call('echo_suite', { action: 'introspect' });
  await until(() => following.stdout.includes('"text":"spawned server=echo'), { what: 'the line' });
  // What was before is kept for those who come later.
  expect((await runCli(project, ['logs', '--search', 'SPAWNED'], { env })).stdout).toContain(
    'spawned server=echo',
  );
});
