/**
 * Many clients of one gateway at the same time: nobody gets what belongs to another, whether each has servers of its own
 * or all use one together.
 */
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from '@modelcontextprotocol/client';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { begin, HttpSession, type Target } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { alive } from '../helpers/processes.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'plain' };
const SHARED = { isolation: 'shared' };
const CANARY = 'canary_suite';

/** The arguments of a suite. */
const run = (subtool: string, args: object = {}) => ({ action: 'call', subtool, args });

/** What the canary server says. */
interface Said {
  readonly pid: number;
  readonly value: string;
}

/** One client, of whatever make. */
interface Caller {
  call(tool: string, args?: object): Promise<any>;
  leave(): Promise<unknown>;
}

const makers: Readonly<Record<'light' | 'v1' | 'v2', (target: Target) => Promise<Caller>>> = {
  async light(target) {
    const session = await HttpSession.open(target);
    return {
      call: async (tool, args) => JSON.parse(textOf(await session.call(tool, args))),
      leave: () => session.end(),
    };
  },
  async v1({ url, token }) {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new TransportV1(new URL(url), { requestInit });
    const client = new ClientV1({ name: 'v1', version: '1' });
    atTestEnd(() => client.close());
    await client.connect(transport);
    return {
      call: async (tool, args) => {
        const result: any = await client.callTool({ name: tool, arguments: { ...args } });
        return JSON.parse(result.content[0].text as string);
      },
      leave: async () => {
        await transport.terminateSession();
        await client.close();
      },
    };
  },
  async v2({ url, token }) {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    const transport = new TransportV2(new URL(url), { requestInit });
    const client = new ClientV2({ name: 'v2', version: '1' });
    atTestEnd(() => client.close());
    await client.connect(transport);
    return {
      call: async (tool, args) => {
        const result: any = await client.callTool({ name: tool, arguments: { ...args } });
        return JSON.parse(result.content[0].text as string);
      },
      leave: async () => {
        await transport.terminateSession();
        await client.close();
      },
    };
  },
};

/** Ten of each official client, and light ones. */
function connectAll(count: number, target: Target): Promise<Caller[]> {
  return Promise.all(
    Array.from({ length: count }, (_, n) => makers[n < 10 ? 'v1' : n < 20 ? 'v2' : 'light'](target)),
  );
}

async function openThree(target: Target): Promise<[HttpSession, HttpSession, HttpSession]> {
  return Promise.all([HttpSession.open(target), HttpSession.open(target), HttpSession.open(target)]);
}

describe('two hundred clients at the same time', { timeout: 180_000 }, () => {
  const CLIENTS = 200;

  test('each has a server of its own, which remembers its value alone and ends with its session', async () => {
    const gateway = await startHttpGateway({ canary: nodeServer('canary') });
    const clients = await connectAll(CLIENTS, gateway);
    expect((await gateway.health()).sessions).toBe(CLIENTS);

    const first = await Promise.all(
      clients.map((client, n): Promise<Said> =>
        client.call(CANARY, run('remember', { value: `canary-${n}` })),
      ),
    );
    expect(first.map(({ value }) => value)).toEqual(clients.map((_, n) => `canary-${n}`));
    const pids = first.map(({ pid }) => pid);
    expect(new Set(pids).size).toBe(CLIENTS);

    // Everybody has written before anybody reads, so that a server that two had in common would be found out.
    await Promise.all(
      clients.flatMap((client, n) =>
        [0, 1, 2].map(async (round) => {
          expect(await client.call(CANARY, run('recall'))).toEqual({ pid: pids[n], value: `canary-${n}` });
          const value = `${n}/${round}`;
          expect(await client.call(CANARY, run('tell', { value, ms: (n * 7 + round) % 20 }))).toEqual({
            pid: pids[n],
            value,
          });
        }),
      ),
    );

    const [leaving, staying] = [clients.slice(0, CLIENTS / 2), clients.slice(CLIENTS / 2)];
    await Promise.all(leaving.map((client) => client.leave()));
    await gateway.untilLeft({ sessions: staying.length, children: staying.length });
    expect(pids.slice(0, leaving.length).filter(alive)).toEqual([]);
    const still = await Promise.all(
      staying.map((client): Promise<Said> => client.call(CANARY, run('recall'))),
    );
    expect(still).toEqual(
      staying.map((_, n) => ({ pid: pids[leaving.length + n], value: `canary-${leaving.length + n}` })),
    );
    await Promise.all(staying.map((client) => client.leave()));
    await gateway.untilLeft({ sessions: 0, children: 0 });
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });

  test('a shared server is one process for all, and every answer is for the one who asked', async () => {
    const gateway = await startHttpGateway({ canary: { ...nodeServer('canary'), ...SHARED } });
    const clients = await connectAll(CLIENTS, gateway);
    const answers = await Promise.all(
      clients.flatMap((client, n) =>
        [0, 1, 2].map(async (round) => {
          const value = `${n}/${round}`;
          const said: Said = await client.call(CANARY, run('tell', { value, ms: (n * 13 + round) % 40 }));
          expect(said.value).toBe(value);
          return said.pid;
        }),
      ),
    );
    expect(new Set(answers).size).toBe(1);
    expect(gateway.children()).toHaveLength(1);
    await Promise.all(clients.map((client) => client.leave()));
    await gateway.untilLeft({ sessions: 0 });
    // It is nobody's in particular, so that it stays for the next one.
    const next = await makers.light(gateway);
    expect((await next.call(CANARY, run('tell', { value: 'next' }))).pid).toBe(answers[0]);
    expect(await gateway.stop()).toEqual({ code: 0, signal: null });
  });
});

describe('a shared server that asks its client', () => {
  const ELICITS = { capabilities: { elicitation: { form: {} } }, version: '2025-06-18' };
  const start = () => startHttpGateway({ asking: { ...nodeServer('asking'), ...SHARED } }, { config: FLAT });

  test('is refused while two clients have calls there, and neither is asked', async () => {
    const gateway = await start();
    const [one, two] = await Promise.all([
      HttpSession.open(gateway, ELICITS),
      HttpSession.open(gateway, ELICITS),
    ]);
    const [hears, hearsToo] = await Promise.all([one.listen(), two.listen()]);
    const hanging = await Promise.race([
      one.stream('tools/call', { name: 'hang', arguments: {}, _meta: { progressToken: 1 } }, 'hanging'),
      // The call has arrived there when a later one is answered.
      until(
        async () =>
          JSON.parse(textOf(await one.call('received'))).filter((m: string) => m === 'tools/call').length > 1,
      ),
    ]);
    const { error } = JSON.parse(textOf(await two.call('ask_form', { tag: 'whose' })));
    expect(error.code).toBe(-32000);
    expect(error.message).toMatch(/several clients share this server/);
    expect(hanging).toBe(true);
    for (const { messages } of [hears, hearsToo]) {
      expect(messages.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
    }
    hears.cut();
    hearsToo.cut();
    await Promise.all([one.end(), two.end()]);
    await gateway.stop();
  });

  test('reaches the one client that has a call there, and no other', async () => {
    const gateway = await start();
    const [one, two] = await Promise.all([
      HttpSession.open(gateway, ELICITS),
      HttpSession.open(gateway, ELICITS),
    ]);
    // Both are known there, and one is just listening.
    await Promise.all([one.call('pid'), two.call('pid')]);
    const hears = await one.listen();
    const asking = await two.stream('tools/call', { name: 'ask_form', arguments: { tag: 'mine' } });
    const question = await asking.waitFor(({ method }) => method === 'elicitation/create', 'the question');
    expect(question.params.message).toContain('asking:mine');
    await two.say({ id: question.id, result: { action: 'accept', content: { answer: 'to two' } } });
    const answer = await asking.waitFor(({ result }) => result !== undefined, 'the answer');
    expect(JSON.parse(textOf(answer)).result.content.answer).toBe('to two');
    expect(hears.messages.filter(({ method }) => method === 'elicitation/create')).toEqual([]);
    hears.cut();
    await gateway.stop();
  });

  test('one client cannot answer what another was asked', async () => {
    const gateway = await start();
    const [one, two] = await Promise.all([
      HttpSession.open(gateway, ELICITS),
      HttpSession.open(gateway, ELICITS),
    ]);
    const asking = await two.stream('tools/call', { name: 'ask_form', arguments: { tag: 'mine' } });
    const question = await asking.waitFor(({ method }) => method === 'elicitation/create', 'the question');
    const forged = { id: question.id, result: { action: 'accept', content: { answer: 'forged' } } };
    await one.say(forged).catch(() => undefined);
    expect((await one.request('ping')).result).toEqual({});
    await two.say({ id: question.id, result: { action: 'accept', content: { answer: 'real' } } });
    const answer = await asking.waitFor(({ result }) => result !== undefined, 'the answer');
    expect(JSON.parse(textOf(answer)).result.content.answer).toBe('real');
    await gateway.stop();
  });

  test("a cancellation with the id of another client's call cancels nothing of theirs", async () => {
    const gateway = await start();
    const [one, two] = await Promise.all([
      HttpSession.open(gateway, ELICITS),
      HttpSession.open(gateway, ELICITS),
    ]);
    const asking = await two.stream('tools/call', { name: 'ask_form', arguments: { tag: 'kept' } }, 'same');
    const question = await asking.waitFor(({ method }) => method === 'elicitation/create', 'the question');
    await one.notify('notifications/cancelled', { requestId: 'same' });
    expect((await one.request('ping')).result).toEqual({});
    await two.say({ id: question.id, result: { action: 'accept', content: { answer: 'kept' } } });
    const answer = await asking.waitFor(({ result }) => result !== undefined, 'the answer');
    expect(JSON.parse(textOf(answer)).result.content.answer).toBe('kept');
    expect(JSON.parse(textOf(await two.call('cancellations')))).toEqual([]);
    await gateway.stop();
  });
});

test('a client that makes a shared server print answers and progress cannot forge those of another', async () => {
  const gateway = await startHttpGateway({ it: { ...nodeServer('printing'), ...SHARED } }, { config: FLAT });
  const [one, two] = [await HttpSession.open(gateway), await HttpSession.open(gateway)];
  const holding = await two.stream('tools/call', { name: 'hold', _meta: { progressToken: 'mine' } });
  expect(textOf(await two.call('print', { text: '' }))).toBe('printed');
  const forged = (id: number | string): string => {
    const progress = {
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken: id, progress: 1 },
    };
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'forged' }] } };
    return `${JSON.stringify(progress)}\n${JSON.stringify(answer)}\n`;
  };
  // Small ones, their negatives and spellings as text, powers of two and their neighbours, and some of all 31 bits.
  const small = Array.from({ length: 1000 }, (_, id) => [id, -id, String(id)]).flat();
  const powers = Array.from({ length: 53 }, (_, bit) => [2 ** bit - 1, 2 ** bit, 2 ** bit + 1]).flat();
  const spread = Array.from({ length: 1000 }, (_, at) => Math.floor(((at + 0.5) * 2 ** 31) / 1000));
  const text = [...small, ...powers, ...spread].map(forged).join('');
  expect(textOf(await one.call('print', { text }))).toBe('printed');
  expect(textOf(await one.call('release'))).toBe('done');
  const answer = await holding.waitFor(({ result }) => result !== undefined, 'the answer');
  expect(textOf(answer)).toBe('released');
  expect(holding.events.filter(({ data }) => data.includes('notifications/progress'))).toEqual([]);
  await gateway.stop();
});

describe('a shared server is stopped that prints very much to nobody, which may be guesses', () => {
  const PRINTED: Readonly<Record<string, (id: number) => object>> = {
    answers: (id) => ({ id, result: {} }),
    progress: (id) => ({
      method: 'notifications/progress',
      params: { progressToken: id, progress: 1 },
    }),
  };

  test.each(Object.entries(PRINTED))('%s', async (_, message) => {
    const gateway = await startHttpGateway(
      { it: { ...nodeServer('printing'), ...SHARED } },
      { config: FLAT },
    );
    const [one, two] = [await HttpSession.open(gateway), await HttpSession.open(gateway)];
    const holding = await two.stream('tools/call', { name: 'hold' });
    expect(textOf(await two.call('print', { text: '' }))).toBe('printed');
    const lines = Array.from({ length: 20_000 }, (_, id) =>
      JSON.stringify({ jsonrpc: '2.0', ...message(id + 1) }),
    );
    void one.call('print', { text: `${lines.join('\n')}\n` }).catch(() => undefined);
    const answer = await holding.waitFor(
      ({ result, error }) => (result ?? error) !== undefined,
      'the answer',
    );
    expect(JSON.stringify(answer)).toContain(
      'sends too many responses or progress for requests that it did not get',
    );
    expect(textOf(await one.call('print', { text: '' }))).toBe('printed');
    await gateway.stop();
  });
});

test('a shared server may go on reporting progress of a call that was answered', async () => {
  const gateway = await startHttpGateway({ it: { ...nodeServer('progress'), ...SHARED } }, { config: FLAT });
  const session = await HttpSession.open(gateway);
  const pid = textOf(await session.call('pid'));
  const params = { name: 'after', arguments: { n: 20_000 }, _meta: { progressToken: 'late' } };
  expect((await session.request('tools/call', params)).result).toBeDefined();
  // What it printed before this answer has been read.
  expect(textOf(await session.call('pid'))).toBe(pid);
  await gateway.stop();
});

describe('notifications of a shared server', () => {
  test('an update goes to those who subscribed, and the last who leaves takes the subscription along', async () => {
    const offering = { ...nodeServer('offering', '--resources=a:1,a:2'), ...SHARED };
    const gateway = await startHttpGateway({ offering }, { config: FLAT });
    const [one, two, three] = await openThree(gateway);
    const streams = await Promise.all([one, two, three].map((session) => session.listen()));
    const uris = (): string[][] =>
      streams.map(({ messages }) =>
        messages
          .filter(({ method }) => method === 'notifications/resources/updated')
          .map(({ params }) => params.uri),
      );
    const subscribed = async (session: HttpSession): Promise<string[]> =>
      JSON.parse(textOf(await session.call('state'))).subscribed;
    for (const session of [one, two, three]) {
      expect((await session.request('resources/list')).result.resources).toHaveLength(2);
    }
    for (const [session, uri] of [
      [one, 'a:1'],
      [two, 'a:1'],
      [three, 'a:2'],
    ] as const) {
      expect(await session.request('resources/subscribe', { uri })).toMatchObject({ result: {} });
    }
    await three.call('touch', { uri: 'a:1' });
    await three.call('touch', { uri: 'a:2' });
    await until(() => uris().every((heard) => heard.length > 0), { what: 'the updates' });
    expect(uris()).toEqual([['a:1'], ['a:1'], ['a:2']]);
    await one.end();
    expect(await subscribed(three)).toEqual(['a:1', 'a:2']);
    await two.end();
    await until(async () => (await subscribed(three)).join() === 'a:2', { what: 'the subscription to go' });
    await gateway.stop();
  });

  test('a changed list is announced to all, progress and logs to the caller', async () => {
    const gateway = await startHttpGateway(
      {
        offering: { ...nodeServer('offering'), ...SHARED },
        progress: { ...nodeServer('progress'), ...SHARED },
        asking: { ...nodeServer('asking'), ...SHARED },
      },
      { config: { exposure: 'flat', naming: 'prefixed' } },
    );
    const sessions = await openThree(gateway);
    const streams = await Promise.all(sessions.map((session) => session.listen()));
    await Promise.all(sessions.map((session) => session.request('tools/list')));
    for (const stream of streams) stream.events.length = 0;
    await sessions[0].call('offering__add', { kind: 'tool', names: ['fresh'] });
    const changed = ({ method }: { method?: string }): boolean =>
      method === 'notifications/tools/list_changed';
    await Promise.all(streams.map((stream) => stream.waitFor(changed, 'the changed list')));

    // All with the same id and the same token.
    const calls = await Promise.all(
      sessions.map((session, n) => {
        const params = {
          name: 'progress__steps',
          arguments: { n: n + 2, ms: 20 },
          _meta: { progressToken: 'same' },
        };
        return session.stream('tools/call', params, 'same');
      }),
    );
    for (const [n, call] of calls.entries()) {
      const answer = await call.waitFor(({ id }) => id === 'same', 'the answer');
      expect(JSON.parse(textOf(answer)).sent).toBe(n + 2);
      const reports = call.messages.filter(({ method }) => method === 'notifications/progress');
      expect(reports.map(({ params }) => [params.progressToken, params.progress, params.total])).toEqual(
        Array.from({ length: n + 2 }, (_, at) => ['same', at + 1, n + 2]),
      );
    }

    await sessions[0].request('logging/setLevel', { level: 'debug' });
    await sessions[1].request('logging/setLevel', { level: 'error' });
    const logged = (messages: readonly RpcMessage[]): string[] =>
      messages.filter(({ method }) => method === 'notifications/message').map(({ params }) => params.data);
    for (const [n, session] of sessions.slice(0, 2).entries()) {
      const params = { name: 'asking__log', arguments: { level: 'info', tag: `of ${n}` } };
      const call = await session.post(
        JSON.stringify({ jsonrpc: '2.0', id: 'log', method: 'tools/call', params }),
      );
      expect((await call.text()).includes(`asking:of ${n}`)).toBe(n === 0);
    }
    for (const { messages } of streams) expect(logged(messages)).toEqual([]);
    await gateway.stop();
  });
});

test('a server that one client adds is its own, and goes with it', async () => {
  const gateway = await startHttpGateway(
    { canary: nodeServer('canary') },
    { config: { ...FLAT, management: { enabled: true, approval: 'auto' } } },
  );
  const [one, two] = await openThree(gateway);
  const added = await one.call('add_server', { name: 'mine', ...nodeServer('named', '--name=mine') });
  expect(added.result.isError ?? false).toBe(false);
  const { pid } = JSON.parse(textOf(await one.call('who', { tag: 'x' })));
  const names = async (session: HttpSession): Promise<string[]> =>
    (await session.request('tools/list')).result.tools.map(({ name }: { name: string }) => name);
  expect(await names(one)).toContain('who');
  expect(await names(two)).not.toContain('who');
  expect(JSON.stringify(await two.call('who', { tag: 'x' }))).toContain('Unknown tool');
  expect(JSON.stringify(await two.call('list_servers'))).not.toContain('mine');
  expect(JSON.stringify(await two.call('remove_server', { name: 'mine' }))).toMatch(/[Nn]o server/);
  expect(alive(pid)).toBe(true);
  await one.end();
  await until(() => !alive(pid), { what: 'the added one to end' });
  await gateway.stop();
});

describe('limits', () => {
  test('at the session limit the next client gets an error with the setting, and connects once one has left', async () => {
    const gateway = await startHttpGateway(
      { canary: nodeServer('canary') },
      { config: FLAT, http: { maxSessions: 2 } },
    );
    const [first] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    const refused = await begin(gateway);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await refused.text()).toContain('http.maxSessions');
    const events = await fetch(gateway.sse, { headers: { authorization: `Bearer ${gateway.token}` } });
    expect(events.status).toBe(503);
    expect(await events.text()).toContain('http.maxSessions');
    expect((await gateway.health()).sessions).toBe(2);
    expect(await first.end()).toBe(204);
    const next = await HttpSession.open(gateway);
    expect(JSON.parse(textOf(await next.call('tell', { value: 'in' }))).value).toBe('in');
    await gateway.stop();
  });

  /** Three clients where two processes may run. */
  async function threeForTwo(config: object) {
    const gateway = await startHttpGateway(
      { canary: nodeServer('canary') },
      { config, http: { maxProcesses: 2 } },
    );
    const [one, two, three] = await openThree(gateway);
    return { gateway, one, two, three };
  }

  test('at the process limit the next call gets an error with the setting, and works once one has ended', async () => {
    const { gateway, one, two, three } = await threeForTwo({});
    const value = async (session: HttpSession, said: string): Promise<string> =>
      JSON.parse(textOf(await session.call(CANARY, run('tell', { value: said })))).value;
    expect(await Promise.all([value(one, '1'), value(two, '2')])).toEqual(['1', '2']);
    const refused = await three.call(CANARY, run('recall'));
    expect(refused.result.isError).toBe(true);
    expect(textOf(refused)).toContain('2 are already running');
    expect(textOf(refused)).toContain('http.maxProcesses');
    expect(gateway.children()).toHaveLength(2);
    // Those that run are not affected.
    expect(await value(one, 'still')).toBe('still');
    expect(await one.end()).toBe(204);
    await gateway.untilLeft({ children: 1 });
    // The gateway may learn of the end of a process a moment later than we do.
    await until(async () => (await three.call(CANARY, run('recall'))).result.isError !== true, {
      what: 'the third to get its server',
    });
    expect(await value(three, 'now')).toBe('now');
    await gateway.stop();
  });

  test('where tools are listed one by one, too, the setting is named', async () => {
    const { gateway, one, two, three } = await threeForTwo(FLAT);
    const outcomes = await Promise.all([one, two, three].map((session) => session.call('recall')));
    await gateway.stop();
    const refused = outcomes.filter((outcome) => outcome.error ?? outcome.result.isError);
    expect(refused).toHaveLength(1);
    expect(JSON.stringify(refused)).toContain('http.maxProcesses');
  });
});

describe('a client that does not read', () => {
  const big = (id: number): string =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'big', arguments: { bytes: 3_000_000 } },
    });

  /** A request over a socket that nobody reads from, or only as far as the first bytes. */
  function unread(port: number, line: string, headers: Record<string, string>, body = ''): Socket {
    const head = Object.entries({ host: '127.0.0.1', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.on('error', () => undefined);
    socket.write(`${line} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n${body}`);
    atTestEnd(() => Promise.resolve(void socket.destroy()));
    return socket;
  }

  /** While so many calls of somebody else have reached the shared server, one that reads is served as always. */
  async function isServed(busy: HttpSession, others: number): Promise<void> {
    await until(
      async () => {
        const received: string[] = JSON.parse(textOf(await busy.call('received')));
        return received.filter((method) => method === 'tools/call').length >= others;
      },
      { what: 'the calls of the lazy one to arrive' },
    );
    for (let n = 0; n < 50; n++) {
      expect(textOf(await busy.call('echo', { text: `busy ${n}` }))).toBe(`busy ${n}`);
    }
    expect(textOf(await busy.call('big', { bytes: 3_000_000 }))).toHaveLength(3_000_000);
  }

  const start = () => startHttpGateway({ echo: { ...nodeServer('echo'), ...SHARED } }, { config: FLAT });

  test('its responses delays no other client of a shared server', async () => {
    const gateway = await start();
    const [lazy, busy] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
    for (let n = 0; n < 8; n++) {
      const body = big(n);
      const about = { 'content-type': 'application/json', 'content-length': String(body.length) };
      unread(gateway.port, 'POST /mcp', lazy.headers(about), body);
    }
    await isServed(busy, 8);
    await gateway.stop();
  });

  test('its stream delays no other client of a shared server', async () => {
    const gateway = await start();
    const busy = await HttpSession.open(gateway);
    const authorization = `Bearer ${gateway.token}`;
    const socket = unread(gateway.port, 'GET /sse', { authorization });
    let seen = '';
    socket.on('data', (chunk) => (seen += chunk.toString())).resume();
    const [path] = await until(() => /\/message\?sessionId=[\w-]+(?=\n)/.exec(seen), {
      what: 'the endpoint',
    });
    socket.pause();
    const post = async (body: string): Promise<number> => {
      const headers = { authorization, 'content-type': 'application/json' };
      return (await fetch(new URL(path, gateway.url), { method: 'POST', headers, body })).status;
    };
    const params = {
      protocolVersion: '2024-11-05',
      capabilities: {},
      clientInfo: { name: 'lazy', version: '0' },
    };
    expect(await post(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }))).toBe(202);
    expect(await post('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toBe(202);
    for (let n = 1; n <= 5; n++) expect(await post(big(n))).toBe(202);
    await isServed(busy, 5);
    await gateway.stop();
  });
});

test('a request with the id of a running one is refused until that one is over', async () => {
  const session = await HttpSession.open(await startHttpGateway({ slow: nodeServer('slow') }));
  const ping = () => session.request('ping', {}, 'same');
  const hanging = session.stream('tools/call', { name: 'slow_suite', arguments: run('hang') }, 'same');
  // Answered as long as the other one has not arrived.
  const refused = async (): Promise<RpcMessage | undefined> => {
    const answer = await ping();
    return answer.error && answer;
  };
  expect(await until(refused, { what: 'the refusal' })).toMatchObject({
    id: 'same',
    error: { code: -32600 },
  });
  await session.notify('notifications/cancelled', { requestId: 'same' });
  expect((await ping()).result).toEqual({});
  expect((await hanging).messages.map(({ id }) => id)).toEqual([]);
});
