/**
 * Messages that are wrong in themselves, from clients of every protocol version over every transport. How one version
 * over stdio is answered in detail is in test/e2e/client-abuse.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { BATCHING_VERSION } from '../../src/protocol/index.ts';
import { CLIENT_KINDS, connectHostile } from '../helpers/client-kinds.ts';
import { envelope, MODERN } from '../helpers/eras.ts';
import { textOf, type RpcId } from '../helpers/raw-client.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';

interface Row {
  readonly name: string;
  readonly bytes: string | Buffer;
  /** Any of these error codes; none where anything may be answered; 'silence' where nothing may. */
  readonly codes: readonly number[] | 'silence';
  /** The id of the answer, where there has to be one. Default: null or that of the message. */
  readonly id?: RpcId;
}

const PARSE = [-32700];
const INVALID = [-32600];
const PARAMS = [-32602];
const METHOD = [-32601];

/** `$meta` is what every request of the version carries. */
const request = (method: string, params: string, id = '11'): string =>
  `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`;

const call = (members: string): string => request('tools/call', `{"_meta":$meta,${members}}`);

const ROWS: readonly Row[] = [
  { name: 'white space only', bytes: ' \t ', codes: 'silence' },
  { name: 'prose', bytes: 'hello there', codes: PARSE },
  { name: 'UTF-16', bytes: Buffer.from('{"jsonrpc":"2.0"}', 'utf16le'), codes: PARSE },
  { name: 'overlong UTF-8', bytes: Buffer.from('7b2261223a22c080227d', 'hex'), codes: PARSE },
  { name: 'a raw NUL', bytes: '{"a":"\u0000"}', codes: PARSE },
  { name: 'true', bytes: 'true', codes: INVALID },
  { name: 'a string', bytes: '"str"', codes: INVALID },
  { name: 'an empty object', bytes: '{}', codes: INVALID },
  { name: 'id null', bytes: '{"jsonrpc":"2.0","id":null,"method":"ping"}', codes: INVALID },
  { name: 'id an object', bytes: '{"jsonrpc":"2.0","id":{},"method":"ping"}', codes: INVALID },
  { name: 'jsonrpc 1.0', bytes: '{"jsonrpc":"1.0","id":11,"method":"ping"}', codes: INVALID },
  { name: 'jsonrpc "2.0 "', bytes: '{"jsonrpc":"2.0 ","id":11,"method":"ping"}', codes: INVALID },
  { name: 'Method', bytes: '{"jsonrpc":"2.0","id":11,"Method":"ping"}', codes: INVALID },
  { name: 'two methods', bytes: '{"jsonrpc":"2.0","id":11,"method":"ping","method":"x"}', codes: INVALID },
  { name: 'method null', bytes: '{"jsonrpc":"2.0","id":11,"method":null}', codes: INVALID },
  { name: 'two names', bytes: call('"name":"a","name":"b"'), codes: [-32600, -32602] },
  { name: 'no name', bytes: call('"x":1'), codes: PARAMS, id: 11 },
  { name: 'a number as a name', bytes: call('"name":7'), codes: PARAMS, id: 11 },
  { name: 'an unknown name', bytes: call('"name":"no_such"'), codes: PARAMS, id: 11 },
  { name: 'another case', bytes: call('"name":"ECHO_suite"'), codes: PARAMS, id: 11 },
  { name: 'text as arguments', bytes: call('"name":"echo_suite","arguments":"x"'), codes: PARAMS, id: 11 },
  // Over HTTP, no header can repeat it.
  { name: 'an empty method', bytes: request('', '{"_meta":$meta}'), codes: [-32600, -32601, -32020] },
  { name: 'an unknown method', bytes: request('no/such', '{"_meta":$meta}'), codes: METHOD, id: 11 },
  { name: '__proto__', bytes: request('__proto__', '{"_meta":$meta}'), codes: METHOD, id: 11 },
  { name: 'toString', bytes: request('toString', '{"_meta":$meta}'), codes: METHOD, id: 11 },
  { name: 'params a number', bytes: request('tools/list', '7'), codes: PARAMS },
  {
    name: 'an unknown cursor',
    bytes: request('tools/list', '{"_meta":$meta,"cursor":"x"}'),
    codes: PARAMS,
    id: 11,
  },
  {
    name: 'a cursor of 1 MiB',
    bytes: request('tools/list', `{"_meta":$meta,"cursor":"${'x'.repeat(1_048_576)}"}`),
    codes: PARAMS,
    id: 11,
  },
  {
    name: 'a file that no server offers',
    bytes: request('resources/read', '{"_meta":$meta,"uri":"file:///etc/passwd"}'),
    codes: [-32002, -32602],
    id: 11,
  },
  {
    name: 'a completion of 10,000 characters',
    bytes: request(
      'completion/complete',
      `{"_meta":$meta,"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"x","value":"${'v'.repeat(10_000)}"}}`,
    ),
    codes: [-32601, -32602],
    id: 11,
  },
  {
    name: 'depth of a million',
    bytes: request('tools/list', `${'['.repeat(1e6)}${']'.repeat(1e6)}`),
    codes: INVALID,
  },
  {
    name: 'arguments with 100,000 members',
    bytes: call(
      `"name":"echo_suite","arguments":{"action":"call","subtool":"echo","args":{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":${n}`).join()}}}`,
    ),
    codes: [],
    id: 11,
  },
  {
    name: 'an id beyond what a number holds',
    bytes: request('no/such', '{"_meta":$meta}', '1e400'),
    codes: METHOD,
  },
  {
    name: 'an id that names a member of objects',
    bytes: request('no/such', '{"_meta":$meta}', '"constructor"'),
    codes: METHOD,
    id: 'constructor',
  },
  { name: 'id 0', bytes: request('no/such', '{"_meta":$meta}', '0'), codes: METHOD, id: 0 },
];

/** What a client says to nobody. A client without sessions may be answered that it cannot. */
const UNWANTED = [
  '{"jsonrpc":"2.0","id":99,"result":{}}',
  '{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}',
  '{"jsonrpc":"2.0","id":99,"error":"text"}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"?","progress":1}}',
  '{"jsonrpc":"2.0","method":"notifications/unknown"}',
];

describe.each(CLIENT_KINDS)('$version over $transport', (kind) => {
  test('each wrong message gets its error, and costs nobody anything', async () => {
    const client = await connectHostile(kind, { echo: nodeServer('echo') });
    const innocent = async (text: string): Promise<void> => {
      const answer = await client.call('echo_suite', { action: 'call', subtool: 'echo', args: { text } });
      expect(textOf(answer)).toBe(text);
    };
    await innocent('first');
    const before = { files: openFiles(client.pid), memory: rss(client.pid) };
    const meta = JSON.stringify(kind.version === MODERN ? envelope({}) : {});

    for (const { name, bytes, codes, id } of ROWS) {
      const filled = typeof bytes === 'string' ? Buffer.from(bytes.replace('$meta', meta)) : bytes;
      const due = codes === 'silence' && kind.transport === 'stdio' ? 0 : 1;
      const { responses, status } = await client.send([filled], due);
      expect(responses.length, name).toBe(due);
      for (const response of responses) {
        if (id !== undefined) expect(response.id, name).toBe(id);
        if (codes !== 'silence' && codes.length > 0) expect(codes, name).toContain(response.error?.code);
      }
      expect(status, name).toBeLessThan(500);
      await innocent(name);
    }
    for (const text of UNWANTED) {
      const { responses, status } = await client.send([Buffer.from(text)]);
      expect(status, text).toBeLessThan(500);
      if (kind.transport === 'stdio') expect(responses, text).toEqual([]);
      await innocent(text);
    }

    expect(client.problems()).toEqual([]);
    expect(openFiles(client.pid)).toBeLessThanOrEqual(before.files + 2);
    expect(rss(client.pid) - before.memory).toBeLessThan(96);
  });

  test.skipIf(kind.version === BATCHING_VERSION)('a batch is refused, and nothing of it runs', async () => {
    const client = await connectHostile(kind, { echo: nodeServer('echo') });
    const one = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const count of [1, 50_000]) {
      const batch = `[${Array(count).fill(one).join()}]`;
      const { responses } = await client.send([Buffer.from(batch)], 1);
      expect(responses.map(({ error }) => error?.code)).toEqual(INVALID);
    }
  });
});
