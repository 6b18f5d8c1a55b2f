/** The first list has everything, up to timeouts.firstListMs; a server that hangs holds up nothing after it. */
import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { textOf, type RawClient } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

const flat = (...server: Parameters<typeof nodeServer>) => ({ ...nodeServer(...server), exposure: 'flat' });
const fast = flat('offering', '--quiet', '--tools=quick');
const hung = flat('never-initialize');
const compound = {
  Work: { description: 'Works.', subtools: { fast: { tools: [{ name: 'quick' }] } } },
};

const tools = async (client: RawClient): Promise<string[]> =>
  (await client.listTools()).map(({ name }) => name as string);

test('neither a fast server, nor a suite, nor a compound tool ends the wait for a slow one', async () => {
  const { client } = await startGateway(
    { fast, slow: flat('slow', '--initialize-ms=3500'), boxed: nodeServer('echo') },
    { config: { tools: compound } },
  );
  const seen = await tools(client);
  expect(seen).toEqual(expect.arrayContaining(['Work', 'fast__quick', 'boxed_suite', 'slow__echo']));
  expect(client.notifications.map(({ method }) => method)).not.toContain('notifications/tools/list_changed');
});

test('the wait ends at its limit; later lists and calls to others do not wait at all', async () => {
  const { client } = await startGateway({ fast, hung }, { config: { timeouts: { firstListMs: 1500 } } });
  const asked = performance.now();
  const first = tools(client);
  // A call to another server is not held up by the list that waits.
  expect(textOf(await client.call('fast__quick'))).toMatch(/ran quick/);
  expect(await first).toEqual(['fast__quick']);
  expect(performance.now() - asked).toBeGreaterThan(1400);
  expect(client.stderr).not.toMatch(/server failed/);
  const again = performance.now();
  expect(await tools(client)).toEqual(['fast__quick']);
  expect(performance.now() - again).toBeLessThan(1000);
});

test('a server that fails ends the wait for it', async () => {
  const { client } = await startGateway({ fast, broken: flat('no-such-server') });
  const asked = performance.now();
  expect(await tools(client)).toEqual(['fast__quick']);
  expect(performance.now() - asked).toBeLessThan(9000);
});

test('with a limit of 0 the first list does not wait, and later tools are announced', async () => {
  const { client } = await startGateway(
    { slow: flat('slow', '--initialize-ms=300') },
    { config: { timeouts: { firstListMs: 0 } } },
  );
  expect(await tools(client)).toEqual([]);
  await client.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  expect(await tools(client)).toContain('slow__echo');
});
