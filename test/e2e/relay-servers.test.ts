/**
 * The servers that offer and ask more than tools, driven directly: each really does what its header says. Without this,
 * a test of the gateway may only have met a server that does less.
 */
import { expect, test, describe } from 'vitest';
import { startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { sdkClients } from '../helpers/sdk-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';

async function ready(name: string, args: string[] = [], capabilities: object = {}): Promise<RawClient> {
  const client = startClient(nodeServer(name, ...args));
  const { result } = await client.initialize('2025-11-25', capabilities);
  expect(result?.capabilities?.tools).toBeDefined();
  return client;
}

const parsedText = async (answer: Promise<RpcMessage>): Promise<any> => JSON.parse(textOf(await answer));

describe('odd-fields', () => {
  test('writes what JSON.stringify would write otherwise, and legal JSON nevertheless', async () => {
    const client = await ready('odd-fields');
    const first = client.wireText(client.messages[0]!);
    expect(first).toContain('"t":21.50');
    expect(first).toContain('"big":9007199254740993');
    const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
    for (const method of lists) {
      const answer = await client.request(method);
      const text = client.wireText(answer);
      expect(JSON.stringify(answer)).not.toBe(text);
      expect(text).toMatch(/[:[]1\.0\b/);
    }
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('escaped');
    expect(tools.every(({ description }) => typeof description === 'string')).toBe(true);
    expect(tools.find(({ name }) => name === 'members')).toMatchObject({
      title: expect.any(String),
      annotations: { mood: 'odd' },
      icons: [{ glow: 100 }],
      _meta: {},
      execution: { later: true },
    });
    for (const name of ['numbers', 'escaped', 'spaced', 'alike']) {
      const answer = await client.call(name);
      expect(JSON.stringify(answer)).not.toBe(client.wireText(answer));
    }
    let depth = 0;
    const { structuredContent } = (await client.call('deep')).result;
    for (let value = structuredContent; typeof value === 'object'; value = Object.values(value)[0]) depth++;
    expect(depth).toBeGreaterThanOrEqual(200);
  });

  test('refuses with codes and data of its own', async () => {
    const client = await ready('odd-fields');
    for (const code of [-32002, -32042, 4711]) {
      const { error } = await client.call('refused', { code });
      expect(error).toMatchObject({ code, message: 'refused as asked', data: expect.any(Object) });
    }
    expect((await client.call('failed')).result.isError).toBe(true);
    expect((await client.request('resources/read', { uri: 'odd://item/none' })).error?.code).toBe(-32002);
  });

  test('reports five times in one chunk with the answer', async () => {
    const client = await ready('odd-fields');
    const chunks = client.chunkSizes.length;
    await client.call('progress', {}, { progressToken: 'p' });
    expect(client.chunkSizes.length - chunks).toBe(1);
    expect(client.notifications.map(({ params }) => params.progress)).toEqual([1, 2, 3, 4, 5]);
  });

  test('gives back the text it was asked in', async () => {
    const client = await ready('odd-fields');
    const answer = client.answerTo('x');
    client.sendRaw(
      '{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"as_received","arguments":{"n":1.0}}}\n',
    );
    expect(textOf(await answer)).toBe(
      '{"jsonrpc":"2.0","id":(id),"method":"tools/call","params":{"name":"as_received","arguments":{"n":1.0}}}',
    );
  });
});

describe('asking', () => {
  test('asks what the client cannot do, and tells what it was answered', async () => {
    const client = await ready('asking', ['--name=me']);
    for (const kind of ['ask_form', 'ask_url', 'ask_model', 'ask_roots', 'ask_unknown']) {
      expect((await parsedText(client.call(kind, { tag: 't' }))).error.code).toBe(-32601);
    }
    expect(await parsedText(client.call('ask_ping', { tag: 't' }))).toEqual({ result: {} });
    expect(client.requests.map(({ id, method }) => [id, method])).toEqual([
      [1, 'elicitation/create'],
      [2, 'elicitation/create'],
      [3, 'sampling/createMessage'],
      [4, 'roots/list'],
      [5, 'vendor.example/ask'],
      [6, 'ping'],
    ]);
    for (const { params } of client.requests.slice(0, 5)) expect(JSON.stringify(params)).toContain('me:t');
    expect(await parsedText(client.call('tally'))).toEqual({ asked: 6, open: 0, result: 1, '-32601': 5 });
  });

  test('withdraws its question by itself and when its call is cancelled', async () => {
    const client = await ready('asking');
    client.handle('elicitation/create', () => undefined);
    expect(textOf(await client.call('ask_then_cancel', { tag: 't' }))).toBe('withdrawn');
    void client.call('ask_form', { tag: 't' }, { id: 'call' });
    await client.waitFor(({ id }) => id === 2);
    client.notify('notifications/cancelled', { requestId: 'call' });
    await client.waitFor(
      ({ method, params }) => method === 'notifications/cancelled' && params.requestId === 2,
    );
    expect(client.notifications.map(({ params }) => params.requestId)).toEqual([1, 2]);
  });

  test('asks many at once and sums up, and hears progress for its questions', async () => {
    const client = await ready('asking', ['--name=me']);
    let asked = 0;
    client.handle('elicitation/create', (params) => {
      const progressToken = params._meta?.progressToken;
      if (progressToken !== undefined)
        client.notify('notifications/progress', { progressToken, progress: 1 });
      return ++asked % 2 === 0
        ? { error: { code: -32000, message: 'busy' } }
        : { result: { action: 'decline' } };
    });
    const summary = await parsedText(client.call('ask_many', { tag: 'm', n: 1000, summary: true }));
    expect(summary).toEqual({ result: 500, '-32000': 500 });
    expect(client.requests[999]?.params.message).toContain('me:m-1000 ');
    const { progress } = await parsedText(client.call('ask_form', { tag: 'p', progress: true }));
    expect(progress).toEqual([{ progressToken: 1001, progress: 1 }]);
  });

  test.each(Object.entries(sdkClients))('%s answers each of its questions', async (_name, start) => {
    const client = await start({
      cwd: createProject().dir,
      server: nodeServer('asking', '--name=me'),
      answer: ({ method, params }) => {
        const asker = JSON.stringify(params).match(/me:\w+/)?.[0];
        if (method === 'roots/list') return { roots: [{ uri: `file:///${asker}` }] };
        if (method === 'elicitation/create')
          return params.mode === 'url'
            ? { action: 'accept', _meta: { to: asker } }
            : { action: 'accept', content: { answer: asker } };
        return { role: 'assistant', model: 'm', content: { type: 'text', text: asker } };
      },
    });
    for (const kind of ['ask_form', 'ask_url', 'ask_model', 'ask_roots']) {
      expect(await client.call(kind, { tag: kind })).toContain(`me:${kind}`);
    }
    await client.rootsChanged();
    expect(await client.call('received')).toContain('notifications/roots/list_changed');
  });
});

describe('offering', () => {
  const flags = [
    '--name=me',
    '--tools=look',
    '--resources=demo://a,demo://b',
    '--templates=demo://{x}/c',
    '--prompts=ask',
  ];

  test('answers as itself to everything it offers', async () => {
    const client = await ready('offering', flags);
    expect(textOf(await client.call('look', { n: 1 }))).toBe('me ran look with {"n":1}');
    const read = async (uri: string) =>
      (await client.request('resources/read', { uri })).result?.contents[0].text;
    expect(await read('demo://b')).toBe('me has demo://b');
    expect(await read('demo://7/c')).toBe('me made demo://7/c');
    expect(await read('demo://7/d')).toBe(undefined);
    const got = await client.request('prompts/get', { name: 'ask' });
    expect(got.result.messages[0].content.text).toBe('me says ask with {}');
    const completed = await client.request('completion/complete', {
      ref: { type: 'ref/prompt', name: 'ask' },
      argument: { name: 'topic', value: 'v' },
    });
    expect(completed.result.completion.values).toEqual(['me completes ask topic=v']);
    for (const [method, key, name] of [
      ['resources/list', 'resources', 'demo://a'],
      ['resources/templates/list', 'resourceTemplates', 'demo://{x}/c'],
      ['prompts/list', 'prompts', 'ask'],
    ] as const) {
      expect(JSON.stringify((await client.request(method)).result[key])).toContain(name);
    }
  });

  test('changes, storms and touches', async () => {
    const client = await ready('offering', flags);
    await client.call('add', { kind: 'tool', names: ['x', 'y'] });
    await client.call('add', { kind: 'template', names: ['t://{x}'] });
    await client.call('remove', { kind: 'prompt', names: ['ask'] });
    await client.call('relist_storm', { n: 3, kind: 'resource' });
    await client.call('touch', { uri: 'demo://a' });
    expect(client.notifications.map(({ method }) => method?.split('/').slice(1).join(' '))).toEqual([
      'tools list_changed',
      'tools list_changed',
      'resources list_changed',
      'prompts list_changed',
      'resources list_changed',
      'resources list_changed',
      'resources list_changed',
      'resources updated',
    ]);
    expect((await client.listTools()).map(({ name }) => name).slice(0, 3)).toEqual(['look', 'x', 'y']);
    await client.request('resources/subscribe', { uri: 'demo://a' });
    expect(await parsedText(client.call('state'))).toMatchObject({
      lists: { 'tools/list': 1 },
      subscribed: ['demo://a'],
    });
  });

  test('shows only what it was told to, when it is quiet', async () => {
    const client = await ready('offering', ['--tools=a,b', '--quiet']);
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a', 'b']);
  });
});

describe('broken ones', () => {
  test('bad-list refuses its list or never answers it, and runs calls', async () => {
    const refusing = await ready('bad-list');
    expect((await refusing.request('tools/list')).error?.message).toBe('the catalogue is on fire');
    const hanging = await ready('bad-list', ['--hang']);
    void hanging.request('tools/list');
    expect(textOf(await hanging.call('canary', { n: 1 }))).toBe('canary 1');
    expect(hanging.ledger.unanswered().map(({ method }) => method)).toEqual(['tools/list']);
  });

  test('late-bloomer works from its third start on', async () => {
    const starts = createProject().path('starts');
    for (const start of [1, 2]) {
      const client = startClient(nodeServer('late-bloomer', `--starts=${starts}`));
      expect((await client.exited).code).toBe(3);
      await client.waitForStderr(new RegExp(`not yet, start ${start}\n`));
    }
    const client = await ready('late-bloomer', [`--starts=${starts}`]);
    expect(textOf(await client.call('bloom'))).toBe('in bloom since start 3');
  });
});
