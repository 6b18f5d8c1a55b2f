import { describe, expect, onTestFinished, test } from 'vitest';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { ownState, startGateway, type TestGateway } from '../helpers/gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { startEveryProcessShape } from '../helpers/process-shapes.ts';
import { until } from '../helpers/until.ts';
import { reapersOf } from '../servers/shapes/watch.ts';

test('SIGKILL of the gateway leaves no process of any shape when its reaper is done', async () => {
  const { client } = await startEveryProcessShape();
  const reapers = reapersOf(client.pid!);
  expect(reapers).toHaveLength(1);
  await client.kill('SIGKILL');
  await until(() => !reapers.some(alive), { what: 'the reaper to be done', deadline: 30_000 });
  expect(processesWith(client.marker)).toEqual([]);
});

test.each(['SIGTERM', 'SIGINT', 'end of input'] as const)(
  '%s leaves no process of any shape',
  async (how) => {
    const { client } = await startEveryProcessShape();
    const exit = how === 'end of input' ? await client.close() : await client.kill(how);
    expect(exit.code).toBe(0);
    // Six seconds where nothing else runs; without its limits, it would wait for servers that never end.
    expect(exit.ms).toBeLessThan(30_000);
    expect(processesWith(client.marker)).toEqual([]);
  },
);

describe('a helper with an environment of its own, in the session of its server,', () => {
  /** A server that starts such a helper before anything else. */
  const withHelper = async (): Promise<TestGateway & { readonly helper: number }> => {
    const start = 'env -i sleep 600 </dev/null >/dev/null 2>&1 & echo $! >helper; exec "$@"';
    const { command, args } = nodeServer('crash');
    const gateway = await startGateway({
      crash: { command: '/bin/sh', args: ['-c', start, 'sh', command, ...args] },
    });
    await gateway.call('crash', 'pid');
    const helper = Number(gateway.project.read('helper'));
    onTestFinished(() => {
      if (alive(helper)) process.kill(helper, 'SIGKILL');
    });
    expect(alive(helper)).toBe(true);
    return { ...gateway, helper };
  };

  test('ends after a crash of the server', async () => {
    const { call, helper } = await withHelper();
    await call('crash', 'crash');
    await until(() => !alive(helper), { what: 'the helper to be gone' });
  });

  test('ends after SIGKILL of the gateway', async () => {
    const { client, helper } = await withHelper();
    await client.kill('SIGKILL');
    await until(() => !alive(helper), { what: 'the helper to be gone' });
  });
});

describe('the reaper', () => {
  test('is started again at once when it was killed', async () => {
    const { client } = await startEveryProcessShape();
    const [first = 0] = reapersOf(client.pid!);
    process.kill(first, 'SIGKILL');
    await until(() => reapersOf(client.pid!).some((pid) => pid !== first), { what: 'another reaper' });
    // The system shows it before the gateway has told it what to end; a gateway that responds has.
    await client.request('ping');
    await client.kill('SIGKILL');
    await waitUntilGone(client.marker);
  });

  test('killed together with its gateway, leaves its work to the next one', async () => {
    const { client, project } = await startEveryProcessShape();
    const [reaper = 0] = reapersOf(client.pid!);
    // Stopped, so that it cannot start its reaper again.
    client.signal('SIGSTOP');
    process.kill(reaper, 'SIGKILL');
    await client.kill('SIGKILL');
    expect(processesWith(client.marker)).not.toEqual([]);
    await startGateway({}, { env: ownState(project) });
    await waitUntilGone(client.marker);
  });
});

test('a bug in the gateway itself ends it with its children, and says so', async () => {
  // A stranger's error in our process, at a moment we choose: the closest there is to a bug of our own.
  const bug = `data:text/javascript,${encodeURIComponent('process.on("SIGUSR2",()=>{throw new Error("planted")})')}`;
  const { client, call } = await startGateway(
    { stubborn: { ...nodeServer('stubborn'), env: { NODE_OPTIONS: '' } } },
    { env: { NODE_OPTIONS: `--import=${bug}` } },
  );
  await call('stubborn', 'pid');
  client.signal('SIGUSR2');
  expect((await client.exited).code).toBe(70);
  expect(client.stderr).toContain('planted');
  await waitUntilGone(client.marker);
});
