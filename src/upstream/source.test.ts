import { queryObjects } from 'node:v8';
import { afterAll, expect, test } from 'vitest';
import { LocalClient, type SourceListener } from '../gateway/index.ts';
import { createChildProcesses } from '../process/index.ts';
import { Deadlines } from '../shared/deadline.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { silentLogger } from '../shared/log.ts';
import { ServerSource } from './source.ts';
import { until } from '../../test/helpers/until.ts';
import { testUpstreamContext } from '../../test/helpers/upstream-context.ts';
import { ServerRun } from './run/server-run.ts';
import type { ProcessTarget, UpstreamServer } from './server.ts';

const children = createChildProcesses({ log: silentLogger });
afterAll(() => children.stopAll({ term: 0, kill: 500 }));

function source(
  args: string[],
  more: Partial<UpstreamServer> = {},
  how: Partial<ProcessTarget> = {},
  context: Parameters<typeof testUpstreamContext>[1] = {},
) {
  const server: UpstreamServer = {
    name: 'tested',
    target: {
      kind: 'process',
      command: process.execPath,
      args: args.map((arg) => (arg.endsWith('.mjs') ? `test/servers/${arg}` : arg)),
      cwd: process.cwd(),
      env: () => process.env as Record<string, string>,
      shown: { command: 'node', cwd: '.' },
      framing: 'newline',
      ...how,
    },
    timeouts: { childSpawnMs: 8000, rpcMs: 8000, callMaxMs: 60_000, idleMs: 'never' },
    limits: { messageBytes: 1 << 24, callsInFlight: 64, callsQueued: 100 },
    ...more,
  };
  return new ServerSource(server, testUpstreamContext(children, context), new Deadlines());
}

/** A listener that does nothing. */
const DEAF: SourceListener = {
  started: () => undefined,
  failed: () => undefined,
  stopped: () => undefined,
  changed: () => undefined,
  notified: () => undefined,
  requested: () => undefined,
  inUse: () => false,
};

test('goes from idle to running to stopped, and knows what the server said of itself', async () => {
  const echo = source(['echo.mjs']);
  expect(echo.state.kind).toBe('idle');
  expect(echo.about()).toBeUndefined();
  const { byKey } = await echo.list('tools');
  expect(byKey.has('echo')).toBe(true);
  expect(echo.known('tools')?.byKey).toBe(byKey);
  expect(echo.state.kind).toBe('running');
  expect(echo.about()?.serverInfo).toMatchObject({ name: 'echo' });
  await echo.close();
  expect(echo.state.kind).toBe('stopped');
});

test('a close while it starts leaves no process', async () => {
  const before = children.size;
  const slow = source(['slow.mjs', '--initialize-ms=400']);
  const listing = slow.list('tools').catch((error: unknown) => error);
  while (slow.state.kind !== 'starting') await new Promise((resolve) => setImmediate(resolve));
  await slow.close();
  expect(await listing).toMatchObject({ code: 'STOPPING' });
  expect(children.size).toBe(before);
});

test('a close before its code is loaded leaves no process, and tells why', async () => {
  const before = children.size;
  const echo = source(['echo.mjs']);
  const listing = echo.list('tools').catch((error: unknown) => error);
  const call = new LocalClient()
    .request(echo, 'tools/call', { name: 'echo', arguments: {} })
    .catch((error: unknown) => error);
  await echo.close({ reason: 'It was removed.' });
  expect(await listing).toMatchObject({ code: 'STOPPING', message: expect.stringContaining('removed') });
  expect(await call).toMatchObject({ message: expect.stringContaining('It was removed.') });
  expect(children.size).toBe(before);
});

test('a call fails where the code for processes cannot be loaded', async () => {
  const echo = source(['echo.mjs'], {}, {}, { children: () => Promise.reject(new Error('No such file')) });
  const call = new LocalClient().request(echo, 'tools/call', { name: 'echo', arguments: {} });
  await expect(call).rejects.toThrow("Server 'tested' could not be started: No such file");
  await echo.close();
});

test('a server that cannot start is crashed, with its reason', async () => {
  const gone = source(['no-such-thing.js']);
  await expect(gone.list('tools')).rejects.toThrow(/Cannot find module/);
  expect(gone.state).toMatchObject({ kind: 'crashed', error: { code: 'SERVER_LOST' } });
});

test('keeps its list until the server says that it changed', async () => {
  const changing = source(['changing.mjs']);
  const first = await changing.list('tools');
  expect(await changing.list('tools')).toBe(first);
  const changed = new Promise((resolve) => changing.listen({ ...DEAF, changed: resolve }));
  await new LocalClient().request(changing, 'tools/call', { name: 'grow', arguments: {} });
  await changed;
  expect(changing.known('tools')).toBeUndefined();
  const second = await changing.list('tools');
  expect(second.components.length).toBe(first.components.length + 1);
  await changing.close();
});

test('a server that is listened to and may not be started is tried again with pauses', async () => {
  let tries = -1;
  const mayNotStart = (): SwitchboardError | undefined =>
    ++tries === 0 ? undefined : new SwitchboardError('TOO_MANY_PROCESSES', 'Too many.');
  const echo = source(['echo.mjs'], {}, {}, { mayNotStart });
  echo.listen({ ...DEAF, inUse: () => true });
  await echo.start();
  process.kill((echo.state as { pid: number }).pid, 'SIGKILL');
  while (tries < 1) await new Promise((resolve) => setTimeout(resolve, 1));
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(tries).toBeLessThan(10);
  await echo.close();
});

test('of a server that crashes again and again, nothing is kept of the runs before the last', async () => {
  const before = queryObjects(ServerRun) as number;
  const crashing = source(['crash.mjs']);
  for (let crash = 0; crash < 9; crash++) {
    await crashing.start();
    await new LocalClient().request(crashing, 'tools/call', { name: 'crash' }).catch(() => undefined);
    while (crashing.state.kind !== 'crashed') await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await crashing.start();
  // One for the current run, and one for the last run, whose error says where it came from. A run is released when the
  // last event of its process has been handled, which may be after its crash is reported.
  await until(() => (queryObjects(ServerRun) as number) <= before + 2, { what: 'earlier runs to go' });
  await crashing.close();
});
