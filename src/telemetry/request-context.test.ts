import { expect, test } from 'vitest';
import { Client, CLIENT_SHAPE } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';
import { fromChunks, readMessage } from '../wire/index.ts';
import { contextIn, withContext } from './request-context.ts';

const OURS = { traceparent: '00-a-b-01', tracestate: 'v=1' };
const PUT = '"traceparent":"00-a-b-01","tracestate":"v=1"';

const read = (text: string, chunks = 1): Message => {
  const bytes = Buffer.from(text);
  const size = Math.ceil(bytes.length / chunks);
  const pieces = Array.from({ length: chunks }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
  return readMessage(fromChunks(pieces), CLIENT_SHAPE, 'content-length') as Message;
};
const request = (params: string): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call"${params},"x":1.50}`;

test.each([
  ['no _meta', ',"params":{"name":"a"}', `,"params":{"_meta":{${PUT}},"name":"a"}`],
  ['no params', ',"params":{}', `,"params":{"_meta":{${PUT}}}`],
  ['an empty _meta', ',"params":{"_meta":{ },"name":"a"}', `,"params":{"_meta":{${PUT} },"name":"a"}`],
  [
    'others in _meta',
    ',"params":{"_meta":{"n":1.0,"progressToken":"t"}}',
    `,"params":{"_meta":{${PUT},"n":1.0,"progressToken":"t"}}`,
  ],
  [
    'a context',
    ',"params":{"_meta":{"tracestate":7,"n":1.0,"traceparent":"old"}}',
    ',"params":{"_meta":{"tracestate":"v=1","n":1.0,"traceparent":"00-a-b-01"}}',
  ],
  ['none at all', '', ''],
  ['params that are a list', ',"params":[]', ',"params":[]'],
  ['a _meta that is no object', ',"params":{"_meta":3}', ',"params":{"_meta":3}'],
  [
    'a context twice',
    ',"params":{"_meta":{"traceparent":"a","traceparent":"b"}}',
    ',"params":{"_meta":{"traceparent":"a","traceparent":"b"}}',
  ],
])('into a request with %s, and nothing else changes', (_what, given, expected) => {
  for (const chunks of [1, 3]) {
    const changed = withContext(read(request(given), chunks), OURS);
    expect(changed.toString()).toBe(request(expected));
    expect(changed.text(Client.id)).toBe('7');
  }
});

test('a long request stays in its pieces, and what is routed by is found again', () => {
  const long = 'x'.repeat(100_000);
  const changed = withContext(read(request(`,"params":{"name":"a","arguments":{"t":"${long}"}}`), 4), OURS);
  expect(changed.bytes.chunks?.length).toBeGreaterThan(4);
  expect(changed.string(Client.name)).toBe('a');
  expect(contextIn(changed)).toEqual(OURS);
});

test('the context of a request is what its client wrote as a string', () => {
  expect(contextIn(read(request(',"params":{"_meta":{"traceparent":"00-x","tracestate":"a=b"}}')))).toEqual({
    traceparent: '00-x',
    tracestate: 'a=b',
  });
  for (const params of ['', ',"params":{"_meta":{"traceparent":5}}', ',"params":{"traceparent":"00-x"}'])
    expect(contextIn(read(request(params)))).toBeUndefined();
});
