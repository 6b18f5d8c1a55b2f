import { expect, onTestFinished, test } from 'vitest';
import { LocalClient } from '../../gateway/index.ts';
import { createChildProcesses } from '../../process/index.ts';
import { Deadlines } from '../../shared/deadline.ts';
import { createLogger, silentLogger } from '../../shared/log.ts';
import { NO_CACHE, testUpstreamContext } from '../../../test/helpers/upstream-context.ts';
import type { Framing } from '../../wire/index.ts';
import { ServerSource } from '../source.ts';

interface Options {
  /** How long the server may take to start, in milliseconds. */
  readonly limit?: number;
  readonly callerMs?: number;
  /** The framing that is remembered from an earlier run. */
  readonly remembered?: Framing;
  readonly framing?: 'newline';
}

/** Starts a server of test/servers whose framing is not known. */
function started(server: string, args: readonly string[], options: Options = {}) {
  const children = createChildProcesses({ log: silentLogger });
  const log: string[] = [];
  const learned: { framing?: Framing }[] = [];
  const source = new ServerSource(
    {
      name: 'tested',
      target: {
        kind: 'process',
        command: process.execPath,
        args: [`test/servers/${server}.mjs`, ...args],
        cwd: process.cwd(),
        env: () => process.env as Record<string, string>,
        shown: { command: 'node', cwd: '.' },
        framing: options.framing ?? 'auto',
      },
      timeouts: { childSpawnMs: options.limit ?? 20_000, rpcMs: 20_000, callMaxMs: 60_000, idleMs: 'never' },
      limits: { messageBytes: 1 << 24, callsInFlight: 64, callsQueued: 100 },
    },
    testUpstreamContext(children, {
      log: createLogger({ level: 'info', program: 't', write: (line) => log.push(line) }),
      cache: {
        ...NO_CACHE,
        framing: options.remembered,
        learn: (facts) => void learned.push(facts),
      },
      callerMs: options.callerMs ?? Infinity,
    }),
    new Deadlines(),
  );
  onTestFinished(async () => {
    await source.close();
    await children.stopAll({ term: 0, kill: 500 });
  });
  const times = (what: string): number => log.filter((line) => line.includes(what)).length;
  return { source, learned, times, log, spawned: () => times('spawned') };
}

/** With this start timeout, the idle time before the server is asked again is less than the usual 3 s. */
const SHORT = 5000;

test('one that frames with Content-Length is asked so in the same process, and that is remembered', async () => {
  const { source, learned, times, spawned } = started('framed', [], { limit: SHORT });
  expect((await source.list('tools')).byKey.has('echo')).toBe(true);
  expect(spawned()).toBe(1);
  expect(times('trying again with Content-Length framing')).toBe(1);
  expect(times('speaks Content-Length framing')).toBe(1);
  expect(learned.at(-1)).toMatchObject({ framing: 'content-length' });
}, 30_000);

test.each(['--deaf', '--strict'])(
  'one that frames with Content-Length and reads nothing else is started once more (%s)',
  async (flag) => {
    const { source, spawned } = started('framed', [flag], { limit: SHORT });
    expect((await source.list('tools')).byKey.has('echo')).toBe(true);
    expect(spawned()).toBe(2);
  },
  30_000,
);

test('one that is remembered to frame with Content-Length is spoken to like that at once', async () => {
  const { source, times, spawned, log } = started('framed', ['--strict'], { remembered: 'content-length' });
  expect((await source.list('tools')).byKey.has('echo')).toBe(true);
  expect(spawned()).toBe(1);
  expect(times('trying again')).toBe(0);
  expect(log.join('')).not.toContain('in its entry');
});

test.each([[[]], [['--strict']]])(
  'one that is remembered so and has changed since is understood %j',
  async (args) => {
    const { source, learned } = started('slow-start', args, { remembered: 'content-length' });
    expect((await source.list('tools')).byKey.has('echo')).toBe(true);
    expect(learned.at(-1)).toMatchObject({ framing: 'newline' });
  },
);

test.each(['--busy-ms=2000', '--child-ms=2000'])(
  'one that is at work is neither asked again nor started again (%s)',
  async (how) => {
    const { source, times, spawned } = started('slow-start', [how], { limit: SHORT });
    expect((await source.list('tools')).byKey.has('echo')).toBe(true);
    expect([spawned(), times('trying again')]).toEqual([1, 0]);
  },
  30_000,
);

test('one that only waits for a while is asked again, and is there when it is done', async () => {
  const { source, times, spawned } = started('slow-start', ['--asked-twice'], { limit: SHORT });
  expect((await source.list('tools')).byKey.has('echo')).toBe(true);
  expect([spawned(), times('trying again')]).toEqual([1, 1]);
}, 30_000);

test('one that never answers is given up when its time is over, and next time is not asked twice', async () => {
  const { source, times } = started('never-initialize', [], { limit: 1500 });
  await expect(source.start()).rejects.toMatchObject({
    code: 'START_TIMEOUT',
    message: expect.stringMatching(
      /did not respond to initialize within 1\.[5-9] s\. It wrote: "not answering.*Content-Length framing was tried/s,
    ),
  });
  await expect(source.start()).rejects.toMatchObject({ code: 'START_TIMEOUT' });
  expect(times('trying again')).toBe(1);
}, 30_000);

test('what one has printed that hangs is told', async () => {
  const prints = '--prints=\u001b[32mListening on port 3000\u001b[0m';
  const { source } = started('slow-start', [prints, '--idle-ms=60000'], { limit: 1200, framing: 'newline' });
  await expect(source.start()).rejects.toThrow('It printed "Listening on port 3000" to stdout.');
});

test('a caller is told to come back while the start goes on, and is served by it then', async () => {
  const { source, spawned } = started('slow-start', ['--idle-ms=1500'], {
    callerMs: 400,
    framing: 'newline',
  });
  await expect(source.list('tools')).rejects.toMatchObject({
    code: 'STILL_STARTING',
    message: expect.stringMatching(/^Server 'tested' is still starting after \d\.\d s\./),
    hint: 'It continues to start; try again.',
  });
  const call = new LocalClient().request(source, 'tools/call', { name: 'echo', arguments: {} });
  await expect(call).rejects.toThrow(/was not run\. Server 'tested' is still starting after/);
  await source.start();
  expect((await source.list('tools')).byKey.has('echo')).toBe(true);
  expect(spawned()).toBe(1);
});
