import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

const PLACES = Math.max(2, availableParallelism());

/** The most servers that were starting at the same moment, by the gateway's log. */
function mostAtOnce(log: string): number {
  let most = 0;
  let now = 0;
  for (const [, what] of log.matchAll(/ (spawned|running) server=/g)) {
    now += what === 'spawned' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

test.skipIf(PLACES > 16)(
  'no more servers start at a time than there are processors, and all of them come up',
  async () => {
    const names = Array.from({ length: PLACES + 4 }, (_, at) => `s${at}`);
    const { client, introspect } = await startGateway(
      Object.fromEntries(names.map((name) => [name, nodeServer('slow-start', '--busy-ms=200')])),
    );
    for (const answer of await Promise.all(names.map((name) => introspect(name))))
      expect(answer.result.isError).not.toBe(true);
    await client.waitForStderr(new RegExp(`(?: running server=[^]*){${names.length}}`));
    expect(mostAtOnce(client.stderr)).toBeGreaterThan(1);
    expect(mostAtOnce(client.stderr)).toBeLessThanOrEqual(PLACES);
  },
  60_000,
);

test.skipIf(PLACES > 16)(
  'servers that hang keep nobody waiting for their whole time',
  async () => {
    const hanging = Array.from({ length: PLACES + 1 }, (_, at) => `h${at}`);
    const { client, call, introspect } = await startGateway({
      ...Object.fromEntries(hanging.map((name) => [name, nodeServer('never-initialize')])),
      echo: nodeServer('echo'),
    });
    for (const name of hanging) void introspect(name).catch(() => undefined);
    await client.waitForStderr(new RegExp(`(?:spawned server=h[^]*){${PLACES}}`));
    expect(textOf(await call('echo', 'echo', { text: 'here' }))).toBe('here');
    expect(client.stderr).not.toContain('server failed');
  },
  60_000,
);

test('a server that frames with Content-Length is found out once, and not again in the next run', async () => {
  const servers = { framed: nodeServer('framed', '--strict') };
  const first = await startGateway(servers, { config: { timeouts: { childSpawnMs: 6000 } } });
  expect(textOf(await first.call('framed', 'echo', { text: 'found' }))).toBe('found');
  await first.client.waitForStderr(/warn.*framing.*content-length.*server=framed/i);
  await first.client.close();

  const { project } = first;
  const second = startClient({ cwd: project.dir, env: { SWITCHBOARD_STATE_DIR: project.path('.state') } });
  await second.initialize();
  const args = { action: 'call', subtool: 'echo', args: { text: 'again' } };
  expect(textOf(await second.call('framed_suite', args))).toBe('again');
  expect(second.stderr.match(/spawned server=framed/g)).toHaveLength(1);
  expect(second.stderr).not.toContain('trying again');
}, 60_000);

test('a server that works, or whose child works, is left alone until it responds', async () => {
  const servers = {
    busy: nodeServer('slow-start', '--busy-ms=3300'),
    parent: nodeServer('slow-start', '--child-ms=3300'),
  };
  // One that is idle would be asked again after 1.5 s, and started again after 3 s.
  const { client, call } = await startGateway(servers, { config: { timeouts: { childSpawnMs: 6000 } } });
  const names = Object.keys(servers);
  const answers = await Promise.all(names.map((name) => call(name, 'echo', { text: name })));
  expect(answers.map(textOf)).toEqual(names);
  expect(client.stderr.match(/spawned server=\w+/g)!.sort()).toEqual([
    'spawned server=busy',
    'spawned server=parent',
  ]);
  expect(client.stderr).not.toContain('Content-Length framing');
});
