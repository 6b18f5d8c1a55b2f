import { describe, expect, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import { overHttp, parsedText, startModernServer, TestClient } from '../modern/modern.cases.ts';
import { Client, CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { ToolHeaders } from '../modern/tool-headers.ts';
import { inHeader } from './modern-headers.ts';
import { json, open, result, serve } from './remote-transport.cases.ts';

describe('a text in a header', () => {
  test.each([
    ['us-west1', 'us-west1'],
    ['two words', 'two words'],
    ['', ''],
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['tab\tbed', `=?base64?${Buffer.from('tab\tbed').toString('base64')}?=`],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('%j goes as %j', (value, header) => {
    expect(inHeader(value)).toBe(header);
  });
});

describe('the headers of a request and its body, as posted,', () => {
  const names = ['plain', 'two words', 'pâ€😀', ' padded ', '=?base64?x?=', 'q"\\/\n\u0001'];
  const keys = {
    'tools/call': 'name',
    'prompts/get': 'name',
    'resources/read': 'uri',
    'tasks/get': 'taskId',
  } as const;
  const decoded = (header: unknown): string => {
    const [, base64] = /^=\?base64\?(.*)\?=$/.exec(String(header)) ?? [];
    return base64 === undefined ? String(header) : Buffer.from(base64, 'base64').toString();
  };

  test.each(Object.entries(keys))('name the same in %s', async (method, key) => {
    const server = await serve((seen, response) => json(response, result(seen.message.id)));
    const rig = open(server.url);
    rig.write({ jsonrpc: '2.0', id: 1, method: 'server/discover' });
    await rig.answer(1);
    let id = 1;
    const check = async (name: string): Promise<void> => {
      await rig.answer(id);
      const { headers, message } = server.seen.at(-1)!;
      expect(message).toMatchObject({ id, method, params: { [key]: name } });
      expect(headers['mcp-method']).toBe(message.method);
      expect(decoded(headers['mcp-name'])).toBe(message.params[key]);
    };
    for (const name of names) {
      // As received, with every character escaped.
      const units = Array.from({ length: name.length }, (_, at) => name.charCodeAt(at));
      const escaped = units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
      const text = `{"jsonrpc":"2.0","id":0,"method":"${method}","params":{"a":1,"${key}" : "${escaped}"}}`;
      const request = Message.fromText(text, CLIENT_SHAPE);
      rig.transport.messages.forwardRequest(++id, request, []);
      await check(name);
      // Renamed, with another member after it, as for the tool of a suite.
      const at = { start: request.start(Client[key]), end: request.end(Client[key]) };
      const behind = { start: at.end, end: at.end, with: ',"arguments":{"name":"x","uri":"y"}' };
      rig.transport.messages.forwardRequest(++id, request, [
        { ...at, with: JSON.stringify(`${name}-2`) },
        behind,
      ]);
      await check(`${name}-2`);
      // From another message.
      const other = Message.from({ params: { [key]: name } }, CLIENT_SHAPE);
      const excerpt = { of: other.bytes, start: other.start(Client[key]), end: other.end(Client[key]) };
      rig.transport.messages.forwardRequest(++id, request, [{ ...at, with: excerpt }]);
      await check(name);
      // One of our own requests.
      const own = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { [key]: name } });
      rig.transport.messages.sendText(own, { kind: 'request', id, method });
      await check(name);
    }
  });

  test('contain the same parameters, whatever edits made them', async () => {
    const server = await serve((seen, response) => json(response, result(seen.message.id)));
    const headers = new ToolHeaders();
    const inputSchema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    headers.learn('located', JSON.stringify({ name: 'located', inputSchema }));
    const rig = open(server.url, { headers });
    rig.write({ jsonrpc: '2.0', id: 1, method: 'server/discover' });
    const text = '{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"suite"}}';
    const request = Message.fromText(text, CLIENT_SHAPE);
    const at = { start: request.start(Client.name), end: request.end(Client.name) };
    const args = { start: at.end, end: at.end, with: ',"arguments":{"region":"Zürich"}' };
    rig.transport.messages.forwardRequest(2, request, [{ ...at, with: '"located"' }, args]);
    await rig.answer(2);
    const seen = server.seen.at(-1)!;
    expect(seen.message.params).toEqual({ name: 'located', arguments: { region: 'Zürich' } });
    expect(decoded(seen.headers['mcp-param-region'])).toBe('Zürich');
  });
});

test('every request says in headers what its body says', async () => {
  const endpoint = await startModernServer();
  const { source } = overHttp(endpoint.url);
  const client = new TestClient();
  const sent = (): any => endpoint.seen.at(-1);
  await source.list('tools');
  expect(sent().headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' });
  expect(sent().headers).not.toHaveProperty('mcp-name');
  await client.tool(source, 'params').answer;
  expect(sent().headers).toMatchObject({ 'mcp-method': 'tools/call', 'mcp-name': 'params' });
  await client.tool(source, 'pârams').answer;
  expect(sent().headers['mcp-name']).toBe(`=?base64?${Buffer.from('pârams').toString('base64')}?=`);
  await client.send(source, 'prompts/get', { name: 'greet' }).answer;
  expect(sent().headers).toMatchObject({ 'mcp-method': 'prompts/get', 'mcp-name': 'greet' });
  await client.send(source, 'resources/read', { uri: 'mem://one' }).answer;
  expect(sent().headers).toMatchObject({ 'mcp-method': 'resources/read', 'mcp-name': 'mem://one' });
  await client.send(source, 'tasks/get', { taskId: 't-1' }).answer;
  expect(sent().headers).toMatchObject({ 'mcp-method': 'tasks/get', 'mcp-name': 't-1' });
});

test('parameters that a tool wants in headers go there, and the others do not', async () => {
  const endpoint = await startModernServer();
  const { source } = overHttp(endpoint.url);
  await source.list('tools');
  const client = new TestClient();
  const located = async (args: object): Promise<any> => {
    const answer = await client.tool(source, 'located', args).answer;
    expect(parsedText(answer)).toEqual(args);
    return endpoint.seen.at(-1)!.headers;
  };
  expect(await located({ region: 'Zürich', deep: { size: 7 } })).toMatchObject({
    'mcp-param-region': `=?base64?${Buffer.from('Zürich').toString('base64')}?=`,
    'mcp-param-size': '7',
  });
  expect(await located({ other: 'x' })).not.toHaveProperty('mcp-param-region');
});

test('a call whose headers the server wants otherwise is sent again once its tools are listed', async () => {
  const endpoint = await startModernServer();
  const { source } = overHttp(endpoint.url);
  const client = new TestClient();
  // Never listed, so nothing is known about its headers.
  expect(parsedText(await client.tool(source, 'located', { region: 'a' }).answer)).toEqual({ region: 'a' });
  await client.tool(source, 'move').answer;
  expect(parsedText(await client.tool(source, 'located', { region: 'b' }).answer)).toEqual({ region: 'b' });
  expect(endpoint.seen.at(-1)!.headers).toMatchObject({ 'mcp-param-zone': 'b' });
  const calls = endpoint.seen.filter(({ message }) => message.params.name === 'located');
  expect(calls).toHaveLength(4);
});

test('a call that is refused for its headers again is answered with that', async () => {
  const endpoint = await startModernServer();
  const { source } = overHttp(endpoint.url);
  const { answer } = new TestClient().tool(source, 'located', { region: { no: 'text' } });
  expect((await answer).error).toMatchObject({ code: -32020 });
});

test('a tool that wants a header that cannot be is not listed, and told of', async () => {
  const endpoint = await startModernServer({ badHeader: true });
  const { source, log } = overHttp(endpoint.url);
  const { byKey } = await source.list('tools');
  expect(byKey.has('misplaced')).toBe(false);
  expect(byKey.has('located')).toBe(true);
  await until(() => log.some((line) => line.includes('misplaced') && line.includes('is not on a parameter')));
});
