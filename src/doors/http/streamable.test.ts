import { expect, test } from 'vitest';
import { Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import {
  holdCall,
  initializeRequest,
  JSON_HEADERS,
  openTestDoor,
  progress,
  fromServer,
} from './door.cases.ts';

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const text = (what: string) => ({ content: [{ type: 'text', text: what }] });

test('initialize begins a session, whose id is in the response', async () => {
  const { request, post, door } = await openTestDoor();
  const reply = await request({
    method: 'POST',
    path: '/mcp',
    headers: JSON_HEADERS,
    body: JSON.stringify(initializeRequest()),
  });
  expect(reply.status).toBe(200);
  expect(reply.headers['content-type']).toBe('application/json');
  expect(reply.json).toMatchObject({ id: 0, result: { protocolVersion: '2025-06-18' } });
  const session = reply.headers['mcp-session-id'] as string;
  expect(session).toMatch(/^[\w-]{22,}$/);
  expect(door.sessions).toBe(1);
  expect((await post(session, PING)).json).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
});

test('a failed initialize begins no session', async () => {
  const { post, door, clients } = await openTestDoor();
  const bad = { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} };
  const reply = await post('x', bad, { headers: { 'mcp-session-id': undefined } });
  expect(reply.json).toMatchObject({ id: 5, error: { code: -32602 } });
  expect(reply.headers['mcp-session-id']).toBeUndefined();
  expect(door.sessions).toBe(0);
  expect(clients).toEqual({ opened: 1, closed: 1 });
});

test('without a session only initialize is taken, and an unknown session is not found', async () => {
  const { post, request, clients } = await openTestDoor();
  for (const message of [PING, { jsonrpc: '2.0', method: 'initialize' }]) {
    const reply = await post('', message, { headers: { 'mcp-session-id': undefined } });
    expect(reply.status).toBe(400);
    expect(reply.json.error.message).toContain('initialize');
  }
  expect((await post('nobody', PING)).status).toBe(404);
  expect((await post('nobody', initializeRequest())).status).toBe(404);
  for (const method of ['GET', 'DELETE']) {
    expect((await request({ method, path: '/mcp' })).status).toBe(400);
    const headers = { 'mcp-session-id': 'nobody' };
    expect((await request({ method, path: '/mcp', headers })).status).toBe(404);
  }
  expect(clients.opened).toBe(0);
});

test('notifications and answers are taken without a word', async () => {
  const { startSession, post } = await openTestDoor();
  const session = await startSession();
  for (const message of [
    { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    { jsonrpc: '2.0', id: 99, result: {} },
    { jsonrpc: '2.0', id: null, error: { code: 1, message: 'x' } },
  ]) {
    const reply = await post(session, message);
    expect([reply.status, reply.text, reply.headers['content-length']]).toEqual([202, '', '0']);
  }
});

test.each([
  ['not JSON', '{"jsonrpc":', -32700],
  ['two messages', '{"jsonrpc":"2.0","id":1,"method":"ping"}{}', -32700],
  ['nothing', '', -32700],
  ['a batch', ' [{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600],
  ['no object', '"ping"', -32600],
  ['no message', '{"jsonrpc":"2.0","id":1}', -32600],
  ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600],
  ['a bad id', '{"jsonrpc":"2.0","id":[],"method":"ping"}', -32600],
  ['an id that is too long', `{"jsonrpc":"2.0","id":"${'x'.repeat(2000)}","method":"ping"}`, -32600],
  ['a bad method', '{"jsonrpc":"2.0","id":1,"method":7}', -32600],
  ['a member twice', '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32600],
  [
    'deep nesting',
    `{"jsonrpc":"2.0","id":1,"method":"ping","x":${'['.repeat(300)}${']'.repeat(300)}}`,
    -32600,
  ],
])('a body that is %s is answered 400', async (_what, body, code) => {
  const { startSession, post } = await openTestDoor();
  const reply = await post(await startSession(), {}, { body });
  expect([reply.status, reply.json.error.code]).toEqual([400, code]);
});

test('line breaks between the tokens of a body carry no meaning', async () => {
  const { startSession, post } = await openTestDoor();
  const body = '\n{\r\n"jsonrpc":"2.0",\r"id"\n:\n"a\\nb",\n"method":"ping"}\n\n';
  expect((await post(await startSession(), {}, { body })).text).toBe(
    '{"jsonrpc":"2.0","id":"a\\nb","result":{}}',
  );
});

test('headers that do not fit are refused', async () => {
  const { startSession, post, request } = await openTestDoor();
  const session = await startSession();
  const status = async (headers: Record<string, string | undefined>): Promise<number> =>
    (await post(session, PING, { headers })).status;
  expect(await status({ 'content-type': 'text/plain' })).toBe(415);
  expect(await status({ 'content-type': undefined })).toBe(415);
  expect(await status({ 'content-type': 'application/json; charset=utf-8' })).toBe(200);
  expect(await status({ 'content-encoding': 'gzip' })).toBe(415);
  expect(await status({ accept: 'application/json' })).toBe(406);
  expect(await status({ accept: 'application/json, text/event-stream;q=0' })).toBe(406);
  expect(await status({ accept: 'text/*;q=0.5, application/*' })).toBe(200);
  expect(await status({ accept: '*/*' })).toBe(200);
  expect(await status({ accept: undefined })).toBe(200);
  expect(await status({ 'mcp-protocol-version': '2025-03-26' })).toBe(200);
  expect(await status({ 'mcp-protocol-version': '1999-01-01' })).toBe(400);
  const listening = { 'mcp-session-id': session, accept: 'application/json' };
  expect((await request({ path: '/mcp', headers: listening })).status).toBe(406);
});

test('answers go to the requests they belong to, by value and by type of the id', async () => {
  const { startSession, post, nextCall } = await openTestDoor();
  const session = await startSession();
  const number = post(session, holdCall(1));
  const first = await nextCall();
  const string = post(session, holdCall('1'));
  const second = await nextCall();
  second.succeed(text('string'));
  expect((await string).json).toEqual({ jsonrpc: '2.0', id: '1', result: text('string') });
  first.succeed(text('number'));
  const reply = await number;
  expect(reply.json).toEqual({ jsonrpc: '2.0', id: 1, result: text('number') });
  expect(reply.headers['content-length']).toBe(String(reply.text.length));
});

test('a request with the id of a running one is refused, and the running one gets its own answer', async () => {
  const { startSession, post, nextCall } = await openTestDoor();
  const session = await startSession();
  const first = post(session, holdCall('a/b'));
  const call = await nextCall();
  for (const second of [holdCall('a/b'), { jsonrpc: '2.0', id: 'a/b', method: 'ping' }]) {
    const reply = await post(session, second);
    expect(reply.status).toBe(400);
    expect(reply.json).toMatchObject({ id: 'a/b', error: { code: -32600 } });
  }
  call.succeed(text('first'));
  expect((await first).json.result).toEqual(text('first'));
  const again = post(session, holdCall('a/b'));
  (await nextCall()).succeed(text('again'));
  expect((await again).json.result).toEqual(text('again'));
});

test('a batch with one id twice, or with the id of a running request, is refused', async () => {
  const { startSession, post, nextCall } = await openTestDoor();
  const session = await startSession('2025-03-26');
  const first = post(session, holdCall(1));
  const call = await nextCall();
  for (const batch of [
    [holdCall(2), holdCall(1)],
    [holdCall(3), holdCall(3)],
  ])
    expect((await post(session, batch)).json.error.code).toBe(-32600);
  call.succeed(text('first'));
  expect((await first).json.result).toEqual(text('first'));
});

test('the same id in two sessions is two requests', async () => {
  const { startSession, post, nextCall } = await openTestDoor();
  const [one, two] = [await startSession(), await startSession()];
  const a = post(one, holdCall(1));
  const first = await nextCall();
  const b = post(two, holdCall(1));
  const second = await nextCall();
  second.succeed(text('b'));
  first.succeed(text('a'));
  expect([(await a).json.result, (await b).json.result]).toEqual([text('a'), text('b')]);
});

test('progress turns the answer into a stream that ends with it', async () => {
  const { startSession, stream, nextCall } = await openTestDoor();
  const session = await startSession();
  const other = stream(session, holdCall(1, 'other'));
  const otherCall = await nextCall();
  const opening = stream(session, holdCall(2, 'tok"en'));
  const call = await nextCall();
  call.notify(progress('tok"en', 1), []);
  const events = await opening;
  expect(events.response.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  });
  const first = (await events.next())!;
  expect(first.json).toMatchObject({ method: 'notifications/progress', params: { progress: 1 } });
  call.succeed(text('done'));
  const last = (await events.next())!;
  expect(last.json).toMatchObject({ id: 2, result: text('done') });
  expect(new Set([first.id, last.id, undefined]).size).toBe(3);
  expect(await events.next()).toBeUndefined();
  otherCall.succeed(text('plain'));
  expect((await other).response.headers['content-type']).toBe('application/json');
});

test('a request that is silent for long gets a stream, and comments keep it alive', async () => {
  const { startSession, stream, nextCall } = await openTestDoor({
    timeouts: { tickMs: 10, silenceMs: 20, keepAliveMs: 20 },
  });
  const events = await stream(await startSession(), holdCall(1));
  expect(events.response.headers['content-type']).toBe('text/event-stream');
  await events.until(() => events.comments >= 2);
  (await nextCall()).succeed(text('late'));
  expect((await events.next())!.json).toMatchObject({ id: 1, result: text('late') });
});

test('a client of 2025-11-25 can resume a stream before anything has happened on it', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor({
    timeouts: { tickMs: 10, silenceMs: 20 },
  });
  const session = await startSession('2025-11-25');
  const lost = await stream(session, holdCall(1));
  const call = await nextCall();
  const first = (await lost.next())!;
  expect(first).toMatchObject({ data: '', event: undefined });
  lost.hangUp();
  call.succeed(text('kept'));
  const resumed = await listen(session, first.id);
  expect((await resumed.next())!.json).toMatchObject({ id: 1, result: text('kept') });
  expect(await resumed.next()).toBeUndefined();
  expect((await (await listen(session)).next())!.data).toBe('');
});

test('a client that goes away has not cancelled its call, and gets the rest when it comes back', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor();
  const session = await startSession();
  const opening = stream(session, holdCall(1, 't'));
  const call = await nextCall();
  call.notify(progress('t', 1), []);
  const lost = await opening;
  const seen = (await lost.next())!;
  lost.hangUp();
  await lost.whole();
  call.notify(progress('t', 2), []);
  const resumed = await listen(session, seen.id);
  expect((await resumed.next())!.json.params.progress).toBe(2);
  call.notify(progress('t', 3), []);
  expect((await resumed.next())!.json.params.progress).toBe(3);
  call.succeed(text('done'));
  expect((await resumed.next())!.json.result).toEqual(text('done'));
  expect(await resumed.next()).toBeUndefined();
  // The stream has ended, but it can be replayed once more.
  const again = await listen(session, seen.id);
  const ids = (await again.whole()).text.match(/(?<=^id: ).+/gm)!;
  expect(ids).toHaveLength(3);
  // A client that has everything is told to stop retrying; a listening one is not disturbed.
  const listening = await listen(session);
  expect((await (await listen(session, ids.at(-1))).whole()).status).toBe(204);
  call.session.client.notify('notifications/hello');
  expect((await listening.next())!.json.method).toBe('notifications/hello');
});

test('a request that was cancelled on its stream has nothing to come back for', async () => {
  const { startSession, stream, post, listen, nextCall } = await openTestDoor({
    timeouts: { tickMs: 10, silenceMs: 20 },
  });
  const session = await startSession('2025-11-25');
  const events = await stream(session, holdCall(1));
  await nextCall();
  const { id } = (await events.next())!;
  await post(session, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await events.next()).toBeUndefined();
  expect((await listen(session, id)).status).toBe(204);
});

test('a stream is resumed without what was for another', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor();
  const session = await startSession();
  const listening = await listen(session);
  const opening = stream(session, holdCall(1, 't'));
  const call = await nextCall();
  call.notify(progress('t', 1), []);
  await (await opening).next();
  const { client } = call.session;
  client.notify('notifications/one');
  const seen = (await listening.next())!;
  listening.hangUp();
  await listening.whole();
  call.notify(progress('t', 2), []);
  client.notify('notifications/two');
  const resumed = await listen(session, seen.id);
  expect((await resumed.next())!.json.method).toBe('notifications/two');
  expect((await (await opening).next())!.json.params.progress).toBe(2);
});

test('an event id that nobody gave out is a fresh start', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor();
  const session = await startSession();
  const waiting = stream(session, holdCall(1));
  const call = await nextCall();
  for (const id of ['7-7', 'nonsense', '0-999', '1-1']) {
    const listening = await listen(session, id);
    expect(listening.status).toBe(200);
    call.session.client.notify('notifications/hello');
    expect((await listening.next())!.json.method).toBe('notifications/hello');
  }
  call.succeed({});
  await waiting;
});

test('a cancelled request is ended without an answer', async () => {
  const { startSession, post, stream, nextCall } = await openTestDoor();
  const session = await startSession();
  const cancel = (requestId: unknown) => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId },
  });
  const opening = stream(session, holdCall('é\n'));
  const call = await nextCall();
  const body = JSON.stringify(cancel('X')).replace('X', '\\u00e9\\n');
  expect((await post(session, {}, { body })).status).toBe(202);
  expect((await (await opening).whole()).text).toBe('');
  expect(call.open).toBe(false);
  expect((await post(session, cancel('nobody'))).status).toBe(202);
});

test('what a server asks goes to the youngest open request, and to who listens where there is none', async () => {
  const { startSession, stream, listen, post, nextCall } = await openTestDoor();
  const session = await startSession();
  const listening = await listen(session);
  const older = stream(session, holdCall(1));
  const call = await nextCall();
  const younger = stream(session, holdCall(2));
  const other = await nextCall();
  const answered: Message[] = [];
  const ask = (): void => {
    const question = fromServer({ id: 'q', method: 'sampling/createMessage', params: {} });
    call.session.client.ask(question, {
      answered: (answer) => answered.push(answer),
      unanswered: () => undefined,
    });
  };
  ask();
  const events = await younger;
  const asked = (await events.next())!.json;
  expect(asked.method).toBe('sampling/createMessage');
  expect((await post(session, { jsonrpc: '2.0', id: asked.id, result: { ok: 1 } })).status).toBe(202);
  expect(answered.map((answer) => answer.value(Server.result))).toEqual([{ ok: 1 }]);
  other.succeed({});
  expect((await events.next())!.json.id).toBe(2);
  const log = fromServer({ method: 'notifications/message', params: { level: 'info', data: 'x' } });
  call.session.client.forwardNotification(log, []);
  expect((await (await older).next())!.json.method).toBe('notifications/message');
  call.succeed({});
  await (await older).whole();
  ask();
  expect((await listening.next())!.json.method).toBe('sampling/createMessage');
  call.session.client.notify('notifications/tools/list_changed');
  expect((await listening.next())!.json.method).toBe('notifications/tools/list_changed');
});

test('what nobody is there to take is kept, a question also for the next request', async () => {
  const { startSession, stream, listen, post, nextCall } = await openTestDoor();
  const session = await startSession();
  const done = post(session, holdCall(1));
  const call = await nextCall();
  call.succeed({});
  await done;
  const { client } = call.session;
  client.notify('notifications/tools/list_changed');
  client.ask(fromServer({ id: 1, method: 'roots/list' }), {
    answered: () => undefined,
    unanswered: () => undefined,
  });
  const events = await stream(session, holdCall(2));
  expect((await events.next())!.json.method).toBe('roots/list');
  (await nextCall()).succeed({});
  expect((await events.next())!.json.id).toBe(2);
  expect((await (await listen(session)).next())!.json.method).toBe('notifications/tools/list_changed');
});

test('of too much that is kept the oldest is given up', async () => {
  const { startSession, listen, post, nextCall } = await openTestDoor();
  const session = await startSession();
  const done = post(session, holdCall(1));
  const call = await nextCall();
  call.succeed({});
  await done;
  for (let n = 0; n < 150; n++) call.session.client.notify(`notifications/${n}`);
  // Everything before it on this connection has been handled when this is answered.
  await post(session, PING);
  const listening = await listen(session);
  expect((await listening.next())!.json.method).toBe('notifications/50');
  await listening.until(() => listening.events.length === 99);
});

test('who listens a second time replaces the first', async () => {
  const { startSession, listen } = await openTestDoor();
  const session = await startSession();
  const first = await listen(session);
  await listen(session);
  expect(await first.next()).toBeUndefined();
});

test('DELETE ends the session and everything that is open in it', async () => {
  const { startSession, request, post, listen, nextCall, door, clients } = await openTestDoor();
  const session = await startSession();
  const listening = await listen(session);
  const waiting = post(session, holdCall(1));
  await nextCall();
  const headers = { 'mcp-session-id': session };
  expect((await request({ method: 'DELETE', path: '/mcp', headers })).status).toBe(204);
  expect(await listening.next()).toBeUndefined();
  const reply = await waiting;
  expect([reply.status, reply.json.id]).toEqual([404, 1]);
  expect(door.sessions).toBe(0);
  expect(clients.closed).toBe(1);
  expect((await request({ method: 'DELETE', path: '/mcp', headers })).status).toBe(404);
  expect((await post(session, PING)).status).toBe(404);
});

test('large messages go through whole, as JSON and as events', async () => {
  const { startSession, post, stream, nextCall } = await openTestDoor();
  const session = await startSession();
  const large = 'é"\n'.repeat(1_000_000);
  const plain = post(session, { ...holdCall(1), large: 'x'.repeat(2_000_000) });
  (await nextCall()).succeed(text(large));
  expect((await plain).json.result).toEqual(text(large));
  const opening = stream(session, holdCall(2, 't'));
  const call = await nextCall();
  call.notify(progress('t', 1), []);
  call.succeed(text(large));
  const events = await opening;
  await events.next();
  expect((await events.next())!.json.result).toEqual(text(large));
});
