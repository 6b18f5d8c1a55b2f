/**
 * A client of the older era and modern servers: an answer that requires input becomes questions to the client, and its call
 * goes out again with the answers. Every message on the client's side is looked at.
 */
import { expect, test } from 'vitest';
import { ALL_CAPABILITIES, usualAnswer } from '../../helpers/eras.ts';
import { startGateway, type GatewayOptions, type TestGateway } from '../../helpers/gateway.ts';
import { processesWith } from '../../helpers/processes.ts';
import { textOf, type Reply, type RpcMessage } from '../../helpers/raw-client.ts';
import { nodeServer } from '../../helpers/temp-project.ts';
import { until } from '../../helpers/until.ts';

const KINDS = ['form', 'url', 'model', 'roots'];
const QUESTIONS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

async function start(options: GatewayOptions = {}): Promise<TestGateway> {
  const servers = { sdk: nodeServer('sdk-v2', '--era=modern', '--name=sdk') };
  return startGateway(servers, { capabilities: ALL_CAPABILITIES, version: '2025-11-25', ...options });
}

/** Answers every question in the usual way, or as told. */
function answering(
  { client }: TestGateway,
  answer: (question: RpcMessage) => object | undefined | Promise<object> = (question) => ({
    result: usualAnswer({ method: question.method!, params: question.params }),
  }),
): void {
  for (const method of QUESTIONS)
    client.handle(method, (_params, question) => answer(question) as Reply | Promise<Reply>);
}

const ask = (gateway: TestGateway, args: object, id?: number): Promise<RpcMessage> =>
  gateway.call('sdk', 'ask', args, id === undefined ? {} : { id });

test('everything that is required is asked at once, in each of ten rounds', async () => {
  const gateway = await start();
  let open = 0;
  const most: number[] = [];
  const held: RpcMessage[] = [];
  answering(gateway, (question) => {
    held.push(question);
    open++;
    if (open < KINDS.length) return undefined;
    most.push(open);
    open = 0;
    // The last that was asked is answered first.
    for (const each of held.splice(0).reverse())
      gateway.client.reply(each, { result: usualAnswer({ method: each.method!, params: each.params }) });
    return undefined;
  });
  const rounds = JSON.parse(textOf(await ask(gateway, { kinds: KINDS, rounds: 10 })));
  expect(rounds).toHaveLength(10);
  for (const round of rounds) expect(Object.keys(round).sort()).toEqual([...KINDS].sort());
  expect(most).toEqual(Array.from({ length: 10 }, () => KINDS.length));
});

test('an eleventh round is too many: the call fails, and says so', async () => {
  const gateway = await start();
  answering(gateway);
  const answer = await ask(gateway, { kinds: ['form'], rounds: 11 });
  expect(JSON.stringify(answer)).toMatch(/more than 10 times/);
  expect(gateway.client.requests).toHaveLength(10);
  expect(JSON.parse(textOf(await ask(gateway, { kinds: ['form'] })))).toHaveLength(1);
});

test('nothing of the modern era is in what the client gets', async () => {
  const gateway = await start({ config: { exposure: 'flat', naming: 'prefixed' } });
  answering(gateway);
  const { client } = gateway;
  await until(async () => (await client.listTools()).some(({ name }) => name === 'sdk__ask'));
  await client.request('resources/list');
  await client.request('resources/read', { uri: 'mem://sdk/one' });
  await client.request('prompts/get', { name: 'sdk__greet' });
  await client.call('sdk__ask', { kinds: KINDS });
  for (const { result } of client.messages)
    for (const member of ['resultType', 'ttlMs', 'cacheScope', 'inputRequests', 'requestState'])
      expect(result ?? {}).not.toHaveProperty(member);
});

test('what the client has not declared is not asked: the call fails, and says what is missing', async () => {
  const gateway = await start({ capabilities: { elicitation: { form: {} } } });
  answering(gateway);
  for (const [kind, missing] of [
    ['model', /sampling/],
    ['roots', /roots/],
    ['url', /url/],
  ] as const) {
    const answer = JSON.stringify(await ask(gateway, { kinds: ['form', kind] }));
    expect(answer).toMatch(missing);
  }
  expect(gateway.client.requests).toEqual([]);
  expect(JSON.parse(textOf(await ask(gateway, { kinds: ['form'] })))).toHaveLength(1);
});

test('a form that the client cannot show is one that was dismissed; any other refusal ends the call', async () => {
  const gateway = await start();
  answering(gateway, () => ({ error: { code: -32603, message: 'no window' } }));
  const [round] = JSON.parse(textOf(await ask(gateway, { kinds: ['form'] })));
  expect(round).toEqual({ form: { action: 'cancel' } });
  const failed = await ask(gateway, { kinds: ['form', 'model'] });
  expect(JSON.stringify(failed)).toMatch(/no window/);
});

test('a client that cancels takes its questions back, and the call goes out no more', async () => {
  const gateway = await start();
  const { client } = gateway;
  answering(gateway, () => undefined);
  void ask(gateway, { kinds: ['form', 'roots'] }, 77);
  await client.waitUntil(() => client.requests.length === 2 || undefined, 'two questions');
  client.notify('notifications/cancelled', { requestId: 77, reason: 'enough' });
  const withdrawn = (): unknown[] =>
    client.notifications
      .filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => params.requestId);
  await client.waitUntil(() => withdrawn().length === 2 || undefined, 'both to be taken back');
  expect(withdrawn().sort()).toEqual(client.requests.map(({ id }) => id).sort());
  // Answers that come all the same are nobody's.
  for (const question of client.requests)
    client.reply(question, { result: usualAnswer({ method: question.method!, params: question.params }) });
  answering(gateway);
  expect(JSON.parse(textOf(await ask(gateway, { kinds: ['form'] })))).toHaveLength(1);
  expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([77]);
});

test('a client that never answers: the call ends when its time is over, and its question is taken back', async () => {
  const gateway = await start({ config: { timeouts: { callMaxMs: 1500 } } });
  const { client } = gateway;
  answering(gateway, () => undefined);
  const answer = await ask(gateway, { kinds: ['form'] });
  expect(JSON.stringify(answer)).toMatch(/in time/);
  await client.waitFor(({ method }) => method === 'notifications/cancelled');
});

test('a server that dies between two turns: another life of it goes on where it was', async () => {
  const gateway = await start();
  const { client } = gateway;
  const sdk = (): number | undefined =>
    processesWith(client.marker).find(({ command }) => command.includes('sdk-v2'))?.pid;
  let killed: number | undefined;
  answering(gateway, async (question) => {
    if (killed === undefined) {
      killed = sdk();
      process.kill(killed!, 'SIGKILL');
      // What went to a process that was dying just then would be lost with it.
      await client.waitForStderr(/crashed|exited/);
    }
    return { result: usualAnswer({ method: question.method!, params: question.params }) };
  });
  const answer = await ask(gateway, { kinds: ['form'], rounds: 2 });
  // What it needs it has given to its client to keep.
  expect(JSON.parse(textOf(answer))).toHaveLength(2);
  expect(sdk()).not.toBe(killed);
});
