import { describe, expect, test } from 'vitest';
import { LEGACY_VERSIONS, Meta, MODERN_VERSION } from '../../protocol/index.ts';
import { askDuring, openModern, serverMessage } from './modern.cases.ts';

const DONE = { id: 0, result: { content: [] } };
const REFUSED = { code: -32602, message: expect.stringContaining('requestState') };

test('a request with the id of a running one is refused, and the running one gets its own answer', async () => {
  const harness = openModern({ singleUser: true });
  harness.call(1);
  const call = await harness.nextCall();
  harness.call(1);
  expect((await harness.answerTo(1)).error.code).toBe(-32600);
  call.relay(serverMessage(DONE));
  await harness.next(({ id, result }) => id === 1 && result !== undefined);
  harness.call(1);
  (await harness.nextCall()).relay(serverMessage(DONE));
  await harness.next(({ id, result }) => id === 1 && result !== undefined);
});

describe('every request must say', () => {
  test('its version, and one that we speak', async () => {
    const harness = openModern();
    const missing = await harness.ask(1, 'tools/list', { _meta: { [Meta.protocolVersion]: undefined } });
    expect(missing.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('protocolVersion'),
    });
    const strange = await harness.ask(2, 'tools/list', { _meta: { [Meta.protocolVersion]: '1999-01-01' } });
    expect(strange.error).toMatchObject({
      code: -32022,
      data: { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: '1999-01-01' },
    });
    const long = await harness.ask(3, 'tools/list', {
      _meta: { [Meta.protocolVersion]: 'x'.repeat(10_000) },
    });
    expect(JSON.stringify(long).length).toBeLessThan(1000);
  });

  test.each([[undefined], [null], ['all'], [7], [[]]])(
    'what its client can do, and not with %j',
    async (capabilities) => {
      const harness = openModern();
      const { error } = await harness.ask(1, 'tools/list', {
        _meta: { [Meta.clientCapabilities]: capabilities },
      });
      expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('clientCapabilities') });
    },
  );

  test('a level that there is, where it wants to hear the log', async () => {
    const harness = openModern();
    for (const level of ['loud', 7, null]) {
      const { error } = await harness.ask(`${level}`, 'tools/list', { _meta: { [Meta.logLevel]: level } });
      expect(error, `${level}`).toMatchObject({ code: -32602 });
    }
    expect(
      (await harness.ask(1, 'tools/list', { _meta: { [Meta.logLevel]: 'debug' } })).result,
    ).toBeDefined();
  });
});

test('what one request says holds for it alone, however like the one before it is', async () => {
  const harness = openModern();
  let id = 0;
  const ask = (_meta: object) => harness.ask(++id, 'tools/list', { _meta });
  for (let round = 0; round < 3; round++) {
    for (let time = 0; time < 3; time++) expect((await ask({})).result).toBeDefined();
    for (let time = 0; time < 3; time++)
      expect((await ask({ [Meta.clientCapabilities]: 7 })).error).toMatchObject({ code: -32602 });
    for (let time = 0; time < 3; time++)
      expect((await ask({ [Meta.protocolVersion]: '2026-07-29' })).error).toMatchObject({ code: -32022 });
    for (let time = 0; time < 3; time++)
      expect((await ask({ [Meta.logLevel]: 'loud' })).error).toMatchObject({ code: -32602 });
  }
});

test('discover says who we are and what we speak', async () => {
  const harness = openModern();
  const { result } = await harness.ask(1, 'server/discover');
  expect(result).toMatchObject({
    resultType: 'complete',
    supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
    capabilities: { tools: { listChanged: true } },
    instructions: 'Be brief.',
    ttlMs: expect.any(Number),
    cacheScope: 'private',
    _meta: { [Meta.serverInfo]: { name: 'test', title: 'Test', version: '0' } },
  });
});

test('lists say for how long they hold', async () => {
  const harness = openModern();
  const { result } = await harness.ask(1, 'tools/list');
  expect(result).toMatchObject({
    resultType: 'complete',
    tools: [{ name: 'hold' }],
    ttlMs: expect.any(Number),
    cacheScope: 'private',
  });
});

test.each(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'tasks/result', 'nobody/knows'])(
  '%s is no method of this era',
  async (method) => {
    const harness = openModern();
    expect((await harness.ask(1, method)).error).toMatchObject({ code: -32601 });
  },
);

test('ids are the client’s own: a number and a text that look alike are two', async () => {
  const harness = openModern();
  harness.call(1);
  const one = await harness.nextCall();
  harness.call('1');
  const two = await harness.nextCall();
  harness.say({ method: 'notifications/cancelled', params: { requestId: '1' } });
  await expect.poll(() => two.open).toBe(false);
  expect(one.open).toBe(true);
  one.relay(serverMessage(DONE));
  expect(await harness.answerTo(1)).toMatchObject({ id: 1 });
  expect(harness.messages).toHaveLength(1);
});

test('a cancellation of what does not run, or of nothing, changes nothing', async () => {
  const harness = openModern();
  harness.say({ method: 'notifications/cancelled', params: { requestId: 9 } });
  harness.say({ method: 'notifications/cancelled', params: {} });
  harness.say({ method: 'notifications/cancelled' });
  harness.say({ method: 'notifications/anything' });
  expect((await harness.ask(1, 'tools/list')).result).toBeDefined();
});

test('a state that nobody gave out is refused, and reaches no server', async () => {
  const harness = openModern();
  for (const requestState of ['switchboard.', `switchboard.${'A'.repeat(43)}`, 'switchboard.constructor']) {
    const { error } = await harness.ask(requestState, 'tools/call', {
      name: 'hold',
      arguments: {},
      requestState,
      inputResponses: {},
    });
    expect(error).toMatchObject(REFUSED);
  }
  expect(harness.client.running).toBe(0);
});

test('a state of a server’s own passes: it is not ours to judge', async () => {
  const harness = openModern();
  harness.call(1, {}, { requestState: 'theirs', inputResponses: {} });
  const call = await harness.nextCall();
  expect(call.request.toString()).toContain('"requestState":"theirs"');
  call.relay(serverMessage(DONE));
  await harness.answerTo(1);
});

test.each<[string, object]>([
  ['other arguments', { arguments: { n: 2 } }],
  ['no arguments', { arguments: undefined }],
  ['another name', { name: 'hold_2' }],
])('a state that comes back with %s ends both', async (_, change) => {
  const harness = openModern();
  harness.call(1, { n: 1 });
  const call = await harness.nextCall();
  const asked = askDuring(call);
  const { requestState } = (await harness.answerTo(1)).result;
  const params = { name: 'hold', arguments: { n: 1 }, requestState };
  expect((await harness.ask(2, 'tools/call', { ...params, ...change })).error).toMatchObject(REFUSED);
  expect(call.open).toBe(false);
  expect(await asked.outcome).toEqual({ unanswered: 'closed' });
  expect((await harness.ask(3, 'tools/call', params)).error).toMatchObject(REFUSED);
});

test('a state that comes back with the same arguments, written otherwise, is the same', async () => {
  const harness = openModern();
  harness.call(1, { n: 1, text: 'ü', deep: { a: 1, b: 2 } });
  const call = await harness.nextCall();
  const asked = askDuring(call);
  const { requestState } = (await harness.answerTo(1)).result;
  // The order of the members must not matter.
  harness.call(
    2,
    { deep: { b: 2, a: 1 }, text: '\u00fc', n: 1 },
    { requestState, inputResponses: { question_1: { action: 'decline' } } },
  );
  expect((await asked.outcome).result).toEqual({ action: 'decline' });
  call.relay(serverMessage(DONE));
  await harness.answerTo(2);
});

test('a client that leaves gives up what runs; suspended calls stay', async () => {
  const harness = openModern();
  harness.call(1);
  const waiting = await harness.nextCall();
  const asked = askDuring(waiting);
  const { requestState } = (await harness.answerTo(1)).result;
  harness.call(2);
  const running = await harness.nextCall();
  harness.client.leave(harness.peer);
  expect(running.open).toBe(false);
  expect(waiting.open).toBe(true);
  expect(harness.client.suspended.size).toBe(1);
  harness.call(3, {}, { requestState, inputResponses: { question_1: { action: 'accept' } } });
  await asked.outcome;
  waiting.relay(serverMessage(DONE));
  expect((await harness.answerTo(3)).result.resultType).toBe('complete');
});

test('closing ends all suspended calls', async () => {
  const harness = openModern();
  harness.call(1);
  const call = await harness.nextCall();
  const asked = askDuring(call);
  await harness.answerTo(1);
  harness.client.close();
  expect(await asked.outcome).toEqual({ unanswered: 'closed' });
  expect(call.open).toBe(false);
});

test('it is idle when nothing waits for an answer, whatever subscriptions there are', async () => {
  const harness = openModern();
  await harness.client.idle();
  harness.request('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  await harness.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  await harness.client.idle();
  harness.call(1);
  const call = await harness.nextCall();
  let idle = false;
  const waiting = harness.client.idle().then(() => (idle = true));
  expect(harness.client.running).toBe(2);
  expect(idle).toBe(false);
  call.relay(serverMessage(DONE));
  await waiting;
});

test('what still runs at the end is answered with an error, and who listens is told that it is over', async () => {
  const harness = openModern();
  harness.request('l', 'subscriptions/listen', { notifications: { toolsListChanged: true } });
  await harness.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  harness.call(1);
  const call = await harness.nextCall();
  harness.client.failAll();
  const failed = await harness.answerTo(1);
  expect(failed.error ?? failed.result.isError).toBeTruthy();
  expect((await harness.answerTo('l')).result).toMatchObject({
    resultType: 'complete',
    _meta: { [Meta.subscriptionId]: 'l' },
  });
  expect(call.open).toBe(false);
  expect(harness.client.running).toBe(0);
});

test('many calls that wait for clients that never come back are all given up in time', async () => {
  const harness = openModern({ suspended: { ageMs: 200 } });
  const outcomes: Promise<any>[] = [];
  const calls = [];
  for (let n = 0; n < 300; n++) {
    harness.call(n);
    const call = await harness.nextCall();
    calls.push(call);
    outcomes.push(askDuring(call).outcome);
  }
  for (const outcome of await Promise.all(outcomes)) expect(outcome).toEqual({ unanswered: 'closed' });
  expect(calls.every(({ open }) => !open)).toBe(true);
  expect(harness.client.suspended.size).toBe(0);
  expect(harness.client.running).toBe(0);
});
