import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { startGateway } from '../helpers/gateway.ts';

/** The sample project of the build plan: the mock child in mcps/mock, found by the default patterns, no configuration. */
function sampleProject() {
  return createProject({
    'mcps/mock/.mcp.json': {
      name: 'mock',
      description: 'A mock child.',
      command: { cmd: 'node', args: [join(ROOT, 'examples/mock-child/index.mjs')] },
    },
  });
}

const call = (client: RawClient, args: object) =>
  client.request('tools/call', { name: 'mock_suite', arguments: args });

describe('a host that frames with Content-Length', () => {
  test('the manual success of the build plan', async () => {
    const client = startClient({ cwd: sampleProject().dir, framing: 'content-length' });
    const { result: hello } = await client.request('initialize', {});
    expect(hello).toMatchObject({
      name: 'switchboard',
      capabilities: {},
      serverInfo: { name: 'switchboard' },
    });
    expect(typeof hello.protocolVersion).toBe('string');
    const { result: list } = await client.request('tools/list');
    expect(list.tools.map((tool: any) => tool.name)).toEqual(['mock_suite']);
    const { result: inside } = await call(client, { action: 'introspect' });
    expect(inside.tools.map((tool: any) => tool.name)).toContain('click');
    const { result } = await call(client, { action: 'call', subtool: 'click', args: { selector: '#btn' } });
    expect(result).toMatchObject({ ok: true, name: 'click', args: { selector: '#btn' } });
    expect(JSON.parse(result.content[0].text)).toEqual({
      ok: true,
      name: 'click',
      args: { selector: '#btn' },
    });
    const { code } = await client.close();
    expect(code).toBe(0);
  });

  test('may list without initialize, and gets −32601 and −32000 as the plan says', async () => {
    const client = startClient({ cwd: sampleProject().dir, framing: 'content-length' });
    const { result } = await client.request('tools/list');
    expect(result.tools).toHaveLength(1);
    expect((await client.request('no/such')).error?.code).toBe(-32601);
    const wrong = await call(client, { action: 'call', subtool: 'clic' });
    expect(wrong.error?.code).toBe(-32000);
    expect(wrong.error?.message).toContain(`Server 'mock' has no subtool 'clic'. Did you mean "click"`);
  });

  test('headers in any case, split anywhere, several messages in one write, bodies with line breaks', async () => {
    const client = startClient({ cwd: sampleProject().dir, framing: 'content-length' });
    const frame = (message: object, header = 'Content-Length', indent = 0) => {
      const body = JSON.stringify(message, null, indent);
      return Buffer.from(`${header}: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    };
    const ping = (id: number | string) => ({ jsonrpc: '2.0', id, method: 'ping' });
    const answers = [1, 2, 'ü', 4].map((id) => client.answerTo(id));
    client.sendRaw(Buffer.concat([frame(ping(1)), frame(ping(2), 'content-LENGTH', 2)]));
    for (const byte of frame(ping('ü'))) client.sendRaw(Buffer.of(byte));
    const extra = JSON.stringify(ping(4));
    client.sendRaw(`Content-Type: application/json\r\nContent-Length: ${extra.length}\r\n\r\n${extra}`);
    for (const answer of await Promise.all(answers)) expect(answer.result).toEqual({});
  });

  test('a header block without Content-Length is an error, and the next message is read', async () => {
    const client = startClient({ cwd: sampleProject().dir, framing: 'content-length' });
    await client.request('initialize', {});
    client.sendRaw('X-Nothing: 1\r\n\r\n');
    await client.waitFor((message) => message.error?.code === -32700 && message.id === null);
    expect((await client.request('ping')).result).toEqual({});
  });
});

const DUMP = 'Content-Length: 5000000\r\nContent-Type: text/html\r\n\r\n';

test.each(['newline', 'content-length'] as const)(
  'a host that prints the head of an HTTP response is heard after it: %s',
  async (framing) => {
    const client = startClient({ cwd: sampleProject().dir, framing });
    if (framing === 'newline') client.sendRaw(DUMP);
    await client.request('initialize', {});
    client.sendRaw(framing === 'newline' ? DUMP : `${DUMP}<html>`);
    for (let i = 0; i < 3; i++) expect((await client.request('ping')).result).toEqual({});
  },
);

test('the same session with a newline host', async () => {
  const client = startClient({ cwd: sampleProject().dir });
  await client.initialize();
  expect((await client.listTools()).map((tool: any) => tool.name)).toEqual(['mock_suite']);
  const { result: inside } = await call(client, { action: 'introspect' });
  expect(inside.structuredContent.tools.map((tool: any) => tool.name)).toContain('click');
  const { result } = await call(client, { action: 'call', subtool: 'click', args: { selector: '#btn' } });
  expect(JSON.parse(result.content[0].text)).toEqual({ ok: true, name: 'click', args: { selector: '#btn' } });
});

test.each([[], ['--split'], ['--lowercase'], ['--extra-headers']])(
  'a child that frames with Content-Length works when the configuration says so %s',
  async (...flags) => {
    const { call } = await startGateway({
      framed: { ...nodeServer('framed', ...flags), framing: 'content-length' },
    });
    expect((await call('framed', 'echo', { text: 'grüezi' })).result.content[0].text).toBe('grüezi');
    const big = await call('framed', 'big', { bytes: 300_000 });
    expect(big.result.content[0].text).toHaveLength(300_000);
  },
);

test('a child that frames with Content-Length may print an HTTP response', async () => {
  const framed = { ...nodeServer('framed'), framing: 'content-length' };
  const { call: callServer } = await startGateway({ framed });
  for (let i = 0; i < 3; i++) expect(textOf(await callServer('framed', 'http_dump'))).toBe('dumped');
  expect(textOf(await callServer('framed', 'echo', { text: 'heard' }))).toBe('heard');
});

test('a child that frames with Content-Length is found out when it stays silent', async () => {
  const { call, client } = await startGateway(
    { framed: nodeServer('framed') },
    { config: { timeouts: { childSpawnMs: 5000 } } },
  );
  expect((await call('framed', 'echo', { text: 'found' })).result.content[0].text).toBe('found');
  await client.waitForStderr(/speaks Content-Length framing/);
});
