/** Clients of both eras share a server: each uses its own era if the server supports that. */
import { writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { factsCache, testUpstreamContext } from '../../../test/helpers/upstream-context.ts';
import { until } from '../../../test/helpers/until.ts';
import { SharedSource, type Source, type SourceListener } from '../../gateway/index.ts';
import { createChildProcesses } from '../../process/index.ts';
import type { Era } from '../../protocol/index.ts';
import { Deadlines } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { silentLogger } from '../../shared/log.ts';
import { parsedText, scratchFile, startModernServer, TestClient, type Sent } from '../modern/modern.cases.ts';
import type { CallTimeouts, UpstreamServer } from '../server.ts';
import { ServerSource } from '../source.ts';

const VERSION = 'io.modelcontextprotocol/protocolVersion';

interface ShareOptions {
  /** How many processes may run at one time. */
  readonly most?: number;
  readonly timeouts?: Partial<CallTimeouts>;
}

/** A server shared by gateways of both eras. */
function share(target: UpstreamServer['target'], { most = Infinity, timeouts }: ShareOptions = {}) {
  const children = createChildProcesses({ log: silentLogger });
  const cache = factsCache();
  const server: UpstreamServer = {
    name: 'tested',
    target,
    timeouts: { childSpawnMs: 20_000, rpcMs: 20_000, callMaxMs: 60_000, idleMs: 'never', ...timeouts },
    limits: { messageBytes: 1 << 24, callsInFlight: 64, callsQueued: 100 },
    shared: true,
  };
  const full = new SwitchboardError('TOO_MANY_PROCESSES', 'Too many.');
  const shared = new SharedSource({
    make: ({ era, other }, after) =>
      new ServerSource(
        { ...server, ...(after === undefined ? {} : { startsAfter: after }) },
        testUpstreamContext(children, {
          cache,
          era,
          other,
          mayNotStart: () => (children.size < most ? undefined : full),
        }),
        new Deadlines(),
      ),
    support: () => cache.support,
    failedToStop: (error) => expect.unreachable(String(error)),
  });
  onTestFinished(async () => {
    await shared.close();
    await children.stopAll({ term: 0, kill: 500 });
  });
  return { shared, cache, processes: () => children.size, join: (era: Era) => member(shared, era) };
}

/** A gateway with one client. */
function member(shared: SharedSource, era: Era) {
  const source = shared.join(era);
  const client = new TestClient({}, era === 'modern');
  const heard: string[] = [];
  const updated: unknown[] = [];
  const listener: SourceListener = {
    started: () => void heard.push('started'),
    failed: () => void heard.push('failed'),
    stopped: () => void heard.push('stopped'),
    changed: (kind) => void heard.push(`changed ${kind}`),
    notified: (notification) => void updated.push(JSON.parse(notification.toString())),
    requested: () => undefined,
    inUse: () => false,
  };
  source.listen(listener);
  const send = (tool: string, args?: object): Sent => client.tool(source, tool, args);
  return { source, client, heard, updated, send, spoken: () => eraSpoken(send('params')) };
}

/** The era in which a call reached the server. */
async function eraSpoken({ answer }: Sent): Promise<Era> {
  return parsedText(await answer)._meta?.[VERSION] === undefined ? 'legacy' : 'modern';
}

const program = (...args: string[]): UpstreamServer['target'] => ({
  kind: 'process',
  command: process.execPath,
  args: ['test/servers/modern.mjs', ...args],
  cwd: process.cwd(),
  env: () => process.env as Record<string, string>,
  shown: { command: 'node', cwd: '.' },
  framing: 'newline',
});
const remote = (url: string): UpstreamServer['target'] => ({
  kind: 'remote',
  transport: 'http',
  url,
  shown: { url },
  headers: {},
});

const KINDS = {
  old: { initialize: 'accept', discover: 'unknown' },
  new: {},
  both: { initialize: 'accept' },
} as const;
type Kind = keyof typeof KINDS;

const wires: [string, (kind: Kind) => Promise<UpstreamServer['target']>][] = [
  [
    'stdio',
    (kind) =>
      Promise.resolve(program(...Object.entries(KINDS[kind]).map(([name, value]) => `--${name}=${value}`))),
  ],
  ['HTTP', async (kind) => remote((await startModernServer(KINDS[kind])).url)],
];

const pidOf = ({ state }: Source): number => (state as { pid: number }).pid;

describe.each(wires)('over %s', (wire, target) => {
  test.each([
    ['legacy', 'modern'],
    ['modern', 'legacy'],
  ] as const)('a server of both eras speaks to each client in its own, %s first', async (first, second) => {
    const { join, processes, cache } = share(await target('both'));
    const [one, two] = [join(first), join(second)];
    expect([await one.spoken(), await two.spoken(), await one.spoken()]).toEqual([first, second, first]);
    expect(processes()).toBe(wire === 'stdio' ? 2 : 0);
    expect(cache.support).toEqual({ legacy: true, modern: true });
    // Another client requires no further process.
    expect(await join(second).spoken()).toBe(second);
    expect(processes()).toBe(wire === 'stdio' ? 2 : 0);
  });

  test.each([
    ['old', 'legacy'],
    ['new', 'modern'],
  ] as const)('a server that is %s has one connection, whichever client comes first', async (kind, era) => {
    for (const [first, second] of [
      ['legacy', 'modern'],
      ['modern', 'legacy'],
    ] as const) {
      const { join, processes } = share(await target(kind));
      const [one, two] = [join(first), join(second)];
      expect([await one.spoken(), await two.spoken()]).toEqual([era, era]);
      expect(one.source.state).toBe(two.source.state);
      await until(() => processes() === (wire === 'stdio' ? 1 : 0));
      expect([one.heard, two.heard].flat()).not.toContain('failed');
      expect([one.source.problem, two.source.problem]).toEqual([undefined, undefined]);
      expect((await two.source.list('tools')).byKey.has('params')).toBe(true);
    }
  });

  test.each(['old', 'new', 'both'] as const)(
    'clients of both eras that come at the same time are served by a server that is %s',
    async (kind) => {
      const { join, processes } = share(await target(kind));
      const [one, two] = [join('legacy'), join('modern')];
      const lists = [one.source.list('tools'), two.source.list('tools')];
      const calls = [one.spoken(), two.spoken(), one.spoken(), two.spoken()];
      const [old, modern] =
        kind === 'both' ? ['legacy', 'modern'] : kind === 'old' ? ['legacy', 'legacy'] : ['modern', 'modern'];
      expect(await Promise.all(calls)).toEqual([old, modern, old, modern]);
      for (const list of lists) expect((await list).byKey.has('params')).toBe(true);
      if (wire === 'stdio') await until(() => processes() === (kind === 'both' ? 2 : 1));
    },
  );
});

test('the end of one process is nothing to the clients of the other', async () => {
  const { join } = share(program('--initialize=accept'));
  const [one, two] = [join('legacy'), join('modern')];
  await Promise.all([one.spoken(), two.spoken()]);
  const running = two.send('wait');
  process.kill(pidOf(one.source), 'SIGKILL');
  await until(() => one.source.state.kind === 'crashed');
  expect(two.source.state.kind).toBe('running');
  expect(two.heard).toEqual(['started']);
  expect(running.call.open).toBe(true);
  expect(await one.spoken()).toBe('legacy');
  running.call.cancel(undefined);
});

test('an idle process of one era is stopped while the other is used', async () => {
  const { join, processes } = share(program('--initialize=accept'), { timeouts: { idleMs: 300 } });
  const [one, two] = [join('legacy'), join('modern')];
  await Promise.all([one.spoken(), two.spoken()]);
  const running = two.send('wait');
  await until(() => processes() === 1);
  expect([one.source.state.kind, two.source.state.kind]).toEqual(['idle', 'running']);
  running.call.cancel(undefined);
});

test('where no second process may be started, the first serves all clients', async () => {
  const { join, processes } = share(program('--initialize=accept'), { most: 1 });
  const [one, two] = [join('legacy'), join('modern')];
  expect([await one.spoken(), await two.spoken()]).toEqual(['legacy', 'legacy']);
  expect((await two.source.list('tools')).byKey.has('params')).toBe(true);
  expect(processes()).toBe(1);
});

test('a server that has lost an era is used in the other one, and in both once a new version has it again', async () => {
  const eras = scratchFile('eras');
  writeFileSync(eras, 'both 1');
  const { join, shared, cache, processes } = share(program(`--eras=${eras}`));
  const [one, two] = [join('legacy'), join('modern')];
  expect([await one.spoken(), await two.spoken()]).toEqual(['legacy', 'modern']);
  writeFileSync(eras, 'legacy 1');
  await shared.replace({ reason: 'for the test' });
  expect([await one.spoken(), await two.spoken()]).toEqual(['legacy', 'legacy']);
  expect(cache.support).toEqual({ legacy: true, modern: false });
  await until(() => processes() === 1);
  writeFileSync(eras, 'both 2');
  await shared.replace({ reason: 'for the test' });
  expect(await one.spoken()).toBe('legacy');
  expect(await two.spoken()).toBe('modern');
  // The replaced process may still be exiting.
  await until(() => processes() === 2);
});

test.each(['new', 'both'] as const)(
  'a resource that one client is subscribed to is told of once by a server that is %s',
  async (kind) => {
    const { join } = share(remote((await startModernServer(KINDS[kind])).url));
    const [older, modern] = [join('legacy'), join('modern')];
    await older.spoken();
    // As the router does.
    modern.source.subscriptions!.add('mem://one', modern.client.session, 'mem://one');
    await modern.client.send(modern.source, 'resources/subscribe', { uri: 'mem://one' }).answer;
    await older.send('touch', { uri: 'mem://one' }).answer;
    await until(() => older.updated.length + modern.updated.length > 0);
    expect(older.updated.length + modern.updated.length).toBe(1);
    expect(modern.source.subscriptions!.has('mem://one', modern.client.session)).toBe(true);
  },
);

test('a client that comes to the other connection takes its subscriptions along', async () => {
  const eras = scratchFile('eras');
  writeFileSync(eras, 'both');
  const { join, shared } = share(program(`--eras=${eras}`));
  const [older, modern] = [join('legacy'), join('modern')];
  await Promise.all([older.spoken(), modern.spoken()]);
  older.source.subscriptions!.add('mem://one', older.client.session, 'mem://one');
  expect(modern.source.subscriptions!.size).toBe(0);
  writeFileSync(eras, 'modern');
  await shared.replace({ reason: 'for the test' });
  expect([await modern.spoken(), await older.spoken()]).toEqual(['modern', 'modern']);
  expect(older.source.subscriptions).toBe(modern.source.subscriptions);
  await until(async () => {
    await modern.send('touch', { uri: 'mem://one' }).answer;
    return older.updated.length + modern.updated.length > 0;
  });
});
