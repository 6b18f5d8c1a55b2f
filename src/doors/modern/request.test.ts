import { expect, test } from 'vitest';
import { SwitchboardError } from '../../shared/errors.ts';
import { Meta } from '../../protocol/index.ts';
import { askDuring, openModern, serverMessage, type ModernTestClient } from './modern.cases.ts';

const ACCEPT = { action: 'accept', content: { a: 1 } };

/** A call that has requested input and waits for its client. */
async function suspend(harness: ModernTestClient, id: string | number = 1) {
  harness.call(id, { n: 1 });
  const call = await harness.nextCall();
  const asked = askDuring(call);
  const { result } = await Promise.race([harness.answerTo(id), asked.outcome]);
  expect(result?.resultType).toBe('input_required');
  return { call, asked, state: result.requestState as string, inputs: result.inputRequests as object };
}

const back = (state: string, inputResponses?: unknown): object => ({
  requestState: state,
  ...(inputResponses === undefined ? {} : { inputResponses }),
});

const text = (value: string): ReturnType<typeof serverMessage> =>
  serverMessage({ id: 0, result: { content: [{ type: 'text', text: value }] } });

test('a call that asks nothing is answered in its first attempt', async () => {
  const harness = openModern();
  harness.call('one');
  (await harness.nextCall()).relay(text('done'));
  expect((await harness.answerTo('one')).result).toEqual({
    resultType: 'complete',
    _meta: { [Meta.serverInfo]: { name: 'test', title: 'Test', version: '0' } },
    content: [{ type: 'text', text: 'done' }],
  });
  expect(harness.client.running).toBe(0);
});

test('a question is an answer, and the answer to it comes with a request of its own', async () => {
  const harness = openModern();
  const { call, asked, state, inputs } = await suspend(harness);
  expect(inputs).toEqual({ question_1: { method: 'elicitation/create', params: { message: 'Well?' } } });
  expect(harness.client.suspended.size).toBe(1);
  expect(harness.client.running).toBe(0);
  harness.call('later', { n: 1 }, back(state, { question_1: ACCEPT }));
  expect((await asked.outcome).result).toEqual(ACCEPT);
  expect(harness.client.suspended.size).toBe(0);
  call.relay(text('done'));
  expect((await harness.answerTo('later')).result.content).toEqual([{ type: 'text', text: 'done' }]);
  expect(harness.messages).toHaveLength(2);
});

test('questions that come together go out together; one that comes later takes another attempt', async () => {
  const harness = openModern();
  harness.call(1, { n: 1 });
  const call = await harness.nextCall();
  const asked = [
    askDuring(call),
    askDuring(call, 'roots/list', {}),
    askDuring(call, 'sampling/createMessage'),
  ];
  const { result } = await harness.answerTo(1);
  expect(Object.values<any>(result.inputRequests).map(({ method }) => method)).toEqual([
    'elicitation/create',
    'roots/list',
    'sampling/createMessage',
  ]);
  const keys = Object.keys(result.inputRequests);
  const answers = Object.fromEntries(keys.map((key) => [key, { from: key }]));
  harness.call(2, { n: 1 }, back(result.requestState, answers));
  const outcomes = await Promise.all(asked.map(({ outcome }) => outcome));
  expect(outcomes.map((outcome) => outcome.result.from)).toEqual(keys);
  const another = askDuring(call);
  const second = (await harness.answerTo(2)).result;
  expect(Object.keys(second.inputRequests)).toEqual(['question_4']);
  harness.call(3, { n: 1 }, back(second.requestState, { question_4: ACCEPT }));
  await another.outcome;
  call.relay(text('done'));
  expect((await harness.answerTo(3)).result.resultType).toBe('complete');
});

test('what comes while the client is away is asked when it is back', async () => {
  const harness = openModern();
  const { call, asked, state } = await suspend(harness);
  const later = askDuring(call, 'roots/list', {});
  harness.call(2, { n: 1 }, back(state, { question_1: ACCEPT }));
  await asked.outcome;
  const { result } = await harness.answerTo(2);
  expect(result.inputRequests).toEqual({ question_2: { method: 'roots/list', params: {} } });
  harness.call(3, { n: 1 }, back(result.requestState, { question_2: { roots: [] } }));
  expect((await later.outcome).result).toEqual({ roots: [] });
});

test('a call that is suspended again and again does not use up the room', async () => {
  const harness = openModern({ suspended: { maxBytes: 2000 } });
  for (let n = 0; n < 30; n++) {
    const { call, asked, state } = await suspend(harness, `call ${n}`);
    // It holds less than it did when it was suspended.
    call.session.client.withdraw(asked.id, 'never mind');
    harness.call(`back ${n}`, { n: 1 }, back(state));
    await expect.poll(() => harness.client.running).toBe(1);
    call.relay(text('done'));
    await harness.answerTo(`back ${n}`);
  }
});

test('what was asked without params has none', async () => {
  const harness = openModern();
  harness.call(1);
  const call = await harness.nextCall();
  call.session.client.ask(serverMessage({ id: 1, method: 'roots/list' }), {
    answered: () => undefined,
    unanswered: () => undefined,
  });
  const { result } = await harness.answerTo(1);
  expect(result.inputRequests).toEqual({ question_1: { method: 'roots/list' } });
});

test.each([
  ['nothing', undefined],
  ['a null', null],
  ['a list', []],
  ['a text', 'question_1'],
  ['another key', { question_2: ACCEPT }],
])('who comes back with %s is asked again', async (_, responses) => {
  const harness = openModern();
  const { asked, state, inputs } = await suspend(harness);
  harness.call(2, { n: 1 }, back(state, responses));
  const { result } = await harness.answerTo(2);
  expect(result.inputRequests).toEqual(inputs);
  expect(result.requestState).not.toBe(state);
  harness.call(3, { n: 1 }, back(result.requestState, { question_1: ACCEPT }));
  expect((await asked.outcome).result).toEqual(ACCEPT);
});

test('an answer that is no object is passed on as it is: the server has to judge it', async () => {
  const harness = openModern();
  const { asked, state } = await suspend(harness);
  harness.call(2, { n: 1 }, back(state, { question_1: null }));
  expect((await asked.outcome).result).toBeNull();
});

test('the answer that came while the client was away is there when it is back', async () => {
  const harness = openModern();
  const { call, asked, state } = await suspend(harness);
  call.relay(text('without you'));
  harness.call(2, { n: 1 }, back(state, { question_1: ACCEPT }));
  expect((await harness.answerTo(2)).result.content[0].text).toBe('without you');
  await asked.outcome;
  expect(harness.client.running).toBe(0);
  expect(harness.client.suspended.size).toBe(0);
});

test('so is the failure', async () => {
  const harness = openModern();
  const { call, state } = await suspend(harness);
  call.fail(new SwitchboardError('SERVER_CRASHED', "Server 'test' crashed."));
  harness.call(2, { n: 1 }, back(state));
  expect(JSON.stringify(await harness.answerTo(2))).toContain('crashed');
});

test('a question that was taken back is not asked any more', async () => {
  const harness = openModern();
  harness.call(1, { n: 1 });
  const call = await harness.nextCall();
  const gone = askDuring(call);
  call.session.client.withdraw(gone.id, 'never mind');
  askDuring(call, 'roots/list', {});
  const { result } = await harness.answerTo(1);
  expect(Object.keys(result.inputRequests)).toEqual(['question_2']);
});

test('an attempt in which all inputs were withdrawn waits for the answer', async () => {
  const harness = openModern();
  const { call, asked, state } = await suspend(harness);
  call.session.client.withdraw(asked.id, 'never mind');
  harness.call(2, { n: 1 }, back(state, { question_1: ACCEPT }));
  await expect.poll(() => harness.client.running).toBe(1);
  call.relay(text('done'));
  expect((await harness.answerTo(2)).result.content[0].text).toBe('done');
});

test('a call that is cancelled while it asks takes its questions along', async () => {
  const harness = openModern();
  const cancelled: (string | undefined)[] = [];
  harness.call(1, { n: 1 });
  const call = await harness.nextCall();
  call.runBy({ cancelled: (reason) => cancelled.push(reason) });
  const asked = askDuring(call);
  harness.say({ method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
  expect(await asked.outcome).toEqual({ unanswered: 'closed' });
  expect(cancelled).toEqual(['enough']);
  expect(harness.messages).toEqual([]);
  expect(harness.client.running).toBe(0);
});

test('a call whose client never comes back is cancelled', async () => {
  const harness = openModern({ suspended: { ageMs: 30 } });
  const { call, asked, state } = await suspend(harness);
  const reason = new Promise<string | undefined>((resolve) => {
    call.runBy({ cancelled: resolve });
  });
  expect(await reason).toMatch(/did not return/);
  expect(await asked.outcome).toEqual({ unanswered: 'closed' });
  expect(call.open).toBe(false);
  expect(
    (await harness.ask(2, 'tools/call', { name: 'hold', arguments: { n: 1 }, ...back(state) })).error,
  ).toMatchObject({ code: -32602 });
});

test('where there is no room to wait, the server is told that nobody answers', async () => {
  const harness = openModern({ suspended: { maxRequests: 1 } });
  await suspend(harness, 'first');
  harness.call('second');
  const call = await harness.nextCall();
  expect(await askDuring(call).outcome).toEqual({ unanswered: 'closed' });
  call.relay(text('so be it'));
  expect((await harness.answerTo('second')).result.content[0].text).toBe('so be it');
});

test('a request that is over asks for nothing more', async () => {
  const harness = openModern();
  harness.call(1);
  const call = await harness.nextCall();
  const { client } = call.session;
  expect(client.modern).toBe(true);
  call.relay(text('done'));
  const late = new Promise((resolve) => {
    client.ask(serverMessage({ id: 1, method: 'roots/list' }), { answered: resolve, unanswered: resolve });
  });
  await harness.answerTo(1);
  // Requests made after the end fail with 'closed'.
  expect(await late).toBe('closed');
  expect(harness.messages).toHaveLength(1);
});

test.each([true, false])(
  'a question whose request is answered otherwise is told that nobody answers (one person: %j)',
  async (onePerson) => {
    const harness = openModern({ singleUser: onePerson });
    harness.call(1);
    const call = await harness.nextCall();
    const { outcome } = askDuring(call);
    call.relay(text('done'));
    expect(await outcome).toEqual({ unanswered: 'closed' });
    expect((await harness.answerTo(1)).result.content).toEqual([{ type: 'text', text: 'done' }]);
    expect(harness.messages).toHaveLength(1);
  },
);

test('over a network, a question is never brought by the request of another', async () => {
  const harness = openModern({ singleUser: false });
  harness.call('other');
  await harness.nextCall();
  harness.call('own');
  const call = await harness.nextCall();
  const { outcome } = askDuring(call);
  call.relay(text('done'));
  expect(await outcome).toEqual({ unanswered: 'closed' });
  await harness.answerTo('own');
  expect(harness.messages.map(({ id }: { id: unknown }) => id)).toEqual(['own']);
});

test('progress goes on under the token of the current attempt, and nowhere while it is away', async () => {
  const harness = openModern();
  harness.call(1, { n: 1 }, { _meta: { progressToken: 'old' } });
  const call = await harness.nextCall();
  const report = (progress: number): void =>
    call.notify(
      serverMessage({ method: 'notifications/progress', params: { progressToken: 'old', progress } }),
      [],
    );
  report(1);
  askDuring(call);
  const { result } = await harness.answerTo(1);
  report(2);
  harness.call(
    2,
    { n: 1 },
    { ...back(result.requestState, { question_1: ACCEPT }), _meta: { progressToken: 7 } },
  );
  await expect.poll(() => harness.client.running).toBe(1);
  report(3);
  call.relay(text('done'));
  await harness.answerTo(2);
  const reports = harness.messages.filter(({ method }) => method === 'notifications/progress');
  expect(reports.map(({ params }) => params)).toEqual([
    { progressToken: 'old', progress: 1 },
    { progressToken: 7, progress: 3 },
  ]);
});

test('an attempt without a token gets no progress', async () => {
  const harness = openModern();
  harness.call(1, { n: 1 }, { _meta: { progressToken: 'old' } });
  const call = await harness.nextCall();
  askDuring(call);
  const { result } = await harness.answerTo(1);
  harness.call(2, { n: 1 }, back(result.requestState, { question_1: ACCEPT }));
  await expect.poll(() => harness.client.running).toBe(1);
  call.notify(
    serverMessage({ method: 'notifications/progress', params: { progressToken: 'old', progress: 3 } }),
    [],
  );
  call.relay(text('done'));
  await harness.answerTo(2);
  expect(harness.messages.every(({ method }) => method === undefined)).toBe(true);
});

test('log messages reach only the requests that want them, from the level they want', async () => {
  const harness = openModern();
  const log = (level: string): ReturnType<typeof serverMessage> =>
    serverMessage({ method: 'notifications/message', params: { level, data: level } });
  harness.call('deaf');
  const deaf = await harness.nextCall();
  harness.call('hears', {}, { _meta: { [Meta.logLevel]: 'warning' } });
  const hears = await harness.nextCall();
  for (const call of [deaf, hears]) {
    for (const level of ['info', 'warning', 'error']) call.notify(log(level), []);
    call.relay(text('done'));
  }
  await Promise.all([harness.answerTo('deaf'), harness.answerTo('hears')]);
  const lines = harness.messages.filter(({ method }) => method === 'notifications/message');
  expect(lines.map(({ params }) => params.data)).toEqual(['warning', 'error']);
});

test('our own answers get the members of the era as well', async () => {
  const harness = openModern();
  harness.call(1);
  (await harness.nextCall()).succeed({ content: [] });
  expect((await harness.answerTo(1)).result).toMatchObject({ resultType: 'complete', content: [] });
});

test('line breaks in what is asked and answered do not break the wire', async () => {
  const harness = openModern();
  harness.call(1, { n: 1 });
  const call = await harness.nextCall();
  const outcome = new Promise<any>((resolve) => {
    const pretty = JSON.stringify(
      { jsonrpc: '2.0', id: 1, method: 'roots/list', params: { a: 'b\nc' } },
      null,
      2,
    );
    call.session.client.ask(serverMessage(JSON.parse(pretty)), {
      answered: (answer) => resolve(JSON.parse(answer.toString())),
      unanswered: resolve,
    });
  });
  const { result } = await harness.answerTo(1);
  expect(result.inputRequests.question_1.params).toEqual({ a: 'b\nc' });
  harness.call(2, { n: 1 }, back(result.requestState, { question_1: { roots: ['x\ny'] } }));
  expect((await outcome).result).toEqual({ roots: ['x\ny'] });
});
