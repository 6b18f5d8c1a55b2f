/** Servers that take long to start, in mcpmux: nobody waits longer than a host does, and none is lost. */
import { expect, test } from 'vitest';
import { startMux, TOOLS_CHANGED } from '../helpers/management.ts';
import { textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

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
