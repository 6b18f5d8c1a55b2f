/**
 * Clients that connect: the official ones of both generations over both transports, with every feature of the protocol
 * through the gateway to real servers, and a raw one that looks at the bytes.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, type HttpGateway } from '../helpers/http-gateway.ts';
import { officialClients, type CallExtras, type OfficialClient } from '../helpers/http-official-clients.ts';
import { textAt } from '../helpers/json-text.ts';
import { alive } from '../helpers/processes.ts';
import { startClient, textOf } from '../helpers/raw-client.ts';
import type { Question } from '../helpers/sdk-client.ts';
import { nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'prefixed' };

/** How a tool of a server is called. */
type Way = (server: string, tool: string, args?: object) => [name: string, args: object];
const exposures: Readonly<Record<string, { config: object; way: Way }>> = {
  flat: { config: FLAT, way: (server, tool, args = {}) => [`${server}__${tool}`, args] },
  suite: {
    config: {},
    way: (server, subtool, args = {}) => [`${server}_suite`, { action: 'call', subtool, args }],
  },
};

/** An answer that names who was asked, and by whom. */
function answerOf(who: string): (question: Question) => object {
  return ({ method, params }) => {
    if (method === 'roots/list') return { roots: [{ uri: `file:///${who}`, name: who }] };
    if (method === 'sampling/createMessage')
      return { role: 'assistant', model: 'm', content: { type: 'text', text: who } };
    return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { answer: who } };
  };
}

describe.each(Object.entries(exposures))('with %s exposure', (exposure, { config, way }) => {
  let gateway: HttpGateway;
  beforeAll(async () => {
    gateway = await startHttpGateway(
      {
        everything: npmServer('everything'),
        asking: nodeServer('asking'),
        offering: nodeServer('offering', '--resources=a:1', '--tools=one'),
        echo: nodeServer('echo'),
      },
      { config },
    );
  });
  afterAll(async () => {
    await gateway.stop();
    await gateway.project.remove();
  });

  describe.each(Object.entries(officialClients))('%s', (_name, connect) => {
    let official: OfficialClient;
    let other: OfficialClient;
    const call = (server: string, tool: string, args?: object, extras?: CallExtras): Promise<any> =>
      official.call(...way(server, tool, args), extras);
    const said = async (...asked: Parameters<typeof call>): Promise<string> =>
      (await call(...asked)).content[0].text;

    beforeAll(async () => {
      official = await connect(gateway, { answer: answerOf('the one') });
      other = await connect(gateway, { answer: answerOf('the other') });
    });
    afterAll(async () => {
      await Promise.all([official.leave(), other.leave()]);
      await gateway.untilLeft({ sessions: 0, children: 0 });
    });

    test('lists and calls', async () => {
      const names = async (): Promise<string[]> =>
        (await official.client.listTools()).tools.map(({ name }) => name);
      await until(async () => (await names()).includes(way('everything', 'echo')[0]), {
        what: 'the tools of everything',
      });
      expect(await said('everything', 'echo', { message: 'over HTTP' })).toBe('Echo: over HTTP');
      const image = await call('everything', 'get-tiny-image');
      expect(image.content.some((item: any) => item.type === 'image')).toBe(true);
      const structured = await call('everything', 'get-structured-content', { location: 'New York' });
      expect(structured.structuredContent).toMatchObject({ conditions: expect.any(String) });
      await official.client.ping();
    });

    test('hears of progress', async () => {
      const reports: number[] = [];
      const result = await call(
        'everything',
        'trigger-long-running-operation',
        { duration: 1.6, steps: 4 },
        { onprogress: ({ progress }) => reports.push(progress) },
      );
      expect(result.content[0].text).toContain('completed');
      // The last comes right before the answer, and may be dropped by a client that reads both at once.
      expect(reports.slice(0, 3)).toEqual([1, 2, 3]);
    });

    test('what it gives up is given up by the server', async () => {
      const before = JSON.parse(await said('asking', 'cancellations')).length;
      const giving = new AbortController();
      const hanging = call('asking', 'hang', {}, { signal: giving.signal }).catch((error: unknown) => error);
      const calls = async (): Promise<number> =>
        JSON.parse(await said('asking', 'received')).filter((m: string) => m === 'tools/call').length;
      const arrived = await calls();
      // The hanging one is there when it is counted beside the one that counts.
      await until(async () => (await calls()) > arrived, { what: 'the call to arrive' });
      giving.abort(new Error('no longer wanted'));
      expect(await hanging).toBeInstanceOf(Error);
      const cancellations = await until(
        async () => {
          const now = JSON.parse(await said('asking', 'cancellations'));
          return now.length > before ? now : undefined;
        },
        { what: 'the cancellation to arrive' },
      );
      expect(cancellations.at(-1)).toMatchObject({ known: true });
    });

    test('answers the requests of its own servers only', async () => {
      const form = JSON.parse(await said('asking', 'ask_form', { tag: 'f' }));
      expect(form.result).toMatchObject({ action: 'accept', content: { answer: 'the one' } });
      const model = JSON.parse(await said('asking', 'ask_model', { tag: 'm' }));
      expect(model.result.content.text).toBe('the one');
      const roots = JSON.parse(await said('asking', 'ask_roots', { tag: 'r' }));
      expect(roots.result.roots[0].name).toBe('the one');
      expect(JSON.parse(await said('asking', 'ask_url', { tag: 'u' })).result.action).toBe('accept');
      const { content } = await other.call(...way('asking', 'ask_form', { tag: 'o' }));
      expect(JSON.parse(content[0].text).result.content.answer).toBe('the other');
    });

    test('answers many questions of many calls at once', async () => {
      const clients = [official, other];
      const answers = await Promise.all(
        Array.from({ length: 20 }, async (_, n) => {
          const { content } = await clients[n % 2]!.call(...way('asking', 'ask_form', { tag: `n${n}` }));
          return JSON.parse(content[0].text).result.content.answer;
        }),
      );
      expect(answers).toEqual(answers.map((_, n) => ['the one', 'the other'][n % 2]));
    });

    test('hears log messages at the level it asked for', async () => {
      await said('asking', 'pid');
      await official.client.setLoggingLevel('info');
      await said('asking', 'log', { level: 'debug', tag: 'too little' });
      await said('asking', 'log', { level: 'warning', tag: 'enough' });
      const logged = (tag: string, { heard }: OfficialClient): boolean =>
        heard.some(
          ({ method, params }) => method === 'notifications/message' && params.data === `asking:${tag}`,
        );
      await until(() => logged('enough', official), { what: 'the log message' });
      expect(logged('too little', official)).toBe(false);
      expect(logged('enough', other)).toBe(false);
    });

    test('hears that a list has changed, and gets the new one', async () => {
      const name = exposure === 'flat' ? 'tools' : 'prompts';
      const kind = exposure === 'flat' ? 'tool' : 'prompt';
      const method = `notifications/${name}/list_changed`;
      await official.client.listTools();
      await official.client.listPrompts();
      official.heard.length = 0;
      await said('offering', 'add', { kind, names: ['fresh'] });
      await until(() => official.heard.some((one) => one.method === method), { what: method });
      const listed = async (): Promise<string[]> =>
        exposure === 'flat'
          ? (await official.client.listTools()).tools.map((tool) => tool.name)
          : (await official.client.listPrompts()).prompts.map((prompt) => prompt.name);
      await until(async () => (await listed()).some((one) => one.endsWith('fresh')), {
        what: 'the new one in the list',
      });
    });

    test('hears of changes to what it subscribed to', async () => {
      await until(
        async () => (await official.client.listResources()).resources.some(({ uri }) => uri === 'a:1'),
        { what: 'the resource' },
      );
      const { contents } = await official.client.readResource({ uri: 'a:1' });
      expect(contents[0]).toMatchObject({ uri: 'a:1', text: 'offering has a:1' });
      await official.client.subscribeResource({ uri: 'a:1' });
      await said('offering', 'touch', { uri: 'a:1' });
      const updated = ({ heard }: OfficialClient): boolean =>
        heard.some(
          ({ method, params }) => method === 'notifications/resources/updated' && params.uri === 'a:1',
        );
      await until(() => updated(official), { what: 'the update' });
      expect(updated(other)).toBe(false);
    });

    test('gets prompts and completions', async () => {
      const prompts = await until(
        async () => {
          const { prompts: listed } = await official.client.listPrompts();
          return listed.some(({ name }) => name.endsWith('completable-prompt')) ? listed : undefined;
        },
        { what: 'the prompts of everything' },
      );
      const { name } = prompts.find((prompt) => prompt.name.endsWith('completable-prompt'))!;
      const args = { department: 'Sales', name: 'Eve' };
      const { messages } = await official.client.getPrompt({ name, arguments: args });
      expect(JSON.stringify(messages)).toContain('promote Eve to the head of the Sales team');
      const { completion } = await official.client.complete({
        ref: { type: 'ref/prompt', name },
        argument: { name: 'department', value: 'S' },
      });
      expect(completion.values).toEqual(['Sales', 'Support']);
    });

    test('gets an answer of several megabytes whole', async () => {
      expect(await said('echo', 'big', { bytes: 6_000_000 })).toHaveLength(6_000_000);
      const text = 'é'.repeat(1_000_000);
      expect(await said('echo', 'echo', { text })).toBe(text);
    });
  });
});

describe('the bytes', () => {
  const ODD = ['numbers', 'content', 'members', 'escaped', 'spaced', 'utf8', 'deep', 'alike'];

  test('an answer is what the server wrote: unknown content, the text of numbers, white space', async () => {
    const gateway = await startHttpGateway(
      { odd: nodeServer('odd-fields') },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    const session = await HttpSession.open(gateway);
    const direct = startClient(nodeServer('odd-fields'));
    await direct.initialize();
    for (const tool of ODD) {
      const wanted = textAt(direct.wireText(await direct.call(tool)), 'result');
      const params = { name: tool, arguments: {} };
      expect(textAt(await session.requestText('tools/call', params), 'result'), tool).toBe(wanted);
    }
    const numbers = await session.requestText('tools/call', { name: 'numbers', arguments: {} });
    expect(numbers).toContain('1.0');
    await gateway.stop();
  });

  test('arguments are what the client wrote, also when they are spread over lines', async () => {
    const gateway = await startHttpGateway(
      { odd: nodeServer('odd-fields') },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    const session = await HttpSession.open(gateway);
    const args = '{"big":12345678901234567890,"one":1.0,"tiny":1e-400,"text":"\\u00e9 \\/"}';
    const body = `{"jsonrpc":"2.0",\r\n "id":"a b",\n"method":"tools/call","params":{"name":"as_received","arguments":${args}}}`;
    const answer = await (await session.post(body)).text();
    expect(textAt(answer, 'id')).toBe('"a b"');
    expect(textAt(textOf(JSON.parse(answer)), 'params', 'arguments')).toBe(args);
    await gateway.stop();
  });

  test('a big answer comes whole, with its length', async () => {
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      { config: { exposure: 'flat', naming: 'plain' } },
    );
    const session = await HttpSession.open(gateway);
    const body = (bytes: number): string =>
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'big', arguments: { bytes } },
      });
    const response = await session.post(body(12_000_000));
    expect(response.headers.get('content-type')).toBe('application/json');
    const text = await response.text();
    expect(Number(response.headers.get('content-length'))).toBe(text.length);
    expect(textOf(JSON.parse(text))).toHaveLength(12_000_000);
    await gateway.stop();
  });
});

describe('a connection that breaks', () => {
  const PLAIN = { config: { exposure: 'flat', naming: 'plain' } };

  test.each(['2025-06-18', '2025-11-25'])(
    'the rest of a call comes on a GET with Last-Event-ID, once and in order (%s)',
    async (version) => {
      const gateway = await startHttpGateway({ progress: nodeServer('progress') }, PLAIN);
      const session = await HttpSession.open(gateway, { version });
      await session.call('pid');
      const params = { name: 'steps', arguments: { n: 12, ms: 60 }, _meta: { progressToken: 'p' } };
      const stream = await session.stream('tools/call', params, 'long');
      await stream.waitFor((message) => message.params?.progress === 2, 'the second step');
      stream.cut();
      await until(() => stream.ended, { what: 'the stream to be cut' });
      const before = stream.messages.map((message) => message.params.progress);
      const resumed = await session.listen(stream.events.at(-1)!.id);
      const answer = await resumed.waitFor(({ id }) => id === 'long', 'the answer');
      expect(JSON.parse(textOf(answer)).sent).toBe(12);
      const after = resumed.messages.flatMap((message) => message.params?.progress ?? []);
      expect([...before, ...after]).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
      // The stream was that of the call, and ends with it.
      await until(() => resumed.ended, { what: 'the stream to end' });
      await gateway.stop();
    },
  );

  test('messages sent without a listener are kept for the next GET, none twice', async () => {
    const gateway = await startHttpGateway({ offering: nodeServer('offering', '--resources=a:1') }, PLAIN);
    const session = await HttpSession.open(gateway);
    await until(async () => (await session.request('resources/list')).result.resources.length > 0);
    expect((await session.request('resources/subscribe', { uri: 'a:1' })).result).toEqual({});
    const updates = (messages: readonly { method?: string }[]): number =>
      messages.filter(({ method }) => method === 'notifications/resources/updated').length;

    const first = await session.listen();
    await session.call('touch', { uri: 'a:1' });
    await until(() => updates(first.messages) === 1, { what: 'the first update' });
    const last = first.events.at(-1)!.id!;
    first.cut();
    await until(() => first.ended, { what: 'the stream to be cut' });
    await session.call('touch', { uri: 'a:1' });
    await session.call('touch', { uri: 'a:1' });
    const second = await session.listen(last);
    await until(() => updates(second.messages) >= 2, { what: 'the missed updates' });
    await session.call('touch', { uri: 'a:1' });
    await until(() => updates(second.messages) >= 3, { what: 'the next update' });
    expect(updates(second.messages)).toBe(3);
    const ids = second.events.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    second.cut();
    await gateway.stop();
  });

  test('a session that is ended ends its streams and its servers, and is unknown from then on', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, PLAIN);
    const [ending, staying] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    const [pid, otherPid] = await Promise.all(
      [ending, staying].map(async (session) => Number(textOf(await session.call('pid')))),
    );
    const stream = await ending.listen();
    const hanging = ending.call('slow_echo', { text: 'never', ms: 60_000 });
    const calls = async (): Promise<number> =>
      JSON.parse(textOf(await ending.call('received'))).filter((method: string) => method === 'tools/call')
        .length;
    const counted = await calls();
    await until(async () => (await calls()) > counted, { what: 'the call to arrive' });
    expect(await ending.end()).toBe(204);
    await until(() => stream.ended, { what: 'its stream to end' });
    expect((await hanging).error?.message).toMatch(/session has ended/);
    await until(() => !alive(pid!), { what: 'its server to end' });
    for (const status of [
      (await ending.post('{"jsonrpc":"2.0","id":1,"method":"ping"}')).status,
      (await ending.listen()).status,
      await ending.end(),
    ]) {
      expect(status).toBe(404);
    }
    expect(textOf(await staying.call('pid'))).toBe(String(otherPid));
    await gateway.stop();
  });

  test('a client that only goes away from its call has not cancelled it', async () => {
    const gateway = await startHttpGateway({ slow: nodeServer('slow') }, PLAIN);
    const session = await HttpSession.open(gateway);
    await session.call('pid');
    const cut = new AbortController();
    const body = {
      jsonrpc: '2.0',
      id: 'left',
      method: 'tools/call',
      params: { name: 'hang', arguments: {} },
    };
    const hanging = session.post(JSON.stringify(body), cut.signal).catch(() => 'cut');
    const running = async (): Promise<string> => textOf(await session.call('running_count'));
    await until(async () => (await running()) === '1', { what: 'the call to arrive' });
    cut.abort();
    expect(await hanging).toBe('cut');
    expect(await running()).toBe('1');
    expect(textOf(await session.call('cancelled_count'))).toBe('0');
    await session.notify('notifications/cancelled', { requestId: 'left' });
    await until(async () => textOf(await session.call('cancelled_count')) === '1', {
      what: 'the call to be cancelled',
    });
    await gateway.stop();
  });
});
