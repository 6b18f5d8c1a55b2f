/**
 * Servers that run elsewhere and do badly: each call gets one clear error in bounded time, or works; nothing is carried
 * out twice; the next call works as soon as the server does; and others do not notice.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { BOUNDED, expectClear, failure, remoteEntry, startOddServer } from '../helpers/remote-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startOddHttp, type OddHttp } from '../servers/odd-http.mjs';

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
    expect(sentence).toMatch(/no longer knows the session/);
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
  const server = await startOddServer();
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
  const server = await startOddServer();
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
