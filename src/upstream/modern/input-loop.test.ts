import { describe, expect, test } from 'vitest';
import { until } from '../../../test/helpers/until.ts';
import {
  overHttp,
  overStdio,
  parsedText,
  startModernServer,
  TestClient,
  type UpstreamHarness,
  type UpstreamHarnessOptions,
} from './modern.cases.ts';

const ALL = { elicitation: {}, sampling: {}, roots: {} };
const accepted = (name: string): object => ({ action: 'accept', content: { name } });

const ways: [string, (options?: UpstreamHarnessOptions) => Promise<UpstreamHarness>][] = [
  ['stdio', (options) => Promise.resolve(overStdio([], options))],
  ['HTTP', async (options) => overHttp((await startModernServer()).url, options)],
];

describe.each(ways)('a modern server over %s that needs something of an older client', (_, rig) => {
  test('asks it a real question, and gets the answer with the same call', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const { answer } = client.tool(source, 'ask', { message: 'Whose' });
    await until(() => client.asked.length === 1);
    expect(client.asked[0]).toMatchObject({ method: 'elicitation/create', params: { message: 'Whose 1?' } });
    client.asked[0]!.answer(accepted('mine'));
    const result = await answer;
    expect(parsedText(result)).toEqual([{ 'in put "1"': accepted('mine') }]);
    expect(result.result).not.toHaveProperty('resultType');
  });

  test('may ask for several things at once, answered in any order', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const method = ['elicitation/create', 'sampling/createMessage', 'roots/list'];
    const { answer } = client.tool(source, 'ask', { method });
    await until(() => client.asked.length === 3);
    const [form, sample, roots] = client.asked;
    roots!.answer({ roots: [{ uri: 'file:///a' }] });
    form!.answer({ action: 'decline' });
    sample!.answer({ role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } });
    expect(parsedText(await answer)).toEqual([
      {
        'in put "1"': { action: 'decline' },
        'in put "2"': { role: 'assistant', model: 'm', content: { type: 'text', text: 'Hi' } },
        'in put "3"': { roots: [{ uri: 'file:///a' }] },
      },
    ]);
  });

  test('may ask ten times, and not once more', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const ten = client.tool(source, 'ask', { rounds: 10 });
    for (let loop = 1; loop <= 10; loop++) {
      await until(() => client.asked.length === loop);
      client.asked[loop - 1]!.answer(accepted(String(loop)));
    }
    expect(parsedText(await ten.answer)).toHaveLength(10);
    const more = client.tool(source, 'ask', { rounds: 11 });
    for (let loop = 11; loop <= 20; loop++) {
      await until(() => client.asked.length === loop);
      client.asked[loop - 1]!.answer(accepted(String(loop)));
    }
    expect((await more.answer).failed.message).toMatch(/more than 10 times/);
    expect(client.asked).toHaveLength(20);
  });

  test('hears that a form was not shown as that nobody filled it in', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const { answer } = client.tool(source, 'ask');
    await until(() => client.asked.length === 1);
    client.asked[0]!.fail('No screen.');
    expect(parsedText(await answer)).toEqual([{ 'in put "1"': { action: 'cancel' } }]);
  });

  test('is not asked again where the client refuses to sample; other questions are taken back', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const { answer } = client.tool(source, 'ask', { method: ['sampling/createMessage', 'roots/list'] });
    await until(() => client.asked.length === 2);
    client.asked[0]!.fail('The user said no.');
    expect((await answer).failed).toMatchObject({
      code: 'INPUT_REFUSED',
      message:
        'The call was not finished: the client did not respond to sampling/createMessage (The user said no.).',
    });
    expect(client.withdrawn).toEqual([2]);
  });

  test.each([
    [{}, 'elicitation/create', 'the capability "elicitation"'],
    [{ elicitation: { url: {} } }, 'elicitation/create', 'elicitation in mode "form"'],
    [{ roots: {} }, 'sampling/createMessage', 'the capability "sampling"'],
  ])('cannot ask for what the client has not declared: %j', async (capabilities, method, lacking) => {
    const { source } = await rig();
    const client = new TestClient(capabilities);
    const { failed } = await client.tool(source, 'ask', {
      method: ['roots/list', method].slice('roots' in capabilities ? 0 : 1),
    }).answer;
    expect(failed.message).toContain(`it asks for ${method}, and the client has not declared ${lacking}`);
    expect(client.asked).toEqual([]);
  });

  test('cannot ask for anything else at all', async () => {
    const { source } = await rig();
    const { failed } = await new TestClient(ALL).tool(source, 'ask', { method: 'tools/list' }).answer;
    expect(failed.message).toContain('it asks for "tools/list"');
  });

  test('goes on when it only wanted to be called again', async () => {
    const { source } = await rig();
    const { answer } = new TestClient().tool(source, 'again', { times: 3 });
    expect(parsedText(await answer)).toBe('called 4 times');
    const { failed } = await new TestClient().tool(source, 'again', { times: 99 }).answer;
    expect(failed.message).toMatch(/more than 10 times/);
  });

  test('gets nothing any more of a call that was cancelled meanwhile', async () => {
    const { source } = await rig();
    const client = new TestClient(ALL);
    const { call } = client.tool(source, 'ask', { inputs: 2 });
    await until(() => client.asked.length === 2);
    call.cancel('Enough.');
    expect(client.withdrawn).toEqual([1, 2]);
    client.asked[0]!.answer(accepted('late'));
    expect(parsedText(await client.tool(source, 'params').answer)).not.toHaveProperty('requestState');
    expect(client.session.running).toBe(0);
  });

  test('does not run out of time while a person thinks, but the whole call does', async () => {
    const { source } = await rig({ timeouts: { rpcMs: 2500, callMaxMs: 3500 } });
    await source.start();
    const client = new TestClient(ALL);
    const slow = client.tool(source, 'ask');
    await until(() => client.asked.length === 1);
    expect((await slow.answer).failed).toMatchObject({ code: 'CALL_TIMEOUT' });
    expect(client.withdrawn).toEqual([1]);
  }, 30_000);
});

test('a page to go to has a name for older clients, which want one', async () => {
  const { source } = overStdio();
  const client = new TestClient({ elicitation: { url: {} } });
  const { answer } = client.tool(source, 'ask', { url: 'https://example.com/go' });
  await until(() => client.asked.length === 1);
  expect(client.asked[0]!.params).toEqual({
    mode: 'url',
    url: 'https://example.com/go',
    message: 'Which 1?',
    elicitationId: expect.stringMatching(/^[\w-]{36}$/),
  });
  client.asked[0]!.answer({ action: 'accept' });
  expect(parsedText(await answer)).toEqual([{ 'in put "1"': { action: 'accept' } }]);
});

test('a person may take longer than the server may', async () => {
  const { source } = overStdio([], { timeouts: { rpcMs: 1500 } });
  await source.start();
  const client = new TestClient(ALL);
  const { answer } = client.tool(source, 'ask');
  await until(() => client.asked.length === 1);
  const asked = performance.now();
  await until(() => performance.now() - asked > 2000);
  client.asked[0]!.answer(accepted('late'));
  expect(parsedText(await answer)).toHaveLength(1);
});

test('a call goes on where its server was started again meanwhile', async () => {
  const { source, starts } = overStdio();
  const client = new TestClient(ALL);
  const { answer } = client.tool(source, 'ask');
  await until(() => client.asked.length === 1);
  await source.fail(new Error('for the test'));
  client.asked[0]!.answer(accepted('again'));
  expect(parsedText(await answer)).toEqual([{ 'in put "1"': accepted('again') }]);
  expect(starts()).toBe(2);
});

test('a call that waits for a person fails when its server is stopped for good', async () => {
  const { source } = overStdio();
  const client = new TestClient(ALL);
  const { answer } = client.tool(source, 'ask');
  await until(() => client.asked.length === 1);
  await source.close({ reason: 'It was removed.' });
  expect((await answer).failed).toMatchObject({
    code: 'STOPPING',
    message: expect.stringContaining('It was removed.'),
  });
  expect(client.withdrawn).toEqual([1]);
});

test('a retry has the progress token of its client, under a number of ours', async () => {
  const { source } = overStdio();
  const client = new TestClient(ALL);
  const { answer } = client.tool(source, 'ask', {}, { progressToken: 'mine' });
  await until(() => client.asked.length === 1);
  client.asked[0]!.answer(accepted('x'));
  await answer;
  const reported = client.tool(source, 'report', { count: 2 }, { progressToken: 'mine' });
  await reported.answer;
  expect(client.notifications.map(({ params }) => params)).toEqual([
    { progressToken: 'mine', progress: 1 },
    { progressToken: 'mine', progress: 2 },
  ]);
});

test('a modern client gets what the server asks for as it came, and repeats its request itself', async () => {
  const { source } = overStdio();
  const client = new TestClient(ALL, true);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': ALL,
  };
  const first = await client.tool(source, 'ask', {}, _meta).answer;
  expect(first.result).toMatchObject({ resultType: 'input_required', requestState: '[]' });
  const { inputRequests, requestState } = first.result;
  const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, accepted('me')]));
  const params = { name: 'ask', arguments: {}, inputResponses, requestState, _meta };
  const second = await client.send(source, 'tools/call', params).answer;
  expect(second.result.resultType).toBe('complete');
  expect(parsedText(second)).toEqual([{ 'in put "1"': accepted('me') }]);
});
