import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { processesWith } from '../helpers/processes.ts';

/** Sends bytes and expects one error with a null id; then the connection must still work. */
async function expectNullError(
  { client }: TestGateway,
  bytes: string | Uint8Array,
  code: number,
  count = 1,
): Promise<void> {
  const before = client.messages.length;
  client.sendRaw(bytes);
  expect((await client.request('ping')).result).toEqual({});
  const errors = client.messages.slice(before).filter((message) => message.error);
  expect(errors.map((message) => [message.id, message.error?.code])).toEqual(Array(count).fill([null, code]));
}

describe('bytes that are no message', () => {
  const rows: [string, string | Uint8Array, number, number?][] = [
    ['a lone carriage return inside the line', '{"jsonrpc":"2.0",\r"id":1,"method":"ping"}\n', -32700],
    [
      'UTF-16',
      Buffer.from('{"jsonrpc":"2.0"}', 'utf16le')
        .subarray(0, -1)
        .filter((byte) => byte !== 10),
      -32700,
    ],
    [
      'overlong UTF-8',
      Buffer.concat([Buffer.from('{"a":"'), Buffer.of(0xc0, 0x80), Buffer.from('"}\n')]),
      -32700,
    ],
    ['a raw NUL', '{"a":"\u0000"}\n', -32700],
    ['a value split by a newline', '{"jsonrpc":\n"2.0"}\n', -32700, 2],
    ['prose', 'hello there\n', -32700],
    ['prose that begins like a header', 'Content is king\n', -32700],
    ['true', 'true\n', -32600],
    ['a string', '"str"\n', -32600],
    ['a batch of one', '[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600],
    [
      'a batch of 100,000',
      `[${Array(100_000).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join(',')}]\n`,
      -32600,
    ],
    ['an empty object', '{}\n', -32600],
    ['id null', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600],
    ['id an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600],
    [
      'depth of a million',
      `{"jsonrpc":"2.0","method":"x","params":${'['.repeat(1e6)}${']'.repeat(1e6)}}\n`,
      -32600,
    ],
  ];
  test.each(rows)('%s', async (name, bytes, code, count) => {
    const gateway = await startGateway({});
    await expectNullError(
      gateway,
      name === 'UTF-16' ? Buffer.concat([bytes as Buffer, Buffer.from('\n')]) : bytes,
      code,
      count,
    );
  });

  test('blank lines are passed over', async () => {
    await expectNullError(await startGateway({}), '  \t \n\r\n\n', 0, 0);
  });
});

describe('messages that are wrong in themselves get their own id back', () => {
  test.each([
    ['{"jsonrpc":"1.0","id":11,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0 ","id":11,"method":"ping"}', -32600],
    ['{"id":11,"method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","id":11,"Method":"ping"}', -32600],
    ['{"jsonrpc":"2.0","method":"ping","method":"tools/list","id":11}', -32600],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"a","name":"b"}}', -32602],
    ['{"jsonrpc":"2.0","id":11,"method":null}', -32600],
    ['{"jsonrpc":"2.0","id":11,"method":""}', -32601],
    ['{"jsonrpc":"2.0","id":11,"method":"no/such"}', -32601],
    ['{"jsonrpc":"2.0","id":11,"method":"a\\u0000b\\nc"}', -32601],
    ['{"jsonrpc":"2.0","id":11,"method":"__proto__"}', -32601],
    ['{"jsonrpc":"2.0","id":11,"method":"toString"}', -32601],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/list","params":7}', -32602],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{}}', -32602],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":7}}', -32602],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"ECHO_suite"}}', -32602],
    [
      '{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo_suite","arguments":"x"}}',
      -32602,
    ],
    [
      '{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"name":"echo_suite","arguments":{"action":"call","action":"introspect"}}}',
      -32602,
    ],
    ['{"jsonrpc":"2.0","id":11,"method":"tools/list","params":{"cursor":"never given"}}', -32602],
    ['{"jsonrpc":"2.0","id":11,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}', -32600],
  ])('%s', async (line, code) => {
    const { client } = await startGateway({ echo: nodeServer('echo') });
    const answer = client.answerTo(11);
    client.sendRaw(`${line}\n`);
    expect((await answer).error?.code).toBe(code);
    expect(processesWith(client.marker)).toHaveLength(1);
  });

  test('an unknown tool names the nearest', async () => {
    const { client } = await startGateway({ echo: nodeServer('echo') });
    expect((await client.call('eco_suite')).error?.message).toContain('Did you mean "echo_suite"?');
  });
});

describe('before initialize', () => {
  test('known requests are refused, ping is answered, unknown methods are unknown, nothing is started', async () => {
    const { client } = await startGateway({ echo: nodeServer('echo') }, { raw: true });
    expect((await client.request('tools/list')).error?.code).toBe(-32600);
    expect((await client.call('echo_suite', { action: 'introspect' })).error?.code).toBe(-32600);
    expect((await client.request('ping')).result).toEqual({});
    expect((await client.request('vendor/anything')).error?.code).toBe(-32601);
    // It opens the other era, in which every request says what it is.
    expect((await client.request('server/discover')).error?.code).toBe(-32602);
    expect(processesWith(client.marker)).toHaveLength(1);
  });

  test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
    'version %s is spoken',
    async (version) => {
      const { client } = await startGateway({}, { raw: true });
      expect((await client.initialize(version)).result.protocolVersion).toBe(version);
    },
  );

  test('an unknown version is answered with the newest we speak, a number is refused', async () => {
    const { client } = await startGateway({}, { raw: true });
    expect((await client.request('initialize', { protocolVersion: 3 })).error?.code).toBe(-32602);
    expect((await client.initialize('2031-01-01')).result.protocolVersion).toBe('2025-11-25');
  });
});

describe('ids', () => {
  test('every usable id comes back as it was written', async () => {
    // The client does not know these ids: they are sent as text, and looked for as text.
    const { client } = await startGateway({ echo: nodeServer('echo') }, { strict: false });
    for (const id of [
      '0',
      '-7',
      '1.5',
      '100000000000000000000',
      '"constructor"',
      '"__proto__"',
      '"\\u0061\\n"',
      '"ü"',
    ]) {
      client.sendRaw(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo_suite","arguments":{"action":"call","subtool":"echo","args":{"text":"x"}}}}\n`,
      );
      await client.waitFor(() =>
        client.lines.some(({ text }) => text.includes(`"id":${id},`) || text.includes(`"id":${id}}`)),
      );
    }
  });

  test('1 and "1" in flight together never mix', async () => {
    const { call } = await startGateway({ echo: nodeServer('echo') });
    await call('echo', 'pid');
    const [number, string] = await Promise.all([
      call('echo', 'slow_echo', { text: 'number', ms: 60 }, { id: 1001 }),
      call('echo', 'slow_echo', { text: 'string', ms: 20 }, { id: '1001' }),
    ]);
    expect([number.id, textOf(number)]).toEqual([1001, 'number']);
    expect([string.id, textOf(string)]).toEqual(['1001', 'string']);
  });

  test('an id may be used again once it is answered', async () => {
    const { call } = await startGateway({ echo: nodeServer('echo') }, { strict: false });
    for (const text of ['once', 'twice', 'three times']) {
      expect(textOf(await call('echo', 'echo', { text }, { id: 'same' }))).toBe(text);
    }
  });

  test('a second call with the id of a running one is refused, and a cancellation means the first', async () => {
    // Two answers to one id are what this is about.
    const { client, call } = await startGateway({ slow: nodeServer('slow') }, { strict: false });
    await call('slow', 'pid');
    const request = { jsonrpc: '2.0', id: 'same', method: 'tools/call' };
    const late = { action: 'call', subtool: 'late', args: { ms: 300 } };
    const hang = { action: 'call', subtool: 'hang' };
    client.send({ ...request, params: { name: 'slow_suite', arguments: late } });
    client.send({ ...request, params: { name: 'slow_suite', arguments: hang } });
    client.send({ ...request, method: 'ping' });
    const answers = (): RpcMessage[] => client.messages.filter(({ id }) => id === 'same');
    await client.waitFor((message) => message.id === 'same' && message.result !== undefined);
    expect(answers().map(({ error }) => error?.code)).toEqual([-32600, -32600, undefined]);
    client.send({ ...request, params: { name: 'slow_suite', arguments: hang } });
    client.notify('notifications/cancelled', { requestId: 'same' });
    expect(textOf(await call('slow', 'cancelled_count'))).toBe('1');
  });

  test('a number is one id, however it is written', async () => {
    const { client, call } = await startGateway({ slow: nodeServer('slow') }, { strict: false });
    await call('slow', 'pid');
    const hang = (id: string): void =>
      client.sendRaw(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"slow_suite","arguments":{"action":"call","subtool":"hang"}}}\n`,
      );
    for (const id of ['7', '7.0', '70e-1']) hang(id);
    for (const id of ['2.5', '25e-1']) hang(id);
    const refused = (): RpcMessage[] => client.messages.filter(({ error }) => error?.code === -32600);
    await client.waitFor(() => refused().length === 3);
    expect(refused().map(({ id }) => id)).toEqual([7, 7, 2.5]);
    for (const id of ['7.00', '250e-2'])
      client.sendRaw(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}\n`);
    expect(textOf(await call('slow', 'cancelled_count'))).toBe('2');
  });
});

test('a cancellation means exactly the id it names, however large', async () => {
  const { client, call } = await startGateway({ slow: nodeServer('slow') }, { strict: false });
  await call('slow', 'pid');
  const params = `{"name":"slow_suite","arguments":{"action":"call","subtool":"late","args":{"ms":300}}}`;
  for (const id of ['9007199254740993', '9007199254740992']) {
    client.sendRaw(`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}\n`);
  }
  client.sendRaw(
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993}}\n',
  );
  await client.waitFor(() => client.lines.some(({ text }) => text.includes('"id":9007199254740992')));
  expect(client.lines.some(({ text }) => text.includes('"id":9007199254740993'))).toBe(false);
});

describe('size and number', () => {
  test('500 messages in one write get 500 answers', async () => {
    const { client } = await startGateway({});
    const answers = Array.from({ length: 500 }, (_, index) => client.answerTo(`m${index}`));
    client.sendRaw(
      Array.from({ length: 500 }, (_, index) => `{"jsonrpc":"2.0","id":"m${index}","method":"ping"}\n`).join(
        '',
      ),
    );
    for (const answer of await Promise.all(answers)) expect(answer.result).toEqual({});
  });

  test('a line over the limit costs only itself', async () => {
    const { client } = await startGateway({});
    const answer = client.answerTo('big');
    client.sendRaw(`{"jsonrpc":"2.0","id":"big","method":"ping","params":{"x":"`);
    for (let mib = 0; mib < 17; mib++) client.sendRaw(Buffer.alloc(1024 * 1024, 'x'));
    client.sendRaw('"}}\n');
    expect((await answer).error?.code).toBe(-32600);
    expect((await client.request('ping')).result).toEqual({});
  });

  test('a line without end closes the door, with an exit code', async () => {
    const { client } = await startGateway({ echo: nodeServer('echo') });
    const mib = Buffer.alloc(1024 * 1024, 'x');
    let left = 90;
    const more = (): void => {
      if (left-- <= 0) return;
      client.sendRaw(mib);
      setImmediate(more);
    };
    more();
    expect((await client.exited).code).toBe(1);
  });

  test('a message in two halves is one message', async () => {
    const { client } = await startGateway({});
    const answer = client.answerTo('half');
    client.sendRaw('{"jsonrpc":"2.0","id":"ha');
    await new Promise((resolve) => setTimeout(resolve, 200));
    client.sendRaw('lf","method":"ping"}\n');
    expect((await answer).result).toEqual({});
  });

  test('1,000 calls in flight are all answered once', async () => {
    const { client, call } = await startGateway({ echo: nodeServer('echo') });
    const answers = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        call('echo', 'slow_echo', { text: `t${index}`, ms: index % 20 }),
      ),
    );
    expect(answers.map(textOf)).toEqual(Array.from({ length: 1000 }, (_, index) => `t${index}`));
    expect(client.ledger.doubled()).toEqual([]);
    expect(client.ledger.unanswered()).toEqual([]);
  });
});

describe('what a client says to nobody is dropped', () => {
  test.each([
    '{"jsonrpc":"2.0","id":99,"result":{}}',
    '{"jsonrpc":"2.0","id":99,"result":{},"error":{"code":1,"message":"x"}}',
    '{"jsonrpc":"2.0","id":99,"error":"text"}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}',
    '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"?","progress":1}}',
    '{"jsonrpc":"2.0","method":"notifications/unknown"}',
  ])('%s', async (line) => {
    const { client } = await startGateway({});
    const before = client.messages.length;
    client.sendRaw(`${line}\n`);
    await client.request('ping');
    expect(client.messages.length).toBe(before + 1);
  });
});

test('a client that asks without reading is not listened to until it does', async () => {
  const servers = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`s${index}`, nodeServer('echo')]),
  );
  const { client } = await startGateway(servers);
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = rss();
  client.pauseReading();
  const answers = Array.from({ length: 3000 }, () => client.request('tools/list', {}, { deadline: 60_000 }));
  let peak = 0;
  for (let round = 0; round < 10; round++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    peak = Math.max(peak, rss());
  }
  client.resumeReading();
  await Promise.all(answers);
  expect(peak - before).toBeLessThan(64);
});

test('a client that does not read slows the servers down, not our memory up', async () => {
  const { client, call } = await startGateway({ echo: nodeServer('echo') });
  await call('echo', 'pid');
  const rss = () =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = rss();
  client.pauseReading();
  const answers = Array.from({ length: 300 }, () =>
    call('echo', 'big', { bytes: 1_000_000 }, { deadline: 60_000 }),
  );
  let peak = 0;
  for (let round = 0; round < 20; round++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    peak = Math.max(peak, rss());
  }
  client.resumeReading();
  await Promise.all(answers);
  expect(peak - before).toBeLessThan(96);
});
