import { describe, expect, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import { overHttp, parsedText, startModernServer, TestClient } from '../modern.cases.ts';
import { inHeader } from './modern-headers.ts';

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
  // Never listed: nothing is known of its headers.
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
