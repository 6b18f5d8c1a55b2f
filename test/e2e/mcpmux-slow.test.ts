/** Servers that take long to start, in mcpmux: nobody waits longer than a host does, and none is lost. */
import { expect, test } from 'vitest';
import { envelope } from '../helpers/eras.ts';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { failed, MUX, startMux, TOOLS_CHANGED, type ListedServer } from '../helpers/management.ts';
import { responseText, startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { nodeServer, type ServerCommand } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

test('the first list has the tools of a configured server that starts slowly', async () => {
  const mux = await startMux({
    config: { mcpServers: { late: nodeServer('slow', '--initialize-ms=3000') } },
  });
  expect(await mux.tools()).toContain('late__echo');
  expect(mux.changes()).toBe(0);
});

test('one that takes longer is announced when it has come, and calls of its tools wait for it', async () => {
  const mux = await startMux({
    config: {
      mcpServers: {
        late: nodeServer('slow', '--initialize-ms=4000'),
        quick: nodeServer('echo', '--tools=echo'),
      },
      timeouts: { firstListMs: 1000 },
    },
  });
  const first = await mux.tools();
  expect(first).toContain('quick__echo');
  expect(first).not.toContain('late__echo');
  const early = mux.client.call('late__echo', { text: 'early' });
  expect(await mux.server('late')).toMatchObject({ status: 'starting' });
  // Nobody else waits.
  expect(textOf(await mux.client.call('quick__echo', { text: 'now' }))).toBe('now');
  await mux.client.waitFor(({ method }) => method === TOOLS_CHANGED);
  expect(await mux.tools()).toContain('late__echo');
  expect(textOf(await early)).toBe('early');
});

test('the next run waits for it in the same way', async () => {
  const config = { mcpServers: { late: nodeServer('slow', '--initialize-ms=2000') } };
  const one = await startMux({ config });
  expect(await one.tools()).toContain('late__echo');
  await one.client.close();
  const env = { SWITCHBOARD_STATE_DIR: one.project.path('.state') };
  const two = await startMux({ config, env });
  expect(await two.tools()).toContain('late__echo');
  expect(textOf(await two.client.call('late__echo', { text: 'again' }))).toBe('again');
});

/** As a package that is downloaded first: it says so again and again, and begins to answer after so many seconds. */
function busyFor(seconds: number, { command, args }: ServerCommand): ServerCommand {
  const script = `for n in $(seq ${seconds}); do echo "part $n" >&2; sleep 1; done; exec "$@"`;
  return { command: 'sh', args: ['-c', script, 'sh', command, ...args] };
}

test('add_server answers before a host gives up, and so does a suite; the server goes on starting, in both eras', async () => {
  const mux = await startMux();
  // Another one, whose client does without a greeting.
  const modern = startClient({ ...MUX, cwd: mux.project.dir, env: ownState(mux.project) });
  await Promise.all([
    addSlowly(mux.client, {}),
    addSlowly(modern, { _meta: envelope() }),
    callSlowly(),
    callRemembered(),
  ]);
}, 180_000);

async function addSlowly(client: RawClient, meta: object): Promise<void> {
  const call = (name: string, args: object = {}): Promise<RpcMessage> =>
    client.request('tools/call', { name, arguments: args, ...meta }, { deadline: 90_000 });
  const listed = async (name: string): Promise<ListedServer | undefined> =>
    (await call('list_servers')).result.structuredContent.servers.find(
      (each: ListedServer) => each.name === name,
    );
  const begin = performance.now();
  const answers = await Promise.all([
    call('add_server', { name: 'late', ...busyFor(53, nodeServer('echo')), timeout_ms: 150_000 }),
    call('add_server', { name: 'hung', ...nodeServer('never-initialize'), timeout_ms: 53_000 }),
    call('add_server', { name: 'unwanted', ...nodeServer('never-initialize'), timeout_ms: 600_000 }),
  ]);
  // Hosts give a call up after a minute.
  expect(performance.now() - begin).toBeLessThan(60_000);
  for (const answer of answers) {
    expect(failed(answer), responseText(answer)).toBe(false);
    expect(responseText(answer)).toContain('still starting');
    expect(answer.result.structuredContent.server).toMatchObject({ status: 'starting', tools: [] });
  }
  const echo = call('late__echo', { text: 'waited' });
  // One that is not wanted any more does not have to start first.
  expect(failed(await call('remove_server', { name: 'unwanted' }))).toBe(false);
  expect(await listed('unwanted')).toBeUndefined();
  expect(textOf(await echo)).toBe('waited');
  expect(await listed('late')).toMatchObject({ status: 'running' });
  // One that fails stays, with the reason.
  const isCrashed = async (): Promise<ListedServer | undefined> => {
    const found = await listed('hung');
    return found?.status === 'crashed' ? found : undefined;
  };
  const crashed = await until(isCrashed, { what: 'hung to be given up', deadline: 60_000 });
  expect(crashed.error).toContain('did not respond to initialize');
  expect(failed(await call('remove_server', { name: 'hung' }))).toBe(false);
}

/** The same for the tool of a suite: whoever calls it is told to ask again, and then gets its answer. */
async function callSlowly(): Promise<void> {
  const { client } = await startGateway(
    { late: busyFor(53, nodeServer('echo')) },
    { config: { timeouts: { childSpawnMs: 150_000 } } },
  );
  const run = { action: 'call', subtool: 'echo', args: { text: 'at last' } };
  const use = (args: object): Promise<RpcMessage> => client.call('late_suite', args, { deadline: 90_000 });
  for (const answer of await Promise.all([use({ action: 'introspect' }), use(run)])) {
    expectStillStarting(answer);
  }
  expect(textOf(await use(run))).toBe('at last');
  expect(client.stderr.match(/spawned server=late/g)).toHaveLength(1);
}

/** And for a flat tool that is remembered from an earlier run, when its server was quicker. */
async function callRemembered(): Promise<void> {
  const { command, args } = busyFor(53, nodeServer('echo'));
  const [flag, script, ...rest] = args;
  const late = { command, args: [flag!, `[ ! -e slow ] || ${script}; exec "$@"`, ...rest], exposure: 'flat' };
  const { client: first, project } = await startGateway(
    { late },
    { config: { timeouts: { childSpawnMs: 150_000 } } },
  );
  await until(async () => (await first.listTools()).length > 0, { what: 'its tools' });
  await first.close();
  project.write('slow', '');
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  const echo = (): Promise<RpcMessage> =>
    client.call('late__echo', { text: 'at last' }, { deadline: 90_000 });
  expectStillStarting(await echo());
  expect(textOf(await echo())).toBe('at last');
}

function expectStillStarting(answer: RpcMessage): void {
  expect(failed(answer), responseText(answer)).toBe(true);
  const [, seconds] = /Server 'late' is still starting after (\d+) s\. /.exec(responseText(answer)) ?? [];
  expect(Number(seconds), responseText(answer)).toBeGreaterThanOrEqual(50);
  expect(Number(seconds)).toBeLessThan(60);
  expect(responseText(answer)).toContain('It continues to start; try again.');
}
