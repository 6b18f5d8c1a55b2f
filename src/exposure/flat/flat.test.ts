import { describe, expect, test } from 'vitest';
import { Gateway, type Naming } from '../../gateway/index.ts';
import { ask, sendToolCall, exposureCases, recordingSource, SAMPLE_TOOLS } from '../exposure.cases.ts';
import { flat } from './flat.ts';

const listed = (gateway: Gateway) => ask(gateway, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');

describe('plain', () => {
  exposureCases('flat', {
    gateway: (entry) => new Gateway({ entries: [{ ...entry, exposure: flat('plain'), naming: 'plain' }] }),
    call: (tool, args) => `{"name":"${tool}","arguments":${args}}`,
    told: listed,
  });
});

describe('prefixed', () => {
  exposureCases('flat', {
    gateway: (entry) =>
      new Gateway({ entries: [{ ...entry, exposure: flat('prefixed'), naming: 'prefixed' }] }),
    call: (tool, args) => `{"name":"files__${tool}","arguments":${args}}`,
    told: listed,
  });
});

function gatewayOf(naming: Naming, ...servers: [name: string, tools: string[]][]) {
  return new Gateway({
    entries: servers.map(([name, tools]) => ({
      source: recordingSource(name, tools),
      rules: { allows: () => true, overrides: new Map() },
      offers: new Set(['tools'] as const),
      exposure: flat(naming),
      naming,
    })),
  });
}

test('plain: every field is kept, the server is named before the description', async () => {
  const text = await listed(gatewayOf('plain', ['S', [SAMPLE_TOOLS[0]!]]));
  expect(text).toBe(`{"tools":[${SAMPLE_TOOLS[0]!.replace('Reads a file.', '[S] Reads a file.')}]}`);
});

test('prefixed: only the name changes', async () => {
  const text = await listed(gatewayOf('prefixed', ['S', [SAMPLE_TOOLS[0]!]]));
  expect(text).toBe(`{"tools":[${SAMPLE_TOOLS[0]!.replace('"read"', '"S__read"')}]}`);
});

test('plain: of two equal names the first in the configuration keeps its own, and each runs its own', async () => {
  const gateway = gatewayOf(
    'plain',
    ['A', ['{"name":"same"}']],
    ['B', ['{"name":"same"}', '{"name":"B__same"}']],
  );
  await listed(gateway);
  expect(gateway.tools.map(({ name, source }) => [name, source])).toEqual([
    ['same', 'A'],
    ['B__same', 'B'],
    ['B__B__same', 'B'],
  ]);
  await sendToolCall(gateway, '{"name":"B__same"}');
  const sent = gateway.catalog.entries.map(({ source }) => (source as unknown as { sent: string[] }).sent);
  expect(sent[0]).toEqual([]);
  expect(sent[1]?.[0]).toContain('"name":"same"');
});

test('names are valid, at most 64 characters, and the same every time', async () => {
  const long = 'x'.repeat(80);
  const tools = [`{"name":"${long}"}`, '{"name":"sp ace/ü"}', '{"name":"ok"}'];
  const names = async () => {
    const gateway = gatewayOf('prefixed', ['my server', tools], ['S', tools]);
    await listed(gateway);
    return gateway.tools.map((tool) => tool.name);
  };
  const first = await names();
  for (const name of first) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  expect(new Set(first).size).toBe(6);
  expect(await names()).toEqual(first);
  expect(first).toContain('S__ok');
});
