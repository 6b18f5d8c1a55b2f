import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import type { Call } from '../../gateway/index.ts';
import { Meta, type JsonObject } from '../../protocol/index.ts';
import { Attempt } from '../modern/attempt.ts';
import type { ModernRequestHandler } from './modern-posts.ts';
import { openTestDoor, progress, fromServer, TOKEN, type EventReader, type TestDoor } from './door.cases.ts';
import { modernCall, modernPost, modernRequest } from './modern-requests.cases.ts';

const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });
const CALM = { tickMs: 10, silenceMs: 60_000 };
const LISTEN = { notifications: { toolsListChanged: true } };

/** The next call, and a promise that resolves with the reason when it is cancelled. */
async function runningCall(
  nextCall: TestDoor['nextCall'],
): Promise<{ call: Call; cancelled: Promise<unknown> }> {
  const call = await nextCall();
  const cancelled = new Promise((resolve) => {
    call.runBy({ cancelled: resolve });
  });
  return { call, cancelled };
}

describe('what comes before the answer', () => {
  test('makes it a stream of events without ids, which the answer ends', async () => {
    const { open, nextCall } = await openTestDoor({ timeouts: CALM });
    const opened = open(modernPost(modernCall(1, { _meta: { progressToken: 'p' } })));
    const call = await nextCall();
    call.notify(progress('p', 1), []);
    const stream = await opened;
    expect(stream.status).toBe(200);
    expect(stream.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    });
    expect(stream.response.headers['mcp-session-id']).toBeUndefined();
    call.notify(progress('p', 2), []);
    call.succeed(text('done'));
    const events = [await stream.next(), await stream.next(), await stream.next(), await stream.next()];
    expect(events.map((event) => event?.json?.params?.progress)).toEqual([1, 2, undefined, undefined]);
    expect(events[2]?.json).toMatchObject({ id: 1, result: text('done') });
    expect(events[3]).toBeUndefined();
    expect(events.slice(0, 3).map((event) => [event?.id, event?.event])).toEqual(
      Array.from({ length: 3 }, () => [undefined, 'message']),
    );
  });

  test('is silence: after a while there is a stream all the same, and comments keep it alive', async () => {
    const { open, nextCall } = await openTestDoor({
      timeouts: { tickMs: 10, silenceMs: 20, keepAliveMs: 20 },
    });
    const stream = await open(modernPost(modernCall(1)));
    await stream.until(() => stream.comments >= 2);
    (await nextCall()).succeed(text('late'));
    expect((await stream.next())?.json).toMatchObject({ id: 1, result: text('late') });
    expect(await stream.next()).toBeUndefined();
  });

  test('is no question: that is an answer, and the next request brings what was asked for', async () => {
    const { request, nextCall, modern } = await openTestDoor();
    const able = { _meta: { [Meta.clientCapabilities]: { elicitation: {} } } };
    const first = request(modernPost(modernCall(1, able)));
    const call = await nextCall();
    const answered = new Promise<string>((resolve) => {
      call.session.client.ask(
        fromServer({ id: 1, method: 'elicitation/create', params: { message: 'Who?' } }),
        {
          answered: (answer) => resolve(answer.toString()),
          unanswered: resolve,
        },
      );
    });
    const asked = await first;
    expect(asked.headers['content-type']).toBe('application/json');
    const { requestState, inputRequests, resultType } = asked.json.result;
    expect(resultType).toBe('input_required');
    const [[key, input]] = Object.entries<any>(inputRequests) as [[string, any]];
    expect(input).toMatchObject({ method: 'elicitation/create', params: { message: 'Who?' } });
    // The exchange has ended, but the call has not.
    await until(() => modern.count.left === 1);
    expect(call.open).toBe(true);
    const inputResponses = { [key]: { action: 'accept', content: { name: 'Ada' } } };
    const second = request(modernPost(modernCall(2, { ...able, requestState, inputResponses })));
    expect(await answered).toContain('Ada');
    call.succeed(text('Hello, Ada'));
    expect((await second).json).toMatchObject({
      id: 2,
      result: { resultType: 'complete', ...text('Hello, Ada') },
    });
  });
});

describe('a client that closes the exchange has cancelled', () => {
  test('before anything was said', async () => {
    const { door, nextCall, modern, connect } = await openTestDoor({ timeouts: CALM });
    const { socket } = await connect();
    const { headers, body } = modernPost(modernCall(1));
    const lines = Object.entries(headers!).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${value}`],
    );
    socket.write(
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${door.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        `${lines.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body!)}\r\n\r\n${body as string}`,
    );
    const { call, cancelled } = await runningCall(nextCall);
    socket.destroy();
    expect(await cancelled).toContain('disconnected');
    expect(call.open).toBe(false);
    expect(modern.count).toEqual({ opened: 1, left: 1 });
  });

  test('while it is streamed to', async () => {
    const { open, nextCall } = await openTestDoor({ timeouts: CALM });
    const opened = open(modernPost(modernCall(1, { _meta: { progressToken: 1 } })));
    const { call, cancelled } = await runningCall(nextCall);
    call.notify(progress(1, 1), []);
    const stream = await opened;
    await stream.next();
    stream.hangUp();
    expect(await cancelled).toContain('disconnected');
  });

  test('and nobody else is', async () => {
    const { open, request, nextCall } = await openTestDoor({ timeouts: CALM });
    const opened = open(modernPost(modernCall(1, { _meta: { progressToken: 1 } })));
    const first = await runningCall(nextCall);
    const other = request(modernPost(modernCall(1)));
    const second = await nextCall();
    first.call.notify(progress(1, 1), []);
    (await opened).hangUp();
    await first.cancelled;
    expect(second.open).toBe(true);
    second.succeed(text('still here'));
    expect((await other).json.result).toMatchObject(text('still here'));
  });

  test('but one that has its answer has not', async () => {
    const { request, nextCall, modern } = await openTestDoor();
    const answer = request(modernPost(modernCall(1)));
    const { call, cancelled } = await runningCall(nextCall);
    let isCancelled = false;
    void cancelled.then(() => (isCancelled = true));
    call.succeed(text('done'));
    await answer;
    await until(() => modern.count.left === 1);
    expect(isCancelled).toBe(false);
  });
});

describe('a client that listens', () => {
  const listening = (id: unknown = 'l'): JsonObject => modernRequest(id, 'subscriptions/listen', LISTEN);

  const acknowledged = async (stream: EventReader): Promise<void> => {
    expect((await stream.next())?.json).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { _meta: { [Meta.subscriptionId]: 'l' }, ...LISTEN },
    });
  };

  test('has a stream at once, is told of what it wants, and gets comments meanwhile', async () => {
    const { gateway, open, modern } = await openTestDoor({
      timeouts: { tickMs: 10, silenceMs: 60_000, keepAliveMs: 20 },
    });
    const stream = await open(modernPost(listening()));
    expect(stream.response.headers['content-type']).toBe('text/event-stream');
    expect(stream.response.headers['x-accel-buffering']).toBe('no');
    await acknowledged(stream);
    gateway.announceTools();
    expect((await stream.next())?.json).toMatchObject({
      method: 'notifications/tools/list_changed',
      params: { _meta: { [Meta.subscriptionId]: 'l' } },
    });
    await stream.until(() => stream.comments >= 2);
    expect(modern.count.left).toBe(0);
    stream.hangUp();
    await until(() => modern.count.left === 1);
    expect([...gateway.sessions]).toHaveLength(1);
  });

  test('has its stream before there is anything to say', async () => {
    const silent = { listens: true, cancel: () => undefined, stop: () => undefined };
    const endpoint: ModernRequestHandler = {
      refusal: () => undefined,
      run: (message, channel) => {
        const attempt = new Attempt(channel, message);
        attempt.handler = silent;
        return attempt;
      },
      cancel: () => undefined,
    };
    const { open } = await openTestDoor({
      timeouts: { ...CALM, flushMs: 10 },
      modern: {
        endpointOf: () => endpoint,
        endThose: () => undefined,
        idle: () => Promise.resolve(),
        failAll: () => undefined,
      },
    });
    const stream = await open(modernPost(listening()));
    expect([stream.status, stream.events.length]).toEqual([200, 0]);
    stream.hangUp();
  });

  test.each(['drain', 'close'] as const)('is told of the end when the door is to %s', async (how) => {
    const { open, door } = await openTestDoor();
    const stream = await open(modernPost(listening()));
    await acknowledged(stream);
    const ended = how === 'drain' ? door.drain(60_000) : door.close();
    expect((await stream.next())?.json).toMatchObject({
      id: 'l',
      result: { resultType: 'complete', _meta: { [Meta.subscriptionId]: 'l' } },
    });
    expect(await stream.next()).toBeUndefined();
    await ended;
  });
});

describe('a door that stops', () => {
  test('takes nothing new, and lets what runs come to its end', async () => {
    const { request, nextCall, door } = await openTestDoor();
    const running = request(modernPost(modernCall(1)));
    const call = await nextCall();
    const drained = door.drain(60_000);
    const refused = await request(modernPost(modernCall(2)));
    expect([refused.status, refused.headers['retry-after'], refused.json.id]).toEqual([503, '5', 2]);
    call.succeed(text('done'));
    expect((await running).json.result).toMatchObject(text('done'));
    await drained;
  });

  test.each([
    ['JSON', {}],
    ['an event', { _meta: { progressToken: 1 } }],
  ])('answers what does not, with %s', async (_how, more) => {
    const { open, nextCall, door } = await openTestDoor({ timeouts: CALM });
    const opened = open(modernPost(modernCall(1, more)));
    const { call, cancelled } = await runningCall(nextCall);
    if ('_meta' in more) {
      call.notify(progress(1, 1), []);
      await opened;
    }
    await door.drain(0);
    const { text: whole } = await (await opened).whole();
    expect(whole).toContain('Switchboard is stopping');
    await cancelled;
  });

  test('is closed though a client does not go', async () => {
    const { open, nextCall, door, modern } = await openTestDoor({ timeouts: CALM });
    const opened = open(modernPost(modernCall(1, { _meta: { progressToken: 1 } })));
    (await nextCall()).notify(progress(1, 1), []);
    const stream = await opened;
    await door.close();
    await stream.until(() => stream.response.closed);
    expect(modern.count).toEqual({ opened: 1, left: 1 });
  });
});

test('a client that does not read is given up after a while, and its call is cancelled', async () => {
  const { open, nextCall } = await openTestDoor({ timeouts: { tickMs: 10, silenceMs: 20, stallMs: 100 } });
  const stream = await open(modernPost(modernCall(1, { _meta: { progressToken: 1 } })));
  stream.response.pause();
  onTestFinished(() => stream.hangUp());
  const { call, cancelled } = await runningCall(nextCall);
  const large = fromServer({
    method: 'notifications/progress',
    params: { progressToken: 1, progress: 1, message: 'x'.repeat(1024 * 1024) },
  });
  for (let times = 0; times < 12; times++) call.notify(large, []);
  expect(await cancelled).toContain('disconnected');
});
