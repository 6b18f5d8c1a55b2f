import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { startClient } from '../helpers/raw-client.ts';
import { npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const EVERYTHING = npmServer('everything');

/** What server-everything lists for a client that can do this, spoken to without a gateway. */
async function directly(capabilities: object): Promise<string[]> {
  const client = startClient({ command: EVERYTHING.command, args: EVERYTHING.args });
  await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities,
    clientInfo: { name: 'test', version: '1' },
  });
  client.notify('notifications/initialized');
  // The last thing it does of its own: by then it has registered everything.
  if ('roots' in capabilities) await client.waitFor((message) => message.method === 'roots/list');
  const tools = await client.listTools();
  // It does not end by itself while it waits for its client.
  await client.kill('SIGKILL');
  return tools.map((tool: { name: string }) => tool.name).sort();
}

test.each([
  ['nothing', {}],
  ['roots', { roots: { listChanged: true } }],
  ['everything', { roots: {}, sampling: {}, elicitation: { form: {}, url: {} } }],
])('a server lists for a client that can do %s what it lists without a gateway', async (_, capabilities) => {
  const expected = await directly(capabilities);
  const { client } = await startGateway(
    { everything: EVERYTHING },
    { config: { exposure: 'flat', naming: 'plain' }, capabilities },
  );
  // It registers some of its tools only after it has been greeted, and says so.
  await until(
    async () => {
      const tools = (await client.listTools()).map((tool: { name: string }) => tool.name).sort();
      return JSON.stringify(tools) === JSON.stringify(expected);
    },
    { what: `the list of ${expected.length} tools` },
  );
});

test('the more a client can do, the more tools the server lists', async () => {
  const [few, many] = [await directly({}), await directly({ roots: {}, sampling: {}, elicitation: {} })];
  expect(many.length).toBeGreaterThan(few.length);
});
