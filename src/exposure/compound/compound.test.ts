import { expect, test } from 'vitest';
import { Gateway, type CatalogEntry } from '../../gateway/index.ts';
import { ask, sendToolCall, exposureCases, recordingSource, SAMPLE_TOOLS } from '../exposure.cases.ts';
import { flat } from '../flat/flat.ts';
import { hidden } from '../hidden.ts';
import { compound } from './compound.ts';

const SETTINGS = {
  name: 'Work',
  description: 'Does the work.',
  summaryMaxChars: 160,
  subtools: [
    {
      server: 'files',
      tools: [{ name: 'read', description: 'Opens it' }, { name: 'write' }, { name: 'gone' }],
    },
    { server: 'absent', tools: [{ name: 'x' }] },
  ],
};

function gatewayOf(entry: Partial<CatalogEntry> = {}): Gateway {
  return new Gateway({
    overall: [compound(SETTINGS)],
    entries: [
      {
        source: recordingSource('files', SAMPLE_TOOLS),
        rules: { allows: () => true, overrides: new Map() },
        offers: new Set(['tools']),
        naming: 'plain',
        ...entry,
        exposure: hidden,
      },
    ],
  });
}

const listed = (gateway: Gateway) => ask(gateway, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
const call = (args: string) => `{"name":"Work","arguments":${args}}`;

exposureCases('compound', {
  gateway: (entry) => gatewayOf(entry),
  call: (tool, args) => call(`{"server":"files","tool":"${tool}","args":${args}}`),
  told: listed,
});

test('one tool that says what it is for and lists its subtools compactly', async () => {
  const { tools } = JSON.parse(await listed(gatewayOf())) as {
    tools: { name: string; description: string; inputSchema: object }[];
  };
  expect(tools).toHaveLength(1);
  expect(tools[0]!.description).toMatch(/^Does the work\.\n/);
  expect(tools[0]!.description).toContain('- files/read: Opens it');
  expect(tools[0]!.description).not.toContain('absent');
  expect(tools[0]!.inputSchema).toMatchObject({
    properties: { server: { enum: ['files'] }, args: { type: 'object' } },
    required: ['server', 'tool'],
  });
});

test('errors name what is missing or unknown, and the next step', async () => {
  const gateway = gatewayOf();
  const said = (args: string) => sendToolCall(gateway, call(args));
  expect(await said('{"tool":"read"}')).toMatch(/Work needs a server.*"server":"files","tool":"read"/);
  expect(await said('{"server":"files"}')).toMatch(/Work needs a tool/);
  expect(await said('{"server":7,"tool":"read"}')).toMatch(/Work needs a server/);
  expect(await said('{"server":"file","tool":"read"}')).toMatch(/no server 'file'.*Did you mean "files"/);
  expect(await said('{"server":"files","tool":"reed"}')).toMatch(/no tool 'reed' of server 'files'.*"read"/);
  expect(await said('{"server":"files","tool":"gone"}')).toMatch(/Server 'files' has no tool 'gone'/);
});

test('a server that is not there costs its own subtools only', async () => {
  const gateway = gatewayOf();
  expect(await sendToolCall(gateway, call('{"server":"absent","tool":"x"}'))).toMatch(
    /no server 'absent' is configured/,
  );
  expect(await sendToolCall(gateway, call('{"server":"files","tool":"read"}'))).toBe('{"content":[]}');
});

test('a compound tool can call tools that clients cannot call directly', async () => {
  const gateway = gatewayOf({ rules: { allows: () => false, overrides: new Map() } });
  expect(await sendToolCall(gateway, call('{"server":"files","tool":"read"}'))).toBe('{"content":[]}');
  expect(await sendToolCall(gateway, '{"name":"read"}')).toMatch(/Unknown tool/);
});

test('preset arguments are not described to the client', async () => {
  const gateway = new Gateway({
    overall: [compound(SETTINGS)],
    entries: [
      {
        source: recordingSource('files', SAMPLE_TOOLS),
        rules: { allows: () => true, overrides: new Map([['read', { presets: { key: 'secret' } }]]) },
        offers: new Set(['tools']),
        naming: 'prefixed',
        // Exposed flat, so that its list is known.
        exposure: flat('prefixed'),
      },
    ],
  });
  const { tools } = JSON.parse(await listed(gateway)) as { tools: { name: string; description: string }[] };
  const { description } = tools.find(({ name }) => name === 'Work')!;
  expect(description).toMatch(/- files\/read .*path.*: Opens it/);
  expect(description).not.toMatch(/key|secret/);
});
