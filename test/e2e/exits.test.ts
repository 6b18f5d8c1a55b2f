import { expect, test } from 'vitest';
import { processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startGateway } from '../helpers/gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { startEveryProcessShape } from '../helpers/process-shapes.ts';

test('SIGKILL of the gateway leaves no process of any shape after 2 s', async () => {
  const { client } = await startEveryProcessShape();
  await client.kill('SIGKILL');
  await waitUntilGone(client.marker, 2000);
});

test.each(['SIGTERM', 'SIGINT', 'end of input'] as const)(
  '%s leaves no process of any shape after 6 s',
  async (how) => {
    const { client } = await startEveryProcessShape();
    const exit = how === 'end of input' ? await client.close() : await client.kill(how);
    expect(exit.code).toBe(0);
    expect(exit.ms).toBeLessThan(6500);
    expect(processesWith(client.marker)).toEqual([]);
  },
);

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
  await waitUntilGone(client.marker, 2000);
});
