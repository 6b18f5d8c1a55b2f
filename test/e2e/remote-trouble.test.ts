/**
 * Servers that run elsewhere and do badly: each call gets one clear error in bounded time, or works; nothing is carried
 * out twice; the next call works as soon as the server does; and others do not notice.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { freePort, remoteEntry, startRemote } from '../helpers/remote-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startOddHttp, type OddHttp, type OddHttpSettings } from '../servers/odd-http.mjs';

/** Far more than any of these may take, and far less than a call that nobody ends. */
const BOUNDED = 15_000;

async function odd(options: Partial<OddHttpSettings> = {}): Promise<OddHttp> {
  const server = await startOddHttp(options);
  atTestEnd(() => server.stop().catch(() => undefined));
  return server;
}

/** What a call that failed says; fails the test where it worked. */
function failure({ result, error }: RpcMessage): string {
  expect(error !== undefined || result?.isError === true, JSON.stringify({ result, error })).toBe(true);
  return error?.message ?? result.content[0].text;
}

/** A sentence that names the server, and none of what programs say to programmers. */
function expectClear(sentence: string, server: string): void {
  expect(sentence).toContain(`'${server}'`);
  expect(sentence).not.toMatch(/undefined|\[object|\bat \w+ \(|ECONN|ENOTFOUND|HPE_|Error:/);
  expect(sentence).not.toMatch(/\p{Cc}(?<!\n)/u);
}

let tags = 0;
const newTag = (): string => `t${++tags}`;

describe('answers that are none', () => {
  let server: OddHttp;
  let elsewhere: OddHttp;
  let gateway: TestGateway;

  beforeAll(async () => {
    server = await startOddHttp();
    elsewhere = await startOddHttp();
    gateway = await startGateway(
      {
        odd: remoteEntry(server.url, { type: 'http', headers: { 'X-Key': 'not-for-strangers' } }),
        hasty: remoteEntry(server.url, { type: 'http', timeouts: { rpcMs: 2000 } }),
        near: nodeServer('echo'),
      },
      { config: { limits: { messageBytes: 1_048_576 } }, deadline: BOUNDED },
    );
    for (const name of ['odd', 'hasty']) await gateway.call(name, 'ok', { tag: 'warm' });
  });

  afterAll(async () => {
    await gateway.client.dispose();
    await gateway.project.remove();
    await server.stop();
    await elsewhere.stop();
  });

  /** The server is as good as before, and so is its neighbour. */
  async function expectAllWell(name: string): Promise<void> {
    const tag = newTag();
    expect(textOf(await gateway.call(name, 'ok', { tag }))).toBe(`ran ${tag}`);
    expect(server.ran(tag)).toBe(1);
    expect(textOf(await gateway.call('near', 'echo', { text: tag }))).toBe(tag);
  }

  const page = '<html><h1>Service\u0007 unavailable</h1></html>';
  const oops = '{"oops":true}';
  test.each<[what: string, tool: string, args: object, says: RegExp]>([
    ['a body with Content-Length that ends early', 'cut_json', {}, /before it responded/],
    ['a body in chunks that ends early', 'cut_chunked', {}, /before it responded/],
    ['an event that ends early', 'cut_events', {}, /event stream|before it responded/],
    [
      'a connection that closes before the answer',
      'cut_before',
      {},
      /before it responded.*connection was closed/,
    ],
    ['an event stream that ends without the answer', 'end_events', {}, /event stream/],
    ['a web page with 200', 'html', {}, /text\/html instead of JSON.*Welcome to the/],
    ['an answer that calls itself plain text', 'text', {}, /text\/plain instead of JSON/],
    ['500 with a page', 'status', { status: 500, type: 'text/html', body: page }, /HTTP 500 \(.*Service/],
    ['503 with a page', 'status', { status: 503, type: 'text/html', body: page }, /HTTP 503 \(.*unavailable/],
    ['500 with some JSON', 'status', { status: 500, type: 'application/json', body: oops }, /HTTP 500.*oops/],
    ['503 with nothing', 'status', { status: 503, type: 'text/plain', body: '' }, /HTTP 503/],
    ['429', 'status', { status: 429, type: 'text/plain', body: 'slow down' }, /HTTP 429 \(slow down\)/],
    ['400', 'status', { status: 400, type: 'text/plain', body: 'what?' }, /HTTP 400 \(what\?\)/],
    ['403', 'status', { status: 403, type: 'text/plain', body: 'no' }, /HTTP 403 \(no\)/],
    ['a body that is no JSON', 'babble', {}, /invalid JSON-RPC message/],
    ['200 and nothing else', 'empty', {}, /HTTP 200 and an empty body/],
    ['202 to a request', 'accepted', {}, /HTTP 202 and an empty body/],
    ['two messages in one body', 'two', {}, /invalid JSON-RPC message/],
    ['the response to another request', 'wrong_id', {}, /response to another request/],
    ['events that answer something else', 'wrong_id_events', {}, /event stream/],
    ['bytes that are no HTTP', 'bare', { raw: 'SSH-2.0-OpenSSH_9.6\r\n\r\n' }, /not HTTP/],
    ['a status line and then nothing', 'bare', { raw: 'HTTP/1.1 200 OK\r\n' }, /before it responded/],
    ['a body over the limit, announced', 'huge', { bytes: 104_857_600 }, /messageBytes/],
    ['a body over the limit, in chunks', 'huge_chunked', { bytes: 104_857_600 }, /messageBytes/],
    ['an event over the limit', 'huge_events', { bytes: 104_857_600 }, /messageBytes/],
  ])('%s: one clear error, and the next call works', async (_what, tool, args, says) => {
    const tag = newTag();
    const sentence = failure(await gateway.call('odd', tool, { ...args, tag }));
    expect(sentence).toMatch(says);
    expectClear(sentence, 'odd');
    expect(server.ran(tag)).toBe(1);
    await expectAllWell('odd');
  });

  test.each(['ok_events', 'untyped', 'batch'])('%s is unusual, and works', async (tool) => {
    const tag = newTag();
    expect(textOf(await gateway.call('odd', tool, { tag }))).toBe(`ran ${tag}`);
    expect(server.ran(tag)).toBe(1);
  });

  test('an event stream that breaks off is taken up where it was, and nothing is carried out again', async () => {
    const all = [newTag(), newTag(), newTag()];
    const answers = await Promise.all(all.map((tag) => gateway.call('odd', 'resumable', { tag })));
    expect(answers.map(textOf)).toEqual(all.map((tag) => `ran ${tag}`));
    for (const tag of all) expect(server.ran(tag)).toBe(1);
    await expectAllWell('odd');
  });

  test('one whose session is forgotten meanwhile gets one clear error', async () => {
    const tag = newTag();
    server.settings.before = (request) => {
      if (request.method === 'GET') server.forget();
      return false;
    };
    const sentence = failure(await gateway.call('odd', 'resumable', { tag }));
    server.settings.before = undefined;
    expect(sentence).toMatch(/forgotten the session/);
    expectClear(sentence, 'odd');
    expect(server.ran(tag)).toBe(1);
    await expectAllWell('odd');
  });

  test('an error answer that comes with a status is the answer, whichever id it has', async () => {
    for (const id of ['$id', 'null']) {
      const body = `{"jsonrpc":"2.0","id":${id},"error":{"code":-32055,"message":"as the server put it"}}`;
      const { error } = await gateway.call('odd', 'status', { status: 500, type: 'application/json', body });
      expect(error).toMatchObject({ code: -32055, message: 'as the server put it' });
    }
    await expectAllWell('odd');
  });

  test('a server that is never done: one error after rpcMs, the server is told, and the next call works', async () => {
    const told = server.cancelled.length;
    const kinds = ['hang', 'drip', 'silent'];
    const all = kinds.map(async (tool) => {
      const tag = newTag();
      const sentence = failure(await gateway.call('hasty', tool, { tag }));
      expect(sentence).toMatch(/did not respond within 2000 ms.*rpcMs/);
      expectClear(sentence, 'hasty');
      expect(server.ran(tag)).toBe(1);
    });
    await Promise.all(all);
    await until(() => server.cancelled.length === told + kinds.length, { what: 'the server to be told' });
    expect(new Set(server.cancelled).size).toBe(server.cancelled.length);
    await expectAllWell('hasty');
  });

  test('a call that the client cancels is cancelled at the server, which keeps no connection for it', async () => {
    const told = server.cancelled.length;
    const tag = newTag();
    void gateway.call('odd', 'held', { tag }, { id: `cancel-${tag}` });
    await until(() => server.ran(tag) === 1, { what: 'the call to arrive' });
    gateway.client.notify('notifications/cancelled', { requestId: `cancel-${tag}`, reason: 'enough' });
    await until(() => server.cancelled.length === told + 1, { what: 'the server to be told' });
    server.release();
    await expectAllWell('odd');
    expect(gateway.client.messages.some(({ id }) => id === `cancel-${tag}`)).toBe(false);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) to another origin is not followed',
    async (status) => {
      const tag = newTag();
      const sentence = failure(
        await gateway.call('odd', 'redirect', { tag, status, to: `${elsewhere.origin}/mcp` }),
      );
      expect(sentence).toContain(elsewhere.origin);
      expectClear(sentence, 'odd');
      expect(elsewhere.requests).toEqual([]);
      expect(server.ran(tag)).toBe(1);
      await expectAllWell('odd');
    },
  );

  test('what it says of other addresses, files and nonsense is not followed either', async () => {
    for (const to of [
      server.url.replace('127.0.0.1', 'localhost'),
      `https${server.url.slice(4)}`,
      'file:///etc/passwd',
      '//169.254.169.254/latest',
      'http://',
    ]) {
      expectClear(failure(await gateway.call('odd', 'redirect', { tag: 'r', status: 307, to })), 'odd');
    }
    await expectAllWell('odd');
  });

  test.each([307, 308])('a redirect (%i) within the origin is followed, headers and all', async (status) => {
    const tag = newTag();
    server.settings.before = (request, response) => {
      if (request.method !== 'POST' || request.url !== '/mcp') return false;
      response.writeHead(status, { location: '/moved/here' }).end();
      return true;
    };
    const answer = await gateway.call('odd', 'ok', { tag });
    server.settings.before = undefined;
    expect(textOf(answer)).toBe(`ran ${tag}`);
    const moved = server.requests.filter(({ path, body }) => path === '/moved/here' && body.includes(tag));
    expect(moved.map(({ headers }) => headers['x-key'])).toEqual(['not-for-strangers']);
    await expectAllWell('odd');
  });

  // A temporary redirect is taken for a lasting one.
  test('a detour over a page that says no is forgotten with the next call', async () => {
    let detour = true;
    server.settings.before = ({ method, url }, response) => {
      if (method !== 'POST') return false;
      if (url !== '/mcp') response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>Back soon</h1>');
      else if (detour) response.writeHead(307, { location: '/maintenance' }).end();
      else return false;
      return true;
    };
    const fresh = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    detour = false;
    expect(textOf(await fresh.call('odd', 'ok', { tag: newTag() }))).toMatch(/^ran /);
    detour = true;
    const sentence = failure(await fresh.call('odd', 'ok', { tag: newTag() }));
    expect(sentence).toMatch(/HTTP 503 \(.*Back soon/);
    expectClear(sentence, 'odd');
    detour = false;
    const answer = await fresh.call('odd', 'ok', { tag: newTag() });
    server.settings.before = undefined;
    expect(textOf(answer)).toMatch(/^ran /);
  });

  test('one that sends us round in circles gets an error', async () => {
    const before = server.requests.length;
    server.settings.before = (request, response) => {
      if (request.method !== 'POST') return false;
      response.writeHead(307, { location: `${request.url}x` }).end();
      return true;
    };
    const answer = await gateway.call('odd', 'ok', { tag: 'circle' });
    server.settings.before = undefined;
    expectClear(failure(answer), 'odd');
    expect(server.requests.length - before).toBeLessThan(20);
    await expectAllWell('odd');
  });

  test('nothing it sent was answered twice, and no header is in a log', () => {
    gateway.client.check();
    expect(gateway.client.stderr).not.toContain('not-for-strangers');
  });
});

test('a greeting that goes wrong: the call says how, and the next one works', async () => {
  const server = await odd();
  const page = (status: number) => (response: ServerResponse) =>
    void response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>Good morning</h1>');
  const troubles: [method: string, answer: (response: ServerResponse) => void, says: RegExp][] = [
    ['initialize', page(200), /text\/html instead of JSON.*Good morning/],
    ['initialize', page(503), /HTTP 503 \(.*Good morning/],
    ['initialize', (response) => void response.socket?.destroy(), /before it responded/],
    ['initialize', () => undefined, /did not respond to initialize within 2\.\d s/],
    ['tools/list', page(200), /text\/html instead of JSON.*Good morning/],
    ['tools/list', (response) => void response.socket?.destroy(), /before it responded/],
  ];
  const names = troubles.map((_, n) => `far${n}`);
  // Only the one that is waited for in vain is given little time.
  const patience = (n: number): object =>
    troubles[n]![2].source.includes('within 2') ? { timeouts: { childSpawnMs: 2500 } } : {};
  const { client, call } = await startGateway(
    Object.fromEntries(
      names.map((name, n) => [name, remoteEntry(server.url, { type: 'http', ...patience(n) })]),
    ),
    { deadline: BOUNDED },
  );
  for (const [n, [method, answer, says]] of troubles.entries()) {
    const tag = newTag();
    server.settings.before = (_request, response, body) => {
      if (!body.includes(`"${method}"`)) return false;
      answer(response);
      return true;
    };
    const sentence = failure(await call(names[n]!, 'ok', { tag }));
    server.settings.before = undefined;
    expect(sentence).toMatch(says);
    expectClear(sentence, names[n]!);
    expect(server.ran(tag)).toBe(0);
    expect(textOf(await call(names[n]!, 'ok', { tag }))).toBe(`ran ${tag}`);
  }
  client.check();
});

test('the older transport: each trouble is one clear error, and the next call works', async () => {
  const server = await odd();
  const { client, call } = await startGateway(
    { old: remoteEntry(`${server.origin}/sse`, { type: 'sse', timeouts: { rpcMs: 2000 } }) },
    { config: { limits: { messageBytes: 1_048_576 } }, deadline: BOUNDED },
  );
  const troubles: [tool: string, args: object, says: RegExp][] = [
    ['refused', { status: 500 }, /HTTP 500 \(not today\)/],
    ['refused', { status: 404 }, /HTTP 404 \(not today\)/],
    ['huge', { bytes: 20_971_520 }, /messageBytes/],
    ['cut', {}, /closed its event stream/],
    ['hang', {}, /did not respond within 2000 ms.*rpcMs/],
  ];
  for (const [tool, args, says] of troubles) {
    const tag = newTag();
    const sentence = failure(await call('old', tool, { ...args, tag }));
    expect(sentence).toMatch(says);
    expectClear(sentence, 'old');
    expect(server.ran(tag)).toBe(1);
    const next = newTag();
    expect(textOf(await call('old', 'ok', { tag: next }))).toBe(`ran ${next}`);
    expect(server.ran(next)).toBe(1);
  }
  expect(server.cancelled).toHaveLength(1);
  const tag = newTag();
  expect(textOf(await call('old', 'babble', { tag }))).toBe(`ran ${tag}`);
  client.check();
});

describe('a server that comes and goes', () => {
  /** How soon that is, is another test's matter. */
  async function untilItWorks(call: TestGateway['call'], args: { message: string }): Promise<void> {
    await until(
      async () => {
        const answer = await call('far', 'echo', args);
        if (answer.result?.isError !== true) return textOf(answer) === `Echo: ${args.message}`;
        expectClear(failure(answer), 'far');
        return false;
      },
      { what: 'the server to be used again', every: 100, deadline: 30_000 },
    );
  }

  test('everything, killed and started again: the next call works, and the ones in flight fail once', async () => {
    const remote = await startRemote('streamableHttp');
    const { client, call } = await startGateway({
      far: remoteEntry(remote.url, { type: 'http' }),
      near: nodeServer('echo'),
    });
    expect(textOf(await call('far', 'echo', { message: 'one' }))).toBe('Echo: one');
    const hanging = [1, 2, 3].map((n) =>
      call('far', 'trigger-long-running-operation', { duration: 60, steps: 600 }, { progressToken: `p${n}` }),
    );
    for (const n of [1, 2, 3]) await client.waitFor(({ params }) => params?.progressToken === `p${n}`);
    await remote.stop();
    // The first may have been written to a connection that was just closing.
    expectClear(failure(await call('far', 'echo', { message: 'nobody there' })), 'far');
    const refused = failure(await call('far', 'echo', { message: 'nobody there' }));
    expect(refused).toMatch(/cannot be reached at http:.*connection refused/);
    expectClear(refused, 'far');
    for (const answer of await Promise.all(hanging)) expectClear(failure(answer), 'far');
    expect(textOf(await call('near', 'echo', { text: 'here' }))).toBe('here');
    await remote.start();
    await untilItWorks(call, { message: 'two' });
    // Again, with nobody noticing that it was away.
    await remote.stop();
    await remote.start();
    await untilItWorks(call, { message: 'three' });
    client.check();
  });

  test('the same over SSE', async () => {
    const remote = await startRemote('sse');
    const { client, call } = await startGateway({ far: remoteEntry(remote.url, { type: 'sse' }) });
    expect(textOf(await call('far', 'echo', { message: 'one' }))).toBe('Echo: one');
    const long = { duration: 60, steps: 600 };
    const hanging = call('far', 'trigger-long-running-operation', long, { progressToken: 'p' });
    await client.waitFor(({ params }) => params?.progressToken === 'p');
    await remote.stop();
    const sentence = failure(await hanging);
    expect(sentence).toContain('closed its event stream');
    expectClear(sentence, 'far');
    expectClear(failure(await call('far', 'echo', { message: 'nobody there' })), 'far');
    await remote.start();
    await untilItWorks(call, { message: 'two' });
    await remote.stop();
    await remote.start();
    await untilItWorks(call, { message: 'three' });
  });

  test('calls in flight when it dies fail once each and are not sent again; later ones work', async () => {
    const server = await odd({ port: await freePort() });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'first' }))).toBe('ran first');
    const inFlight = ['a', 'b', 'c', 'd'];
    const hanging = inFlight.map((tag) => call('odd', 'held', { tag }));
    await until(() => server.waiting() === inFlight.length, { what: 'all to have arrived' });
    await server.stop();
    for (const answer of await Promise.all(hanging)) {
      const sentence = failure(answer);
      expect(sentence).toMatch(/before it responded/);
      expectClear(sentence, 'odd');
    }
    await server.start();
    const later = ['e', 'f', 'g', 'h'];
    const answers = await Promise.all(later.map((tag) => call('odd', 'ok', { tag })));
    expect(answers.map(textOf)).toEqual(later.map((tag) => `ran ${tag}`));
    for (const tag of [...inFlight, ...later]) expect(server.ran(tag)).toBe(1);
    client.check();
  });

  // The guide promises it; after three failed calls the gateway leaves a server alone for a while, as it does programs.
  test('one that was away for many calls works with the first call after it is back', async () => {
    const server = await odd({ port: await freePort() });
    const { call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'before' }))).toBe('ran before');
    await server.stop();
    for (let n = 0; n < 6; n++) expectClear(failure(await call('odd', 'ok', { tag: 'nobody' })), 'odd');
    await server.start();
    expect(textOf(await call('odd', 'ok', { tag: 'back' }))).toBe('ran back');
    expect(server.ran('back')).toBe(1);
  });

  test('one that restarts again and again under calls: each is answered once, and none is carried out twice', async () => {
    const server = await odd({ port: await freePort() });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    let running = true;
    const answered = { well: 0, badly: 0 };
    const caller = async (name: string): Promise<void> => {
      for (let n = 0; running; n++) {
        const tag = `${name}-${n}`;
        const answer = await call('odd', 'ok', { tag });
        if (answer.result?.isError === true) {
          expectClear(failure(answer), 'odd');
          expect(server.ran(tag), tag).toBeLessThanOrEqual(1);
          answered.badly++;
        } else {
          expect(textOf(answer)).toBe(`ran ${tag}`);
          expect(server.ran(tag), tag).toBe(1);
          answered.well++;
        }
      }
    };
    const callers = ['a', 'b', 'c', 'd', 'e', 'f'].map(caller);
    for (let restart = 0; restart < 3; restart++) {
      const goal = answered.well + 50;
      await until(() => answered.well > goal, { what: 'calls that work', deadline: 20_000 });
      await server.stop();
      await server.start();
    }
    const goal = answered.well + 50;
    await until(() => answered.well > goal, { what: 'calls that work again', deadline: 20_000 });
    running = false;
    await Promise.all(callers);
    client.check();
  });

  test('a session that is forgotten under several calls: those that wait are answered, new ones too, none twice', async () => {
    const server = await odd();
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    for (let round = 0; round < 2; round++) {
      const running = ['a', 'b', 'c'].map((tag) => `${tag}${round}`);
      const waiting = running.map((tag) => call('odd', 'held', { tag }));
      await until(() => server.waiting() === running.length, { what: 'all to have arrived' });
      server.forget();
      const fresh = Array.from({ length: 8 }, (_, n) => `new${round}-${n}`);
      const answers = fresh.map((tag) => call('odd', 'ok', { tag }));
      // These find out that nobody knows the session; those that run are not to be hurt by that for long.
      await until(() => server.sessions() > 0, { what: 'a new session' });
      server.release();
      expect((await Promise.all(answers)).map(textOf)).toEqual(fresh.map((tag) => `ran ${tag}`));
      for (const [index, answer] of (await Promise.all(waiting)).entries()) {
        // They belong to a session that is gone: answered, or failed with a sentence, but once.
        if (answer.result?.isError === true || answer.error !== undefined)
          expectClear(failure(answer), 'odd');
        else expect(textOf(answer)).toBe(`ran ${running[index]!}`);
      }
      for (const tag of [...running, ...fresh]) expect(server.ran(tag), tag).toBe(1);
    }
    client.check();
  });

  test('one that forgets every session at once gets an error in the end, and a limited number of greetings', async () => {
    const server = await odd();
    const { call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'fine' }))).toBe('ran fine');
    server.settings.before = (request) => {
      if (request.method === 'POST') server.forget();
      return false;
    };
    const before = server.requests.length;
    expectClear(failure(await call('odd', 'ok', { tag: 'never' }, { deadline: BOUNDED })), 'odd');
    expect(server.ran('never')).toBe(0);
    expect(server.requests.length - before).toBeLessThan(30);
    server.settings.before = undefined;
    await until(async () => (await call('odd', 'ok', { tag: 'again' })).result?.isError !== true, {
      what: 'it to work again',
    });
  });

  test('a stream for its messages that comes and goes disturbs no call, and is not asked for without end', async () => {
    const server = await odd({ listening: 'flap' });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    const gets = (): number => server.requests.filter(({ method }) => method === 'GET').length;
    for (let n = 0; n < 50; n++) expect(textOf(await call('odd', 'ok', { tag: `c${n}` }))).toBe(`ran c${n}`);
    await until(() => gets() >= 2, { what: 'the stream to be asked for again' });
    server.settings.listening = 'open';
    await until(() => server.listeners() === 1, { what: 'a stream that stays', deadline: 20_000 });
    expect(gets()).toBeLessThan(60);
    await client.request('logging/setLevel', { level: 'debug' });
    server.tell({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'error', data: 'heard' },
    });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/message');
    expect(params).toEqual({ level: 'error', data: 'heard' });
  });
});

describe('a server that cannot be reached', () => {
  /** A port that takes connections and does as it is told with them. */
  async function plainPort(greet: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      greet(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atTestEnd(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as { port: number }).port;
  }

  test.each(['http', 'sse', 'auto'])('connection refused (%s), then it is there', async (type) => {
    const port = await freePort();
    const { call } = await startGateway({
      far: remoteEntry(`http://127.0.0.1:${port}/${type === 'sse' ? 'sse' : 'mcp'}`, { type }),
    });
    const sentence = failure(await call('far', 'ok', {}));
    expect(sentence).toMatch(
      new RegExp(`cannot be reached at http://127\\.0\\.0\\.1:${port}/.*connection refused`),
    );
    expectClear(sentence, 'far');
    if (type === 'sse') return;
    const server = await odd({ port });
    expect(textOf(await call('far', 'ok', { tag: 'there' }))).toBe('ran there');
    expect(server.ran('there')).toBe(1);
  });

  test('a name that there is not, TLS where there is none, a port that never answers: each with its cause, side by side', async () => {
    const hasty = { timeouts: { childSpawnMs: 1500 } };
    const silent = await plainPort(() => undefined);
    const plain = await plainPort((socket) =>
      socket.once('data', () => socket.end('HTTP/1.0 400 no\r\n\r\n')),
    );
    const { call } = await startGateway({
      nowhere: remoteEntry('http://no-such-host.invalid/mcp', { type: 'http' }),
      nowhereSse: remoteEntry('http://no-such-host.invalid/sse', { type: 'sse' }),
      tls: remoteEntry(`https://127.0.0.1:${plain}/mcp`, { type: 'http' }),
      silent: remoteEntry(`http://127.0.0.1:${silent}/mcp`, { type: 'http', ...hasty }),
      silentSse: remoteEntry(`http://127.0.0.1:${silent}/sse`, { type: 'sse', ...hasty }),
      near: nodeServer('echo'),
    });
    const expected: Record<string, RegExp> = {
      nowhere: /cannot be reached at http:\/\/no-such-host\.invalid\/mcp: (host not found|DNS lookup failed)/,
      nowhereSse: /cannot be reached at http:\/\/no-such-host\.invalid\/sse: /,
      tls: /cannot be reached at https:.*that address does not use TLS/,
      silent: /did not respond to initialize within 1\.\d s/,
      silentSse: /did not respond to initialize within 1\.\d s/,
    };
    const answers = await Promise.all(
      Object.keys(expected).map((name) => call(name, 'ok', {}, { deadline: BOUNDED })),
    );
    for (const [index, [name, says]] of Object.entries(expected).entries()) {
      const sentence = failure(answers[index]!);
      expect(sentence).toMatch(says);
      expectClear(sentence, name);
    }
    expect(textOf(await call('near', 'echo', { text: 'here' }))).toBe('here');
  });

  test('an SSE server that names an address of another origin for messages gets none, and neither does that', async () => {
    const elsewhere = await odd();
    const server = await odd({ endpoint: `${elsewhere.origin}/message` });
    const { call, client } = await startGateway({
      far: remoteEntry(`${server.origin}/sse`, { type: 'sse', headers: { 'X-Key': 'not-for-strangers' } }),
    });
    const sentence = failure(await call('far', 'ok', {}));
    expect(sentence).toContain(elsewhere.origin);
    expectClear(sentence, 'far');
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
    await client.close();
    expect(client.stderr).not.toContain('not-for-strangers');
  });

  test('an address where something else lives: what was answered is said, for auto to both attempts', async () => {
    const server = await odd({
      before: (_request, response) => {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not \u001b[1mFound</h1>');
        return true;
      },
    });
    const { call } = await startGateway({
      http: remoteEntry(server.url, { type: 'http' }),
      sse: remoteEntry(server.url, { type: 'sse' }),
      auto: remoteEntry(server.url),
    });
    for (const name of ['http', 'sse', 'auto']) {
      const sentence = failure(await call(name, 'ok', {}));
      expect(sentence).toMatch(/HTTP 404 \(.*Found/);
      expectClear(sentence, name);
      if (name === 'auto') expect(sentence).toMatch(/Streamable HTTP with HTTP 404.*HTTP\+SSE with HTTP 404/);
    }
  });
});
