/**
 * A modern client and servers of the older era: what those ask becomes an answer that requires input, and the call waits
 * until its client is back. Every turn is looked at.
 */
import { expect, test } from 'vitest';
import { answersTo, ModernCaller, MODERN, ALL_CAPABILITIES, envelope } from '../../helpers/eras.ts';
import { startGateway, type TestGateway } from '../../helpers/gateway.ts';
import { processesWith, waitUntilGone } from '../../helpers/processes.ts';
import { textOf, type RpcMessage } from '../../helpers/raw-client.ts';
import { nodeServer } from '../../helpers/temp-project.ts';
import { until } from '../../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'prefixed' };
const STATE = /^switchboard\.[\w-]{43}$/;
const UNKNOWN_STATE = { code: -32602, message: expect.stringContaining('requestState') };

interface Bridge extends TestGateway {
  readonly modern: ModernCaller;
  /** How many calls were cancelled at the server. */
  readonly cancellations: () => Promise<number>;
  readonly tally: () => Promise<any>;
}

const SERVERS = {
  asking: nodeServer('asking'),
  sdk: nodeServer('sdk-v2', '--era=legacy', '--name=sdk'),
};

async function start(
  config: object = {},
  capabilities: object = ALL_CAPABILITIES,
  server: keyof typeof SERVERS = 'asking',
): Promise<Bridge> {
  // The second has nothing to do with the calls that are looked at: time can be spent there.
  const servers = { [server]: SERVERS[server], clock: SERVERS.asking };
  const gateway = await startGateway(servers, { config: { ...FLAT, ...config }, raw: true });
  const modern = ModernCaller.over(gateway.client, capabilities);
  await until(
    async () => {
      const { result } = await modern.request('tools/list');
      const tools: string[] = result.tools.map(({ name }: any) => name);
      return ['clock', server].every((name) => tools.some((tool) => tool.startsWith(name)));
    },
    { what: 'the tools of both servers' },
  );
  const read = async (tool: string): Promise<any> => JSON.parse(textOf(await modern.call(`asking__${tool}`)));
  return {
    ...gateway,
    modern,
    cancellations: async () => (await read('cancellations')).length,
    tally: () => read('tally'),
  };
}

const startSdk = (): Promise<Bridge> => start({}, ALL_CAPABILITIES, 'sdk');

const asks = (answer: RpcMessage): any[] => {
  expect(answer.result).toMatchObject({
    resultType: 'input_required',
    requestState: expect.stringMatching(STATE),
  });
  return Object.values(answer.result.inputRequests);
};

const parsedText = (answer: RpcMessage): any => {
  expect(answer.result?.resultType, JSON.stringify(answer).slice(0, 500)).toBe('complete');
  return JSON.parse(textOf(answer));
};

/** A form asked by a call, the call parked. */
async function park(
  { modern }: Bridge,
  tag: string,
  more: object = {},
): Promise<{ args: object; asked: RpcMessage }> {
  const args = { tag, ...more };
  const asked = await modern.call('asking__ask_form', args);
  expect(asks(asked)).toHaveLength(1);
  return { args, asked };
}

/** Calls for so many questions, and comes back with nothing until all of them are there: they may come in pieces. */
async function askedMany({ modern }: Bridge, args: { tag: string; n: number }): Promise<RpcMessage> {
  let asked = await modern.call('asking__ask_many', args);
  while (asks(asked).length < args.n) asked = await modern.back('asking__ask_many', args, asked, {});
  return asked;
}

test('a question goes out as an answer, the call waits, and comes back as one', async () => {
  const bridge = await start();
  const { modern } = bridge;
  const { args, asked } = await park(bridge, '1');
  expect(asks(asked)).toEqual([
    {
      method: 'elicitation/create',
      params: {
        message: 'asking:1 asks: which colour?',
        requestedSchema: { type: 'object', properties: { answer: { type: 'string' } }, required: ['answer'] },
      },
    },
  ]);
  expect(asked.result._meta['io.modelcontextprotocol/serverInfo'].name).toBe('switchboard');
  const answer = await modern.back('asking__ask_form', args, asked, answersTo(asked));
  expect(parsedText(answer)).toEqual({ result: { action: 'accept', content: { answer: 'green' } } });
  expect(Object.keys(answer.result).filter((key) => key === 'resultType')).toHaveLength(1);
});

test('two states are never alike', async () => {
  const bridge = await start();
  const states = new Set<string>();
  for (const tag of ['1', '2', '3', '4']) states.add((await park(bridge, tag)).asked.result.requestState);
  expect(states.size).toBe(4);
});

test('several questions go out together, and each gets its own answer', async () => {
  const bridge = await start();
  const { modern } = bridge;
  const args = { tag: 'm', n: 5 };
  const asked = await askedMany(bridge, args);
  const questions = asks(asked);
  expect(questions.map(({ params }) => params.message.split(' ')[0])).toEqual(
    [1, 2, 3, 4, 5].map((n) => `asking:m-${n}`),
  );
  const answers = Object.fromEntries(
    Object.entries<any>(asked.result.inputRequests).map(([key, { params }]) => [
      key,
      { action: 'accept', content: { answer: params.message.split(' ')[0] } },
    ]),
  );
  const answer = parsedText(await modern.back('asking__ask_many', args, asked, answers));
  expect(answer.map(({ result }: any) => result.content.answer)).toEqual(
    [1, 2, 3, 4, 5].map((n) => `asking:m-${n}`),
  );
});

test('several rounds of several questions', async () => {
  const { modern } = await startSdk();
  const { answer, turns } = await modern.whole('sdk__ask', {
    kinds: ['form', 'url', 'model', 'roots'],
    rounds: 12,
  });
  expect(parsedText(answer)).toHaveLength(12);
  expect(turns).toBeGreaterThanOrEqual(13);
});

test('a declined or dismissed question is passed on to the server', async () => {
  const bridge = await start();
  for (const action of ['decline', 'cancel']) {
    const { args, asked } = await park(bridge, action);
    const [key] = Object.keys(asked.result.inputRequests);
    const answer = await bridge.modern.back('asking__ask_form', args, asked, { [key!]: { action } });
    expect(parsedText(answer)).toEqual({ result: { action } });
  }
});

test('what was not answered is asked again, under another state', async () => {
  const bridge = await start();
  const { modern } = bridge;
  const args = { tag: 'm', n: 3 };
  const first = await askedMany(bridge, args);
  const all = answersTo(first);
  const [one, two, three] = Object.keys(all);
  const second = await modern.back('asking__ask_many', args, first, { [two!]: all[two!] });
  expect(Object.keys(second.result.inputRequests)).toEqual([one, three]);
  expect(second.result.requestState).not.toBe(first.result.requestState);
  // Nothing at all, and something that nobody asked for.
  const third = await modern.call('asking__ask_many', args, { requestState: second.result.requestState });
  expect(Object.keys(third.result.inputRequests)).toEqual([one, three]);
  const fourth = await modern.back('asking__ask_many', args, third, { unheard_of: { action: 'accept' } });
  expect(Object.keys(fourth.result.inputRequests)).toEqual([one, three]);
  const last = await modern.back('asking__ask_many', args, fourth, answersTo(fourth));
  expect(parsedText(last)).toHaveLength(3);
});

test('an answer that is none is an error for the server, not for the gateway', async () => {
  const bridge = await start();
  for (const nonsense of [null, 7, 'yes', [], true]) {
    const { args, asked } = await park(bridge, 'n');
    const [key] = Object.keys(asked.result.inputRequests);
    const answer = await bridge.modern.back('asking__ask_form', args, asked, { [key!]: nonsense as any });
    expect(parsedText(answer)).toEqual({ error: expect.objectContaining({ code: expect.any(Number) }) });
  }
});

test('a state is good for once', async () => {
  const bridge = await start();
  const { args, asked } = await park(bridge, 'once');
  const back = (): Promise<RpcMessage> =>
    bridge.modern.back('asking__ask_form', args, asked, answersTo(asked));
  const both = await Promise.all([back(), back()]);
  expect(parsedText(both[0])).toHaveProperty('result');
  expect(both[1].error).toEqual(UNKNOWN_STATE);
  expect((await back()).error).toEqual(UNKNOWN_STATE);
});

test('a state that was changed, made up or given by another gateway opens nothing, and costs nothing', async () => {
  const [bridge, other] = await Promise.all([start(), start()]);
  const { args, asked } = await park(bridge, 'mine');
  const foreign = (await park(other, 'mine')).asked.result.requestState as string;
  const own = asked.result.requestState as string;
  const flipped = own.slice(0, -1) + (own.endsWith('A') ? 'B' : 'A');
  const tries = [flipped, `${own}=`, own.slice(0, -1), 'switchboard.', 'switchboard.__proto__', foreign];
  for (const requestState of tries) {
    const { error } = await bridge.modern.call('asking__ask_form', args, {
      requestState,
      inputResponses: answersTo(asked),
    });
    expect(error, requestState).toEqual(UNKNOWN_STATE);
  }
  expect(
    parsedText(await bridge.modern.back('asking__ask_form', args, asked, answersTo(asked))),
  ).toHaveProperty('result');
});

test('a state is good for the call it was given for; tried on another, both are over', async () => {
  const bridge = await start();
  const { modern } = bridge;
  const mine = { tag: 'this' };
  const elsewhere: [string, object][] = [
    ['asking__ask_form', { ...mine, tag: 'other' }],
    ['asking__ask_url', mine],
    ['asking__ask_form', { ...mine, workMs: 1 }],
  ];
  for (const [at, [tool, args]] of elsewhere.entries()) {
    const { asked } = await park(bridge, 'this', mine);
    expect((await modern.back(tool, args, asked, answersTo(asked))).error).toEqual(UNKNOWN_STATE);
    expect((await modern.back('asking__ask_form', mine, asked, answersTo(asked))).error).toEqual(
      UNKNOWN_STATE,
    );
    await until(async () => (await bridge.cancellations()) === at + 1, { what: 'the call to be cancelled' });
  }
});

test('a state says nothing to another method', async () => {
  const bridge = await start();
  const { asked } = await park(bridge, 'x');
  const { requestState } = asked.result;
  const { error } = await bridge.modern.request('prompts/get', { name: 'greet', requestState });
  expect(error).toEqual(UNKNOWN_STATE);
});

test('a call is cancelled in its first turn, and in a later one', async () => {
  const bridge = await start();
  const { client, modern } = bridge;
  const before = await bridge.cancellations();
  void modern.call('asking__hang', {}, {}, 900);
  const arrived = async (tool: string): Promise<boolean> =>
    JSON.parse(textOf(await modern.call('asking__received'))).includes('tools/call') && tool !== '';
  await until(() => arrived('hang'), { what: 'the call to arrive' });
  client.notify('notifications/cancelled', { requestId: 900, reason: 'enough', _meta: envelope() });
  await until(async () => (await bridge.cancellations()) === before + 1, { what: 'the first cancellation' });

  const args = { tag: 'late', workMs: 30_000 };
  const asked = await modern.call('asking__ask_form', args);
  void modern.back('asking__ask_form', args, asked, answersTo(asked), 901);
  await until(async () => (await bridge.tally()).open === 0, { what: 'the answer to arrive' });
  client.notify('notifications/cancelled', { requestId: 901, reason: 'enough', _meta: envelope() });
  await until(async () => (await bridge.cancellations()) === before + 2, { what: 'the second cancellation' });
  expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([900, 901]);
});

test('a server takes its question back while the client is away, and goes on', async () => {
  const { modern } = await startSdk();
  for (const withdraw of [true, false]) {
    const args = { tag: `away-${withdraw}`, withdraw };
    const asked = await modern.call('sdk__impatient', args);
    expect(asks(asked)).toHaveLength(1);
    await until(async () => textOf(await modern.call('sdk__release', { tag: args.tag })) === 'released', {
      what: 'the release',
    });
    const answer = await modern.back('sdk__impatient', args, asked, answersTo(asked));
    expect(textOf(answer)).toBe('done without it');
    expect(answer.result.resultType).toBe('complete');
  }
});

test('a server takes its question back before it went out', async () => {
  const { modern } = await start();
  const answer = await modern.call('asking__ask_then_cancel', { tag: 'x' });
  expect(textOf(answer)).toBe('withdrawn');
});

test('a server that dies while a call of its waits: the client learns it when it is back', async () => {
  const bridge = await start();
  const { modern } = bridge;
  const pid = Number(textOf(await modern.call('asking__pid')));
  const { args, asked } = await park(bridge, 'dead');
  process.kill(pid, 'SIGKILL');
  const answer = await modern.back('asking__ask_form', args, asked, answersTo(asked));
  expect(JSON.stringify(answer)).toMatch(/asking/);
  expect(answer.error ?? answer.result.isError).toBeTruthy();
  expect(answer.result?.resultType).not.toBe('input_required');
  const { answer: next } = await modern.whole('asking__ask_form', { tag: 'again' });
  expect(parsedText(next)).toHaveProperty('result');
});

test('a client without elicitation is not asked: the server gets an error, and the call goes on', async () => {
  const { modern } = await start({}, { elicitation: { form: {} } });
  for (const tool of ['ask_url', 'ask_model', 'ask_roots']) {
    const answer = parsedText(await modern.call(`asking__${tool}`, { tag: 'x' }));
    expect(answer.error, tool).toMatchObject({ code: expect.any(Number) });
  }
  const { answer } = await modern.whole('asking__ask_form', { tag: 'x' });
  expect(parsedText(answer)).toHaveProperty('result');
});

test('each request says for itself what its client can do', async () => {
  const bridge = await start();
  const mute = ModernCaller.over(bridge.client, {});
  expect(parsedText(await mute.call('asking__ask_form', { tag: 'mute' })).error.message).toMatch(
    /elicitation/,
  );
  await park(bridge, 'able');
});

test('the time that a person takes is not the server’s', async () => {
  const bridge = await start({ timeouts: { rpcMs: 1000 } });
  const { args, asked } = await park(bridge, 'slow');
  // The one that nobody answers is given up; by then as much time has gone for the other.
  const gaveUp = await bridge.modern.call('clock__hang');
  expect(JSON.stringify(gaveUp)).toMatch(/time|answer/i);
  const answer = await bridge.modern.back('asking__ask_form', args, asked, answersTo(asked));
  expect(parsedText(answer)).toHaveProperty('result');
});

test('a call that takes too long in all is given up while its client is away', async () => {
  const bridge = await start({ timeouts: { callMaxMs: 1500 } });
  const { args, asked } = await park(bridge, 'forever');
  await until(async () => (await bridge.cancellations()) === 1, { what: 'the call to be cancelled' });
  const answer = await bridge.modern.back('asking__ask_form', args, asked, answersTo(asked));
  expect(JSON.stringify(answer)).toMatch(/time|long/i);
  expect(answer.error ?? answer.result.isError).toBeTruthy();
});

test('a question that comes while another call runs is not lost with that call', async () => {
  const { modern, tally } = await start();
  // Both are there before the question is; the second is over before anybody could answer.
  const asking = modern.call('asking__ask_form', { tag: 'a' });
  const other = modern.call('asking__echo', { text: 'b' });
  const answers = await Promise.all([asking, other]);
  const parked = answers.find(({ result }) => result?.resultType === 'input_required');
  expect(parked, JSON.stringify(answers).slice(0, 800)).toBeDefined();
  expect((await tally()).open).toBe(1);
});

test('calls that run side by side and ask by turns all come to their end', async () => {
  const { modern } = await startSdk();
  const args = { kinds: ['form'], rounds: 2 };
  const older = await modern.call('sdk__ask', args);
  const younger = await modern.call('sdk__ask', { ...args, rounds: 1 });
  // The older asks its second question while the younger one's client is away.
  const olderBack = modern.back('sdk__ask', args, older, answersTo(older));
  const finish = async (first: RpcMessage, given: object): Promise<any> => {
    let answer = first;
    while (answer.result?.resultType === 'input_required')
      answer = await modern.back('sdk__ask', given, answer, answersTo(answer));
    return parsedText(answer);
  };
  const youngerDone = finish(younger, { ...args, rounds: 1 });
  const olderDone = finish(await olderBack, args);
  const accepted = { form: { action: 'accept', content: { answer: 'green' } } };
  expect(await youngerDone).toEqual([accepted]);
  expect(await olderDone).toEqual([accepted, accepted]);
});

test('the time that a person takes is no call’s, whichever of them brought the question', async () => {
  const { modern } = await start({ timeouts: { rpcMs: 1500 } });
  const [a, b] = [{ tag: 'a' }, { tag: 'b' }];
  const turns = [modern.call('asking__ask_form', a), modern.call('asking__ask_form', b)] as const;
  const asked = await Promise.race(turns);
  await modern.call('clock__hang');
  // The questions of both may have come with one of them.
  const finish = async (first: RpcMessage, args: object): Promise<any> => {
    let answer = first;
    while (answer.result?.resultType === 'input_required')
      answer = await modern.back('asking__ask_form', args, answer, answersTo(answer));
    return parsedText(answer);
  };
  expect(asks(asked).length).toBeGreaterThan(0);
  const results = await Promise.all([turns[0].then((t) => finish(t, a)), turns[1].then((t) => finish(t, b))]);
  for (const { result } of results) expect(result).toMatchObject({ action: 'accept' });
});

test('a call whose question went out with another one is not lost when that one is given up', async () => {
  const { modern } = await start({ timeouts: { rpcMs: 4000 } });
  const [a, b] = [{ tag: 'a' }, { tag: 'b' }];
  const turns = [modern.call('asking__ask_form', a), modern.call('asking__ask_form', b)] as const;
  const names = ['a', 'b'] as const;
  const first = await Promise.race(turns.map(async (turn, at) => ({ asked: await turn, at })));
  // Whoever brought it is given up, by the use of its state on something else.
  await modern.back('asking__ask_form', { tag: 'elsewhere' }, first.asked, {});
  const other = 1 - first.at;
  const left = await turns[other]!;
  // That of the other is asked as well where its server has not taken it back yet.
  const messages = asks(left).map(({ params }) => params.message);
  expect(messages).toContain(`asking:${names[other]} asks: which colour?`);
  const answer = await modern.back('asking__ask_form', { tag: names[other]! }, left, answersTo(left));
  expect(parsedText(answer).result).toMatchObject({ action: 'accept' });
});

test('progress goes on under the token of the turn the client is in', async () => {
  const { client, modern } = await startSdk();
  const args = { tag: 'p' };
  const reporting = modern.call('sdk__report', args, { _meta: { progressToken: 'first' } });
  await client.waitFor(({ method, params }) => method === 'notifications/progress' && params.progress === 2);
  await until(async () => textOf(await modern.call('sdk__release', { tag: 'p' })) === 'released');
  expect(textOf(await reporting)).toBe('reported');
  const reports = client.notifications.filter(({ method }) => method === 'notifications/progress');
  expect(reports.map(({ params }) => params.progressToken)).toEqual(['first', 'first', 'first']);
});

test('a host that leaves takes the calls that wait for it along, and nothing is left', async () => {
  const bridge = await start();
  for (const tag of ['1', '2', '3']) await park(bridge, tag);
  expect(processesWith(bridge.client.marker).length).toBeGreaterThan(1);
  const { code } = await bridge.client.close();
  expect(code).toBe(0);
  await waitUntilGone(bridge.client.marker);
});

test('discovery returns the versions of both eras, also to a request in an unknown one', async () => {
  const { client, modern } = await start();
  const { result } = await modern.request('server/discover');
  expect(result).toMatchObject({
    resultType: 'complete',
    supportedVersions: expect.arrayContaining([MODERN, '2025-11-25']),
    capabilities: { tools: { listChanged: true } },
    ttlMs: expect.any(Number),
    cacheScope: expect.any(String),
  });
  const other = { ...envelope(), 'io.modelcontextprotocol/protocolVersion': '2999-01-01' };
  const { error } = await client.request('tools/list', { _meta: other });
  expect(error).toMatchObject({
    code: -32022,
    data: { supported: expect.arrayContaining([MODERN]), requested: '2999-01-01' },
  });
  for (const missing of ['protocolVersion', 'clientCapabilities']) {
    const meta = { ...envelope(), [`io.modelcontextprotocol/${missing}`]: undefined };
    const refused = await client.request('tools/list', { _meta: meta });
    expect(refused.error).toMatchObject({ code: -32602, message: expect.stringContaining(missing) });
  }
  for (const gone of ['ping', 'logging/setLevel', 'resources/subscribe', 'nobody/knows'])
    expect((await modern.request(gone)).error, gone).toMatchObject({ code: -32601 });
});
