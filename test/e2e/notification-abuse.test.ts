/** Hostile servers and clients: server requests, subscriptions and progress. */
import { describe, expect, test } from 'vitest';
import { responseText } from '../helpers/raw-client.ts';
import { FLAT_PLAIN, notificationsOf, jsonOf, listWith, offering } from '../helpers/aggregation.ts';
import { startGateway } from '../helpers/gateway.ts';
import { readJournal } from '../helpers/journal.ts';
import type { RawClient, RpcMessage } from '../helpers/raw-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FORMS = { elicitation: { form: {} } };
const UPDATED = 'notifications/resources/updated';
const PROGRESS = 'notifications/progress';
const CANCELLED = 'notifications/cancelled';

describe('a question', () => {
  const isForm = ({ method }: RpcMessage): boolean => method === 'elicitation/create';
  const withdrawn = (client: RawClient, question: RpcMessage) =>
    client.waitFor(({ method, params }) => method === CANCELLED && params.requestId === question.id);
  const ACCEPTED = { result: { action: 'accept', content: { answer: 'blue' } } };

  test('of a server that dies before it has started is withdrawn, and the next life may ask the same', async () => {
    const project = createProject();
    const [memento, journal] = [project.path('memento'), project.path('journal')];
    const { client, call } = await startGateway(
      { s: nodeServer('asking', `--stuck-once=${memento}`, `--journal=${journal}`) },
      { capabilities: FORMS, config: { timeouts: { rpcMs: 1000 } } },
    );
    client.handle('elicitation/create', ({ message }) =>
      message.includes(':first ') ? undefined : ACCEPTED,
    );
    const first = call('s', 'ask_form', { tag: 'one' });
    const question = await client.waitFor(isForm);
    process.kill(readJournal(journal)[0]!.pid, 'SIGKILL');
    await withdrawn(client, question);
    expect(responseText(await first)).toContain('SIGKILL');
    // The next life begins to count its questions anew.
    expect((await jsonOf(call('s', 'ask_form', { tag: 'two' }))).result).toEqual(ACCEPTED.result);
    expect(client.requests.map(({ params }) => params.message.split(' ')[0])).toEqual([
      'asking:first',
      'asking:two',
    ]);
    expect(responseText(await call('s', 'hang'))).toContain('did not respond within 1000 ms');
  });

  test('of a cancelled call is withdrawn, and does not keep other calls from timing out', async () => {
    const { client, call } = await startGateway(
      { s: nodeServer('asking') },
      { capabilities: FORMS, config: { timeouts: { rpcMs: 1000 } } },
    );
    client.handle('elicitation/create', () => undefined);
    void call('s', 'ask_form', { tag: 'unwanted', keep: true }, { id: 'unwanted' });
    const question = await client.waitFor(isForm);
    client.notify(CANCELLED, { requestId: 'unwanted' });
    await withdrawn(client, question);
    expect(responseText(await call('s', 'hang'))).toContain('did not respond within 1000 ms');
  });

  test('takes as long as the person needs, and the server has its own time after it', async () => {
    const { client, call } = await startGateway(
      { s: nodeServer('asking') },
      { capabilities: FORMS, config: { timeouts: { rpcMs: 1000 } } },
    );
    client.handle(
      'elicitation/create',
      () => new Promise((resolve) => setTimeout(() => resolve(ACCEPTED), 1800)),
    );
    const answer = await jsonOf(call('s', 'ask_form', { tag: 'slow', workMs: 400 }));
    expect(answer.result).toEqual(ACCEPTED.result);
  });

  test('is not asked before the client has finished its greeting', async () => {
    const journal = createProject().path('journal');
    const { client } = await startGateway(
      { s: nodeServer('asking', '--asks-first', `--journal=${journal}`) },
      { config: FLAT_PLAIN, raw: true },
    );
    client.handle('elicitation/create', () => ACCEPTED);
    await client.request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities: FORMS,
      clientInfo: { name: 'slow to greet', version: '1' },
    });
    // It asked before it answered initialize, and was greeted and asked for its tools after that.
    await until(() => readJournal(journal).some(({ method }) => method === 'tools/list'), {
      what: 'the server to be listed',
    });
    await client.request('ping');
    expect(client.requests).toEqual([]);
    client.notify('notifications/initialized');
    await client.waitFor(isForm);
    await until(async () => (await jsonOf(client.call('tally'))).result === 1, {
      what: 'the answer to reach the server',
    });
  });
});

describe('subscriptions', () => {
  test('that were refused, not answered or given up bring no updates', async () => {
    const [watched, refused, ignored, givenUp] = ['watched', 'refused', 'ignored', 'given-up'].map(
      (name) => `demo://${name}`,
    ) as [string, string, string, string];
    const resources = [watched, refused, ignored, givenUp];
    const { client } = await startGateway(
      {
        s: offering(
          's',
          { resources },
          `--refuse-subscribe=${refused}`,
          `--ignore-subscribe=${ignored},${givenUp}`,
        ),
      },
      { config: { ...FLAT_PLAIN, timeouts: { rpcMs: 700 } } },
    );
    await listWith(client, 'resources/list', 'uri', resources);
    void client.request('resources/subscribe', { uri: givenUp }, { id: 'given up' });
    client.notify(CANCELLED, { requestId: 'given up' });
    expect((await client.request('resources/subscribe', { uri: refused })).error?.code).toBe(-32603);
    expect((await client.request('resources/subscribe', { uri: ignored })).error?.message).toContain(
      '700 ms',
    );
    expect((await client.request('resources/subscribe', { uri: watched })).result).toEqual({});
    for (const uri of [refused, ignored, givenUp, watched]) await client.call('touch', { uri });
    // What a server sends before it answers has come when the answer has.
    expect(notificationsOf(client, UPDATED).map(({ params }) => params.uri)).toEqual([watched]);
  });

  test('bring a crashed server back by themselves, and its updates with it', async () => {
    const uri = 'demo://watched';
    const { client } = await startGateway(
      { s: offering('s', { resources: [uri] }, '--touch-subscribed') },
      { config: FLAT_PLAIN },
    );
    await listWith(client, 'resources/list', 'uri', [uri]);
    const { pid } = await jsonOf(client.call('state'));
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
    await client.waitFor(({ method }) => method === UPDATED);
    const from = client.messages.length;
    process.kill(pid, 'SIGKILL');
    const { params } = await client.waitFor(({ method }) => method === UPDATED, { from });
    expect(params.uri).toBe(uri);
    const state = await jsonOf(client.call('state'));
    expect(state.pid).not.toBe(pid);
    expect(state.subscribed).toEqual([uri]);
  });
});

describe('progress', () => {
  // A hundred reports pass at once; the last of the others is held back for a moment.
  const BURST = { n: 130 };

  test('does not come after a cancellation', async () => {
    const { client, call } = await startGateway({ s: nodeServer('progress'), echo: nodeServer('echo') });
    await call('s', 'pid');
    void call('s', 'burst', BURST, { id: 'burst', progressToken: 't' });
    await client.waitFor(({ method, params }) => method === PROGRESS && params.progress === 100);
    client.notify(CANCELLED, { requestId: 'burst' });
    await client.request('ping');
    const from = client.messages.length;
    await call('echo', 'slow_echo', { text: 'x', ms: 200 });
    expect(client.messages.slice(from).filter(({ method }) => method === PROGRESS)).toEqual([]);
  });

  test('does not come after an answer that is an error', async () => {
    const { client, call } = await startGateway({ s: nodeServer('progress'), echo: nodeServer('echo') });
    await call('s', 'pid');
    const dying = call('s', 'burst', { ...BURST, die: true }, { id: 'burst', progressToken: 't' });
    expect(responseText(await dying)).toContain('exited with code 1');
    await call('echo', 'slow_echo', { text: 'x', ms: 200 });
    const answered = client.messages.findIndex(({ id }) => id === 'burst');
    expect(notificationsOf(client, PROGRESS).length).toBeGreaterThan(99);
    expect(client.messages.slice(answered).filter(({ method }) => method === PROGRESS)).toEqual([]);
  });
});
