/**
 * The servers in test/servers, driven directly: each really has the vice its header claims. Without this, a test that
 * survives a bad server may only have met a good one.
 */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { killAll, marker, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, npmServer, ROOT } from '../helpers/temp-project.ts';
import { expectEcho, startReadyServer, startTestServer } from '../helpers/test-servers.ts';
import { until } from '../helpers/until.ts';

describe('echo', () => {
  test('answers with the version the client asked for, and pings', async () => {
    const client = startTestServer('echo', [], { strict: true });
    expect((await client.initialize('2024-11-05')).result.protocolVersion).toBe('2024-11-05');
    expect((await client.initialize('1999-01-01')).result.protocolVersion).toBe('2025-11-25');
    expect((await client.request('ping')).result).toEqual({});
    expect((await client.request('no/such')).error?.code).toBe(-32601);
    expect(await client.close()).toMatchObject({ code: 0, signal: null });
  });

  test('has every tool its header names', async () => {
    const project = createProject();
    const client = await startReadyServer('echo', ['--name=me'], {
      strict: true,
      cwd: project.dir,
      env: { ECHO_SECRET: 's' },
    });
    await expectEcho(client);
    expect(textOf(await client.call('add', { a: 2, b: 3 }))).toBe('5');
    expect((await client.call('fail', { message: 'no' })).result).toEqual({
      content: [{ type: 'text', text: 'no' }],
      isError: true,
    });
    expect((await client.call('reject')).error).toEqual({
      code: -32602,
      message: 'rejected as asked',
      data: { field: 'text', seen: [1, 2, 3] },
    });
    expect((await client.call('missing')).error?.code).toBe(-32602);
    expect(textOf(await client.call('canary', { n: 7 }))).toBe('canary 7');
    expect(textOf(await client.call('big', { bytes: 300_000 }))).toHaveLength(300_000);
    expect((await client.call('structured', { bytes: 10 })).result.structuredContent).toEqual({
      bytes: 10,
      filler: 'x'.repeat(10),
    });
    expect(JSON.parse(textOf(await client.call('env', { name: 'ECHO_SECRET' })))).toMatchObject({
      set: true,
      value: 's',
    });
    expect(JSON.parse(textOf(await client.call('env', { name: 'ECHO_OTHER' })))).toMatchObject({
      set: false,
    });
    expect(textOf(await client.call('pid'))).toBe(String(client.pid));
    expect(textOf(await client.call('cwd'))).toBe(project.dir);
    expect(JSON.parse(textOf(await client.call('whoami'))).args).toEqual(['--name=me']);
    const received = JSON.parse(textOf(await client.call('received')));
    expect(received.slice(0, 2)).toEqual(['initialize', 'notifications/initialized']);
  });

  test('runs slow calls side by side and answers each', async () => {
    const client = await startReadyServer('echo', [], { strict: true });
    const calls = [60, 30, 1].map((ms) => client.call('slow_echo', { text: String(ms), ms }));
    expect((await Promise.all(calls)).map(textOf)).toEqual(['60', '30', '1']);
    const answers = client.messages.filter(({ result }) => result?.content).map(textOf);
    expect(answers).toEqual(['1', '30', '60']);
  });

  test('stays silent about a cancelled call', async () => {
    const client = await startReadyServer('echo');
    const cancelled = client.call('slow_echo', { text: 'a', ms: 60_000 }, { id: 'slow' });
    client.notify('notifications/cancelled', { requestId: 'slow' });
    await expectEcho(client);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual(['slow']);
    await client.close();
    await expect(cancelled).rejects.toThrow(/tools\/call \(id "slow"\).*exited \(code 0\)/s);
  });

  test('lists only the tools it is told to', async () => {
    const client = await startReadyServer('echo', [], { env: { TEST_SERVER_TOOLS: 'echo,slow_echo' } });
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo', 'slow_echo']);
    expect((await client.call('add', { a: 1, b: 1 })).error?.code).toBe(-32602);
  });

  test('keeps a journal of its starts, its messages and its end', async () => {
    const project = createProject();
    const file = project.path('journal');
    const client = await startReadyServer('echo', [], { env: { TEST_SERVER_JOURNAL: file } });
    await client.call('echo', { text: 'x' });
    await client.close();
    const journal = readJournal(file);
    expect(journal.map(({ event }) => event)).toEqual([
      'start',
      'message',
      'message',
      'message',
      'stdin-end',
      'exit',
    ]);
    expect(journal[3]).toMatchObject({ pid: client.pid, method: 'tools/call', id: 2 });
  });

  test('v2 adds reverse', async () => {
    const client = await startReadyServer('echo-v2', [], { strict: true });
    const v1 = (await (await startReadyServer('echo')).listTools()).map(({ name }) => name);
    const v2 = (await client.listTools()).map(({ name }) => name);
    expect(v2.filter((name) => !v1.includes(name))).toEqual(['reverse']);
    expect(textOf(await client.call('reverse', { text: 'abc😀' }))).toBe('😀cba');
  });
});

describe('wrong-id', () => {
  test.each(['foreign_id', 'null_id', 'no_id', 'object_id', 'wrong_version', 'typed_id'])(
    '%s sends something wrong before the right answer',
    async (tool) => {
      const client = await startReadyServer('wrong-id');
      const before = client.messages.length;
      const first = await client.call(tool);
      if (tool === 'wrong_version') {
        await until(() => client.messages.length === before + 2);
        expect(first.jsonrpc).toBe('1.0');
      } else {
        expect(textOf(first)).toBe('right');
      }
      expect(client.messages).toHaveLength(before + 2);
      const wrong = client.messages[before]!;
      expect(client.messages[before + 1]?.id).toBe(2);
      const ids = {
        foreign_id: 987_654_321,
        null_id: null,
        object_id: { id: 2 },
        wrong_version: 2,
        typed_id: '2',
      };
      expect(wrong.id).toEqual((ids as Record<string, unknown>)[tool]);
    },
  );

  test('leaves the right answer out when asked', async () => {
    const client = await startReadyServer('wrong-id');
    void client.call('foreign_id', { right: false, id: 77 }, { id: 70 });
    await expectEcho(client);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([70]);
    expect(client.ledger.strays.map(({ id }) => id)).toEqual([77]);
  });

  test('answers twice', async () => {
    const client = await startReadyServer('wrong-id');
    expect(textOf(await client.call('twice'))).toBe('right');
    await until(() => client.ledger.doubled().length === 1);
    expect(() => client.check()).toThrow(/answered 2 times: tools\/call/);
  });

  test('answers in shapes that are not allowed', async () => {
    const client = await startReadyServer('wrong-id');
    const shapes = {
      both: { result: expect.anything(), error: { code: -32000, message: 'both' } },
      result_not_object: { result: 'just text' },
      error_string: { error: 'it broke' },
      error_null: { error: null },
      error_no_code: { error: { message: 'no code' } },
      error_long: { error: { code: -32001, message: 'm'.repeat(1_048_576) } },
      content_not_array: { result: { content: 'text' } },
      content_missing: { result: { isError: false } },
      is_error_string: { result: { content: expect.anything(), isError: 'yes' } },
    };
    for (const [tool, shape] of Object.entries(shapes)) {
      expect(await client.call(tool)).toEqual({ jsonrpc: '2.0', id: expect.anything(), ...shape });
    }
    expect(Object.keys(await client.call('neither'))).toEqual(['jsonrpc', 'id']);
    expect((await client.call('result_not_object', { value: null })).result).toBeNull();
  });
});

describe('pages', () => {
  test('lists in pages and refuses foreign cursors', async () => {
    const client = await startReadyServer('pages', ['--pages=3', '--per-page=4']);
    const sizes: number[] = [];
    let cursor: string | undefined;
    do {
      const { result } = await client.request('tools/list', { cursor });
      sizes.push(result.tools.length);
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(sizes).toEqual([4, 4, 4]);
    expect((await client.request('tools/list', { cursor: 'made up' })).error?.code).toBe(-32602);
    expect((await client.request('tools/list', { cursor: 'after-3' })).error?.code).toBe(-32602);
    expect(textOf(await client.call('page_3_tool_4'))).toBe('page_3_tool_4');
    expect(textOf(await client.call('list_count'))).toBe('5');
  });

  test('never ends, or repeats its cursor', async () => {
    const endless = await startReadyServer('pages', ['--endless']);
    const far = await endless.request('tools/list', { cursor: 'after-5000' });
    expect(far.result).toMatchObject({ nextCursor: 'after-5001', tools: [{ name: 'page_5001_tool_1' }, {}] });
    const repeat = await startReadyServer('pages', ['--repeat']);
    const one = await repeat.request('tools/list');
    expect((await repeat.request('tools/list', { cursor: one.result.nextCursor })).result).toEqual(
      one.result,
    );
  });
});

describe('asks', () => {
  test.each([[[]], [['--number-ids']]])('asks during a call and tells the answer %j', async (args) => {
    const client = await startReadyServer('asks', args);
    client.handle('roots/list', () => ({ result: { roots: [{ uri: 'file:///a' }] } }));
    client.handle('sampling/createMessage', (params) => ({
      error: { code: -1, message: params.messages[0].role },
    }));
    const said = async (tool: string, input = {}): Promise<unknown> =>
      JSON.parse(textOf(await client.call(tool, input)));
    expect(await said('ask_ping')).toEqual({ result: {} });
    expect(await said('ask_roots')).toEqual({ result: { roots: [{ uri: 'file:///a' }] } });
    expect(await said('ask_sampling')).toEqual({ error: { code: -1, message: 'user' } });
    expect(await said('ask_elicitation')).toMatchObject({ error: { code: -32601 } });
    expect(await said('ask_unknown')).toMatchObject({ error: { code: -32601 } });
    expect(await said('ask', { method: 'ping', params: { a: 1 } })).toEqual({ result: {} });
    expect(await said('ask_many', { count: 200 })).toEqual({ result: 200, error: 0, unanswered: 0 });
    expect(await said('client')).toMatchObject({ protocolVersion: '2025-06-18' });
    expect(client.requests.slice(0, 5).map(({ method }) => method)).toEqual([
      'ping',
      'roots/list',
      'sampling/createMessage',
      'elicitation/create',
      'nobody/knows',
    ]);
    expect(typeof client.requests[0]?.id).toBe(args.length === 0 ? 'string' : 'number');
  });

  test('tells when nobody answers', async () => {
    const client = await startReadyServer('asks', ['--wait-ms=30']);
    client.handle('ping', () => undefined);
    expect(JSON.parse(textOf(await client.call('ask_ping')))).toEqual({ unanswered: 30 });
  });
});

describe('progress', () => {
  test.each([['text'], [0], [7]])('reports with the token it was given: %j', async (progressToken) => {
    const client = await startReadyServer('progress');
    const response = await client.call('steps', { n: 4 }, { progressToken });
    expect(JSON.parse(textOf(response))).toEqual({ token: progressToken, sent: 4 });
    const params = client.notifications.map((message) => message.params);
    expect(params.map(({ progress }) => progress)).toEqual([1, 2, 3, 4]);
    expect(new Set(params.map((one) => one.progressToken))).toEqual(new Set([progressToken]));
  });

  test('reports nothing without a token', async () => {
    const client = await startReadyServer('progress');
    await client.call('steps', { n: 4 });
    expect(client.notifications).toEqual([]);
  });

  test('floods, reports for nobody, after the answer, backwards', async () => {
    const client = await startReadyServer('progress');
    await client.call('flood', { n: 5000 }, { progressToken: 'f' });
    expect(client.notifications).toHaveLength(5000);
    await client.call('stray', {});
    expect(client.notifications.at(-1)?.params.progressToken).toBe('nobody-gave-this');
    await client.call('after', { n: 2 }, { progressToken: 'a', id: 90 });
    await client.waitFor(({ params }) => params?.progressToken === 'a' && params.progress === 2);
    const answer = client.messages.findIndex(({ id }) => id === 90);
    const late = client.messages.findIndex(({ params }) => params?.progressToken === 'a');
    expect(late).toBeGreaterThan(answer);
    await client.call('backwards', {}, { progressToken: 'b' });
    const falling = client.notifications.filter(({ params }) => params.progressToken === 'b');
    expect(falling.map(({ params }) => params.progress)).toEqual([3, 2, 1]);
  });
});

describe('odd', () => {
  test('writes unusual JSON exactly as it says', async () => {
    const client = await startReadyServer('odd');
    const raw: Record<string, string> = {
      unknown_fields: '"future":{"a":[1,{"b":null}]}',
      unknown_content: '{"type":"hologram"',
      big_integers: '"above":9007199254740993,',
      huge_exponent: '"huge":1E400',
      minus_zero: '"zero":-0,"point":-0.0',
      lone_surrogate: 'high \\ud83d low',
      escaped_keys: '"\\u0069d":',
      duplicate_keys: '"key":1,"key":2',
      not_tool_shaped: '"result":{"ok":true,"name":"odd","args":{"a":1}}',
      proto_keys: '"__proto__":{"polluted":true}',
      bad_base64: '@@not base64@@',
      line_separators: 'a\u2028b\u2029c\u0085d',
      lone_cr: ',\r"id"',
      spaced: '{ "jsonrpc" : "2.0" ,\t"id"',
      id_last: '{"result":{"id":99,',
      null_result_fields: '"structuredContent":null',
      deep: `${'['.repeat(200)}${']'.repeat(200)}`,
    };
    for (const [tool, part] of Object.entries(raw)) {
      await client.call(tool);
      expect(client.lines.at(-1)?.text).toContain(part);
    }
    expect(client.problems).toEqual([]);
    expect((await client.call('error_data')).error).toEqual({
      code: -32002,
      message: 'Resource not found',
      data: { uri: 'test://gone', nested: { list: [1, 2, 3] } },
    });
    const listed = (await client.listTools()).map(({ name }) => name);
    const known = [
      ...Object.keys(raw),
      'error_data',
      'invalid_utf8',
      'control_char',
      'nul',
      'echo',
      'pid',
      'canary',
    ];
    expect(listed.toSorted()).toEqual(known.toSorted());
  });

  test.each([
    ['invalid_utf8', [0xff, 0xc0, 0x80]],
    ['control_char', [0x01]],
    ['nul', [0x00]],
  ])('%s is no JSON', async (tool, bytes) => {
    const client = await startReadyServer('odd');
    expect(textOf(await client.call(tool, { clean_after: true }))).toBe('clean');
    const bad = client.lines.filter(({ problem }) => problem !== undefined);
    expect(bad).toHaveLength(1);
    expect(bad[0]?.bytes.includes(Buffer.from(bytes))).toBe(true);
  });

  test('announces what nobody knows, or too little', async () => {
    const { result } = await startTestServer('odd').initialize();
    expect(result).toMatchObject({
      weather: { today: 'fine' },
      serverInfo: { flavour: 'vanilla' },
      capabilities: { telepathy: { range: 'short' } },
    });
    expect((await startTestServer('odd', ['--ansi-name']).initialize()).result.serverInfo.name).toContain(
      '\u001b[31m',
    );
    expect((await startTestServer('odd', ['--long-name']).initialize()).result.serverInfo.name).toHaveLength(
      1_048_576,
    );
    expect((await startTestServer('odd', ['--no-server-info']).initialize()).result).not.toHaveProperty(
      'serverInfo',
    );
  });
});

describe('many-tools', () => {
  test('has as many as it is told', async () => {
    const client = await startReadyServer('many-tools', ['--count=10000', '--description-bytes=80']);
    const tools = await client.listTools();
    expect(tools).toHaveLength(10_000);
    expect(tools[0].description).toHaveLength(80);
    expect(JSON.parse(textOf(await client.call('tool_10000', { a: 1 })))).toEqual({
      name: 'tool_10000',
      args: { a: 1 },
    });
  });

  test.each([
    ['long', /^.{100}$/],
    ['foreign', /[^A-Za-z0-9_-]/],
    ['underscores', /^a__tool_1$/],
    ['same', /^tool$/],
    ['reserved', /^add_server$/],
  ])('has names of the kind %s', async (kind, pattern) => {
    const client = await startReadyServer('many-tools', ['--count=3', `--names=${kind}`]);
    const tools = await client.listTools();
    expect(tools[0].name).toMatch(pattern);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(kind === 'same' ? 1 : 3);
    expect(JSON.parse(textOf(await client.call(tools[0].name))).name).toBe(tools[0].name);
  });

  test.each([
    ['ref-bomb', '#/$defs/level_30'],
    ['recursive', '"$ref":"#"'],
    ['redos', '(a+)+'],
    ['remote', 'http://127.0.0.1:9'],
  ])('has schemas of the kind %s', async (kind, part) => {
    const client = await startReadyServer('many-tools', ['--count=1', `--schema=${kind}`]);
    const [tool] = await client.listTools();
    expect(JSON.stringify(tool.inputSchema)).toContain(part);
    expect(tool.outputSchema).toEqual(tool.inputSchema);
  });
});

describe('versions', () => {
  test('answers with the version it was told', async () => {
    const answered = async (...args: string[]): Promise<unknown> =>
      (await startTestServer('versions', args).initialize()).result.protocolVersion;
    expect(await answered('--answer=2099-01-01')).toBe('2099-01-01');
    expect(await answered('--answer-json=3')).toBe(3);
    expect(await answered('--missing')).toBeUndefined();
    expect(await answered()).toBe('2025-06-18');
  });

  test('refuses', async () => {
    const { error } = await startTestServer('versions', ['--refuse']).initialize();
    expect(error).toMatchObject({
      code: -32022,
      data: { supported: ['2026-07-28'], requested: '2025-06-18' },
    });
  });

  test('speaks only the modern dialect', async () => {
    const client = startTestServer('versions', ['--modern-only'], { strict: true });
    expect((await client.initialize()).error?.code).toBe(-32022);
    expect((await client.request('tools/list')).error?.code).toBe(-32602);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect((await client.request('server/discover', { _meta })).result.supportedVersions).toEqual([
      '2026-07-28',
    ]);
    const call = await client.request('tools/call', { name: 'echo', arguments: { text: 'm' }, _meta });
    expect(call.result).toMatchObject({ resultType: 'complete', content: [{ text: 'm' }] });
  });
});

describe('changing', () => {
  test('changes its tools and says so', async () => {
    const client = await startReadyServer('changing');
    const has = async (tool: string): Promise<boolean> =>
      (await client.listTools()).some(({ name }) => name === tool);
    await client.call('grow', { name: 'extra' });
    expect(await has('extra')).toBe(true);
    expect(textOf(await client.call('extra'))).toBe('I am extra');
    await client.call('redescribe', { name: 'extra', description: 'new' });
    expect((await client.listTools()).find(({ name }) => name === 'extra').description).toBe('new');
    await client.call('shrink', { name: 'extra' });
    expect(await has('extra')).toBe(false);
    expect(client.notifications.map(({ method }) => method)).toEqual(
      Array(3).fill('notifications/tools/list_changed'),
    );
  });

  test('changes silently, and toggles', async () => {
    const client = await startReadyServer('changing', ['--silent', '--toggle']);
    await client.call('grow');
    expect(client.notifications).toEqual([]);
    const described = async (): Promise<string> =>
      (await client.listTools()).find(({ name }) => name === 'echo').description;
    expect([await described(), await described(), await described()]).toEqual(['A', 'B', 'A']);
  });
});

describe('mock-child', () => {
  test.each(['newline', 'content-length'] as const)(
    'answers in the framing it is asked in: %s',
    async (framing) => {
      const client = startClient({
        command: process.execPath,
        args: ['index.mjs'],
        cwd: join(ROOT, 'examples/mock-child'),
        framing,
      });
      expect((await client.initialize('2025-03-26')).result).toMatchObject({
        protocolVersion: '2025-03-26',
        serverInfo: { name: 'mock' },
      });
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['click', 'type', 'screenshot']);
      expect((await client.call('click', { selector: '#a' })).result).toEqual({
        ok: true,
        name: 'click',
        args: { selector: '#a' },
      });
      expect((await client.call('drag')).error?.code).toBe(-32602);
      expect((await client.request('no/such')).error?.code).toBe(-32601);
      expect(await client.close()).toMatchObject({ code: 0 });
    },
  );
});

describe('official servers', () => {
  test.each(['everything', 'filesystem', 'memory'] as const)(
    '%s starts and lists its tools',
    async (name) => {
      const project = createProject();
      const server = npmServer(name, ...(name === 'filesystem' ? [project.dir] : []));
      const client = startClient({
        ...server,
        env: { MEMORY_FILE_PATH: project.path('memory.json') },
      });
      await client.initialize();
      expect((await client.listTools()).length).toBeGreaterThan(5);
    },
  );
});

describe('the client itself', () => {
  test('fails a wait at its deadline and shows stderr', async () => {
    const client = startTestServer('never-initialize');
    void client.initialize();
    await client.waitForStderr(/not answering/);
    await expect(client.request('ping', {}, { deadline: 50 })).rejects.toThrow(
      /No answer to ping \(id 2\) within 50 ms.*stderr: .*not answering/s,
    );
    await expect(client.waitFor(() => false, { deadline: 10 })).rejects.toThrow(/Waited 10 ms for a message/);
    await expect(client.waitForStderr(/never/, { deadline: 10 })).rejects.toThrow(
      /stderr to match \/never\//,
    );
    await expect(until(() => false, { deadline: 10, what: 'nothing' })).rejects.toThrow(/10 ms for nothing/);
  });

  test('fails a strict test over a line that is no message', async () => {
    // Checked at the end of the test too, so the strict client lives in a scope of its own here.
    const work: (() => Promise<void>)[] = [];
    const client = startTestServer('noisy', [], {
      strict: true,
      scope: { onTestFinished: (one) => work.push(one) },
    });
    onTestFinished(() => killAll(client.marker));
    await client.initialize();
    await expect(client.close()).rejects.toThrow(/Bad output: not JSON .*Noisy server/);
    expect(work).toHaveLength(1);
    await expect(work[0]!()).rejects.toThrow(/Bad output/);
  });

  test('finds the processes of a test by their marker, and only those', async () => {
    const mine = marker();
    const client = await startReadyServer('echo', [], { marker: mine });
    await startReadyServer('echo');
    expect(processesWith(mine).map(({ pid }) => pid)).toEqual([client.pid]);
    await expect(waitUntilGone(mine, 50)).rejects.toThrow(new RegExp(`${String(client.pid)} .*echo\\.mjs`));
    await client.close();
    await waitUntilGone(mine);
  });

  test('matches raw requests, reused ids and ids of either type', async () => {
    const client = await startReadyServer('echo', [], { strict: true });
    const raw = client.answerTo(5);
    client.sendRaw('{"jsonrpc":"2.0","id":5,"method":"ping"}\n');
    expect((await raw).result).toEqual({});
    const [number, string] = await Promise.all([
      client.call('echo', { text: 'number' }, { id: 9 }),
      client.call('echo', { text: 'string' }, { id: '9' }),
    ]);
    expect([textOf(number), textOf(string)]).toEqual(['number', 'string']);
    expect(textOf(await client.call('echo', { text: 'again' }, { id: 9 }))).toBe('again');
    client.sendRaw('not json\n');
    await client.waitFor(({ id, error }) => id === null && error?.code === -32700);
    client.check();
  });

  test('stops reading when told to', async () => {
    const client = await startReadyServer('huge');
    client.pauseReading();
    const call = client.call('huge', { bytes: 5_000_000 });
    const answered = await Promise.race([
      call.then(() => true),
      client.call('pid').then(() => true),
      pause(),
    ]);
    expect(answered).toBe(false);
    client.resumeReading();
    expect(textOf(await call)).toHaveLength(5_000_000);
  });
});

async function pause(): Promise<boolean> {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return false;
}
