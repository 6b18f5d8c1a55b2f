import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';

const isError = (response: { result?: any; error?: unknown }) =>
  response.error !== undefined || response.result?.isError === true;
const said = (response: any): string => response.error?.message ?? textOf(response);

/** The child still works, as the same process. */
async function expectSameChild({ call }: TestGateway, server: string, pid: string): Promise<void> {
  expect(textOf(await call(server, 'pid'))).toBe(pid);
}

describe('answers that are too much', () => {
  test.each(['first', 'last'])('64 MB with the id %s fails that one call, and the next works', async (id) => {
    const gateway = await startGateway({ huge: nodeServer('huge') });
    const pid = textOf(await gateway.call('huge', 'pid'));
    const started = performance.now();
    const response = await gateway.call('huge', 'huge', { id }, { deadline: 60_000 });
    expect(performance.now() - started).toBeLessThan(30_000);
    expect(isError(response)).toBe(true);
    expect(said(response)).toMatch(
      /Subtool 'huge' of server 'huge' returned a response larger than 16777216 bytes \(too large\)/,
    );
    await expectSameChild(gateway, 'huge', pid);
  });

  test('an answer nested a million deep is refused at once', async () => {
    const gateway = await startGateway({ huge: nodeServer('huge') });
    const pid = textOf(await gateway.call('huge', 'pid'));
    expect(isError(await gateway.call('huge', 'deep'))).toBe(true);
    await expectSameChild(gateway, 'huge', pid);
  });

  test('100,000 keys pass', async () => {
    const { call } = await startGateway({ huge: nodeServer('huge') });
    expect(Object.keys((await call('huge', 'keys')).result.structuredContent)).toHaveLength(100_000);
  });

  test('endless output ends the server and affects no other', async () => {
    const { call, client } = await startGateway({ huge: nodeServer('huge'), echo: nodeServer('echo') });
    await call('huge', 'pid');
    const endless = await call('huge', 'no_newline', { bytes: 200 * 1024 * 1024 }, { deadline: 60_000 });
    expect(said(endless)).toContain('sent a message that does not end');
    expect(textOf(await call('echo', 'echo', { text: 'fine' }))).toBe('fine');
    expect(textOf(await call('huge', 'echo', { text: 'back' }))).toBe('back');
    expect(client.ledger.unanswered()).toEqual([]);
  });
});

describe('answers that are wrong', () => {
  test.each(['foreign_id', 'null_id', 'no_id', 'typed_id', 'object_id'])(
    '%s is dropped, the right answer counts',
    async (tool) => {
      const { call } = await startGateway({ wrong: nodeServer('wrong-id') });
      expect(textOf(await call('wrong', tool))).toBe('right');
    },
  );

  test('an answer of another JSON-RPC version is no answer', async () => {
    const { call } = await startGateway({ wrong: nodeServer('wrong-id') });
    expect(said(await call('wrong', 'wrong_version', { right: false }))).toContain('an invalid message');
  });

  test('a second answer is dropped', async () => {
    const { call, client } = await startGateway({ wrong: nodeServer('wrong-id') });
    expect(textOf(await call('wrong', 'twice'))).toBe('right');
    await call('wrong', 'pid');
    expect(client.ledger.doubled()).toEqual([]);
  });

  test.each([
    ['both', 'both a result and an error'],
    ['result_not_object', 'is not an object'],
    ['content_not_array', 'content that is not a list'],
    ['error_string', 'failed'],
    ['error_null', 'failed'],
    ['error_no_code', 'failed'],
  ])('%s is an error that names the server and the subtool', async (tool, words) => {
    const { call } = await startGateway({ wrong: nodeServer('wrong-id') });
    const response = await call('wrong', tool);
    expect(isError(response)).toBe(true);
    expect(said(response)).toContain(`Subtool '${tool}' of server 'wrong'`);
    expect(said(response)).toContain(words);
  });

  test('an error message of a megabyte is cut', async () => {
    const { call } = await startGateway({ wrong: nodeServer('wrong-id') });
    expect(said(await call('wrong', 'error_long')).length).toBeLessThan(5000);
  });

  test('a result without content is given some, and keeps its own members', async () => {
    const { call } = await startGateway({ odd: nodeServer('odd') });
    const { result } = await call('odd', 'not_tool_shaped');
    expect(result.ok).toBe(true);
    expect(JSON.parse(result.content[0].text).ok).toBe(true);
  });
});

describe('odd but legal', () => {
  test('every odd result passes byte for byte, but for the id', async () => {
    const odd = [
      'unknown_fields',
      'unknown_content',
      'error_data',
      'big_integers',
      'huge_exponent',
      'minus_zero',
      'lone_surrogate',
      'escaped_keys',
      'deep',
      'duplicate_keys',
      'proto_keys',
      'bad_base64',
      'line_separators',
      'spaced',
      'id_last',
      'null_result_fields',
    ];
    const gateway = await startGateway({ odd: nodeServer('odd') });
    const { startClient } = await import('../helpers/raw-client.ts');
    const direct = startClient({ ...nodeServer('odd') });
    await direct.initialize();
    for (const tool of odd) {
      const id = 700 + odd.indexOf(tool);
      await direct.call(tool, {}, { id });
      await gateway.call('odd', tool, {}, { id });
      const line = (client: typeof direct) =>
        client.lines.find(({ message }) => message?.id === id)?.text.trim();
      expect(line(gateway.client), tool).toBe(line(direct));
    }
  });

  test.each(['invalid_utf8', 'control_char', 'nul'])(
    '%s never reaches the client, and fails its call at once',
    async (tool) => {
      const { call } = await startGateway({ odd: nodeServer('odd') });
      const response = await call('odd', tool);
      expect(isError(response)).toBe(true);
      expect(said(response)).toContain('an invalid message');
      expect(textOf(await call('odd', 'echo', { text: 'on' }))).toBe('on');
    },
  );
});

describe('noise and pieces', () => {
  test.each([
    ['after its first message', {}, []],
    ['before its first message', {}, ['--http-banner']],
    ['before its first message if "framing" is set', { framing: 'newline' }, ['--http-banner']],
  ])('a server may print the head of an HTTP response %s', async (_when, settings, flags) => {
    const server = { ...nodeServer('noisy', '--quiet', ...flags), ...settings };
    const { call } = await startGateway({ noisy: server });
    expect(textOf(await call('noisy', 'http_dump'))).toBe('clean');
    for (const text of ['one', 'two']) expect(textOf(await call('noisy', 'echo', { text }))).toBe(text);
  });

  test.each([[], ['--crlf'], ['--bom', '--quiet'], ['--json-noise']])(
    'a noisy server works %s',
    async (...flags) => {
      const { call, client } = await startGateway({ noisy: nodeServer('noisy', ...flags) });
      expect(textOf(await call('noisy', 'echo', { text: 'heard' }))).toBe('heard');
      expect(textOf(await call('noisy', 'leading'))).toBeTypeOf('string');
      expect(client.problems).toEqual([]);
    },
  );

  test('messages in pieces of a few bytes are put together', async () => {
    const { call } = await startGateway({ half: nodeServer('half-line') });
    expect(textOf(await call('half', 'echo', { text: 'in pieces' }))).toBe('in pieces');
  });

  test('half a message and then silence costs that call, not the next', async () => {
    const { call } = await startGateway(
      { half: nodeServer('half-line', '--whole') },
      { config: { timeouts: { rpcMs: 500 } } },
    );
    const half = call('half', 'half');
    expect(said(await half)).toContain('did not respond within 500 ms');
    expect(textOf(await call('half', 'echo', { text: 'next' }))).toBe('next');
  });

  test('a flood on stderr stays small here', async () => {
    const { client, call } = await startGateway({ flood: nodeServer('flood'), echo: nodeServer('echo') });
    await call('flood', 'pid');
    const rss = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${client.pid}/status`, 'utf8'))?.[1]) / 1024;
    const before = rss();
    const flooding = call(
      'flood',
      'flood',
      { stream: 'stderr', bytes: 64 * 1024 * 1024 },
      { deadline: 60_000 },
    );
    expect(textOf(await call('echo', 'echo', { text: 'dry' }))).toBe('dry');
    await flooding;
    expect(rss() - before).toBeLessThan(64);
    expect(client.stderr).toMatch(/\[flood\] /);
  });

  test('a flood of garbage on stdout ends that server only', async () => {
    const { client, call } = await startGateway({ flood: nodeServer('flood'), echo: nodeServer('echo') });
    const flooding = await call(
      'flood',
      'flood',
      { stream: 'stdout', bytes: 64 * 1024 * 1024 },
      { deadline: 60_000 },
    );
    expect(said(flooding)).toContain('writes too much to stdout');
    expect(textOf(await call('echo', 'echo', { text: 'dry' }))).toBe('dry');
    expect(client.ledger.unanswered()).toEqual([]);
  });
});

describe('progress', () => {
  test.each([[7], ['token']])(
    'token %j: all reports arrive before the answer, also those in the same chunk',
    async (progressToken) => {
      const { client, call } = await startGateway({ progress: nodeServer('progress') });
      await call('progress', 'steps', { n: 5, ms: 0 }, { progressToken });
      const reports = client.notifications.filter((message) => message.method === 'notifications/progress');
      expect(reports.map((message) => [message.params.progressToken, message.params.progress])).toEqual(
        [1, 2, 3, 4, 5].map((step) => [progressToken, step]),
      );
      const answer = client.messages.findIndex((message) => message.result?.content);
      expect(client.messages.indexOf(reports.at(-1)!)).toBeLessThan(answer);
    },
  );

  test('two calls of one server with one token each bring their own reports', async () => {
    const { client, call } = await startGateway({ progress: nodeServer('progress') });
    await call('progress', 'pid');
    await Promise.all([
      call('progress', 'steps', { n: 3, ms: 5 }, { progressToken: 'same' }),
      call('progress', 'steps', { n: 2, ms: 5 }, { progressToken: 'same' }),
    ]);
    // Towards the server the tokens differ, or one call would have got the reports of both.
    const steps = client.notifications.map((message) => message.params.progress).sort();
    expect(steps).toEqual([1, 1, 2, 2, 3]);
    expect(client.notifications.every((message) => message.params.progressToken === 'same')).toBe(true);
  });

  test('unrequested progress is dropped, a flood is thinned and ends with the newest', async () => {
    const { client, call } = await startGateway({ progress: nodeServer('progress') });
    await call('progress', 'stray', { n: 10, token: 'nobody' }, { progressToken: 'mine' });
    await call('progress', 'after', { n: 10 }, { progressToken: 'late' });
    await call('progress', 'steps', { n: 3, ms: 0 });
    expect(client.notifications).toEqual([]);
    await call('progress', 'flood', { n: 50_000 }, { progressToken: 'flood', deadline: 60_000 });
    expect(client.notifications.length).toBeLessThan(500);
    expect(client.notifications.at(-1)?.params.progress).toBe(50_000);
  });

  test('progress keeps a call alive beyond rpcMs, but not beyond callMaxMs', async () => {
    const { call } = await startGateway(
      { progress: nodeServer('progress') },
      { config: { timeouts: { rpcMs: 600, callMaxMs: 1800 } } },
    );
    await call('progress', 'pid');
    expect(isError(await call('progress', 'steps', { n: 6, ms: 200 }, { progressToken: 1 }))).toBe(false);
    expect(said(await call('progress', 'steps', { n: 40, ms: 200 }, { progressToken: 2 }))).toContain(
      'within 1800 ms',
    );
  });
});

describe('limits on calls', () => {
  test('no more than callsInFlight are sent at one time, the rest wait, and more than callsQueued are refused', async () => {
    const { call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { limits: { callsInFlight: 2, callsQueued: 3 } } },
    );
    await call('slow', 'pid');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => call('slow', 'slow_echo', { text: 'x', ms: 200 })),
    );
    const refused = answers.filter((answer) => answer.result.isError === true);
    expect(refused).toHaveLength(3);
    expect(said(refused[0])).toContain(`too many calls are waiting for server 'slow'`);
    const two = [call('slow', 'slow_echo', { text: 'x', ms: 200 }), call('slow', 'running_count')];
    expect(textOf(await two[1]!)).toBe('1');
    await two[0];
  });
});

describe('servers that take no calls', () => {
  test('a server that reads again after a pause gets the calls that waited', async () => {
    // It reads nothing for a while; meanwhile a large call fills its pipe and is given up.
    const script = `
      import { serve } from ${JSON.stringify(`file://${ROOT}/test/servers/lib/server.mjs`)};
      serve({ name: 'pausing', tools: {
        pause: { run: ({ ms }) => { process.stdin.pause(); setTimeout(() => process.stdin.resume(), ms); return 'paused'; } },
        echo: { run: ({ text }) => String(text).slice(0, 20) },
      } });`;
    const project = createProject({ 'pausing.mjs': script });
    const { client, call } = await startGateway({
      pausing: { command: process.execPath, args: [project.path('pausing.mjs')] },
    });
    await call('pausing', 'pause', { ms: 1200 });
    const big = { action: 'call', subtool: 'echo', args: { text: 'x'.repeat(9_000_000) } };
    client.send({
      jsonrpc: '2.0',
      id: 'big',
      method: 'tools/call',
      params: { name: 'pausing_suite', arguments: big },
    });
    client.notify('notifications/cancelled', { requestId: 'big' });
    expect(textOf(await call('pausing', 'echo', { text: 'small' }))).toBe('small');
  });

  test('a call that cannot be sent ends in time, and so do those that wait behind it', async () => {
    const { call } = await startGateway(
      { reader: nodeServer('slow-reader', '--bytes=1', '--every-ms=1000', '--after-initialized') },
      { config: { timeouts: { rpcMs: 700 } } },
    );
    const big = 'x'.repeat(9_000_000);
    const answers = await Promise.all(Array.from({ length: 3 }, () => call('reader', 'echo', { text: big })));
    for (const answer of answers)
      expect(said(answer)).toMatch(
        /did not respond within 700 ms|was not sent within|did not respond to tools\/list/,
      );
  });

  test('a server that closes its stdin is found out and started again', async () => {
    const hello = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      serverInfo: { name: 'x', version: '1' },
    };
    const script = `read line; echo '${JSON.stringify({ jsonrpc: '2.0', id: 1, result: hello })}'; exec 0<&-; sleep 100`;
    const { client, call } = await startGateway({ deaf: { command: 'sh', args: ['-c', script] } });
    expect(said(await call('deaf', 'x'))).toContain('closed its stdin');
    expect(said(await call('deaf', 'x'))).toContain('closed its stdin');
    expect(client.stderr.match(/spawned server=deaf/g)).toHaveLength(2);
  });

  test('a server that cannot list its tools can still run them', async () => {
    const { call } = await startGateway(
      { slow: nodeServer('slow', '--list-ms=60000') },
      { config: { timeouts: { rpcMs: 500 } } },
    );
    expect(textOf(await call('slow', 'echo', { text: 'all the same' }))).toBe('all the same');
  });
});

test('a server that asks is answered or refused, never left hanging', async () => {
  const { call } = await startGateway({ asks: nodeServer('asks', '--number-ids') });
  const answer = async (tool: string, args = {}) => JSON.parse(textOf(await call('asks', tool, args)));
  expect((await answer('ask_ping')).result).toEqual({});
  for (const tool of ['ask_sampling', 'ask_elicitation', 'ask_roots', 'ask_unknown']) {
    expect((await answer(tool)).error.code, tool).toBe(-32601);
  }
  expect(await answer('ask_many', { count: 2000, method: 'ping' })).toEqual({
    result: 2000,
    error: 0,
    unanswered: 0,
  });
});

test.each([
  ['--answer=2099-01-01', 'speaks protocol version "2099-01-01"'],
  ['--answer-json=3', 'speaks protocol version 3'],
  ['--missing', 'speaks protocol version none'],
  ['--refuse', 'refused initialize'],
])('a server that answers initialize with %s is explained', async (flag, words) => {
  const { call } = await startGateway({ versions: nodeServer('versions', flag) });
  const response = await call('versions', 'echo', { text: 'x' });
  expect(isError(response)).toBe(true);
  expect(said(response)).toContain(words);
});

test.each(['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])(
  'a server of %s works',
  async (version) => {
    const { call } = await startGateway({ versions: nodeServer('versions', `--answer=${version}`) });
    expect(textOf(await call('versions', 'echo', { text: 'x' }))).toBe('x');
  },
);
