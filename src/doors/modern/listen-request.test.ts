import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CLIENT_SHAPE, Meta, SERVER_SHAPE } from '../../protocol/index.ts';
import { memberText, Message } from '../../wire/index.ts';
import { ListenRequest } from './listen-request.ts';
import { Attempt } from './attempt.ts';
import { openModern, serverMessage, entryWith, type ModernTestClient } from './modern.cases.ts';

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';
const TOOLS = 'notifications/tools/list_changed';

async function listening(
  harness: ModernTestClient,
  id: string | number,
  notifications: unknown,
): Promise<any> {
  harness.request(id, 'subscriptions/listen', { notifications });
  return harness.next(
    ({ method, params }) => method === ACKNOWLEDGED && params._meta[Meta.subscriptionId] === id,
  );
}

/** Replaces the tools. */
const change = ({ gateway }: ModernTestClient, tool: string): void =>
  gateway.swap([entryWith('test', () => undefined, tool)]);

test('the first that comes says what will be told', async () => {
  const harness = openModern();
  const acknowledged = await listening(harness, 7, {
    toolsListChanged: true,
    promptsListChanged: false,
    other: true,
  });
  expect(acknowledged.params).toEqual({
    _meta: { [Meta.subscriptionId]: 7 },
    notifications: { toolsListChanged: true },
  });
  expect(harness.messages[0]).toBe(acknowledged);
});

test.each([[undefined], [null], [7], [[]], [{ toolsListChanged: 'yes' }]])(
  'who wants nothing that there is (%j) is told nothing',
  async (notifications) => {
    const harness = openModern();
    const { params } = await listening(harness, 1, notifications);
    expect(params.notifications).toEqual({});
    change(harness, 'other');
    await harness.ask(2, 'tools/list');
    expect(harness.messages.filter(({ method }) => method === TOOLS)).toEqual([]);
  },
);

test('each stream is told what it asked for, under its own name', async () => {
  const harness = openModern();
  await listening(harness, 'a', { toolsListChanged: true });
  await listening(harness, 'b', { promptsListChanged: true });
  await listening(harness, 3, { toolsListChanged: true });
  change(harness, 'other');
  await harness.next(({ method, params }) => method === TOOLS && params._meta[Meta.subscriptionId] === 3);
  const told = harness.messages.filter(({ method }) => method === TOOLS);
  expect(told.map(({ params }) => params._meta[Meta.subscriptionId]).sort()).toEqual([3, 'a']);
});

test('an address that no server has is not among those that are told of', async () => {
  const harness = openModern();
  const { params } = await listening(harness, 1, {
    resourceSubscriptions: ['mem://nobody', 7, 'mem://nobody'],
  });
  expect(params.notifications).toEqual({ resourceSubscriptions: [] });
});

test('who has cancelled hears no more, and gets no answer', async () => {
  const harness = openModern();
  await listening(harness, 'gone', { toolsListChanged: true });
  await listening(harness, 'here', { toolsListChanged: true });
  harness.say({ method: 'notifications/cancelled', params: { requestId: 'gone' } });
  await expect.poll(() => harness.client.running).toBe(1);
  change(harness, 'other');
  const told = await harness.next(({ method }) => method === TOOLS);
  expect(told.params._meta[Meta.subscriptionId]).toBe('here');
  await harness.ask(2, 'tools/list');
  expect(harness.messages.filter(({ method }) => method === TOOLS)).toHaveLength(1);
  expect(harness.messages.some(({ id }) => id === 'gone')).toBe(false);
});

test('a listener counts as a client of the gateway as long as it listens, and not longer', async () => {
  const harness = openModern();
  await listening(harness, 1, { toolsListChanged: true });
  const during = harness.gateway.sessions.size;
  harness.client.leave(harness.peer);
  expect(harness.gateway.sessions.size).toBe(during - 1);
});

test('an update is tagged with the stream, wherever it has room, and else unchanged', async () => {
  const harness = openModern();
  const request = Message.from(
    { jsonrpc: '2.0', id: 'l"1', method: 'subscriptions/listen', params: { notifications: {} } },
    CLIENT_SHAPE,
  );
  const listen = new ListenRequest(harness.client, new Attempt(harness.peer, request));
  await harness.next(({ method }) => method === ACKNOWLEDGED);
  const meta = fc.option(
    fc.dictionary(fc.constantFrom('a', 'b', Meta.subscriptionId), fc.json({ maxDepth: 1 }), { maxKeys: 3 }),
    { nil: undefined },
  );
  await fc.assert(
    fc.asyncProperty(meta, fc.constantFrom('', ' ', '  '), fc.webUrl(), async (given, blank, uri) => {
      const members = Object.entries(given ?? {}).map(
        ([key, text]) => `${JSON.stringify(key)}:${blank}${text}`,
      );
      const metaText = given === undefined ? '' : `"_meta":${blank}{${blank}${members.join(`,${blank}`)}},`;
      const params = `{${metaText}"uri":${JSON.stringify(uri)},${blank}"more":1.0}`;
      const before = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":${params}}`;
      const from = harness.messages.length;
      listen.forwardNotification(Message.fromText(before, SERVER_SHAPE), []);
      await expect.poll(() => harness.messages.length, { interval: 1 }).toBe(from + 1);
      const after = harness.messages[from];
      expect(after.params).toEqual({
        uri,
        more: 1,
        _meta: { ...JSON.parse(memberText(params, '_meta') ?? '{}'), [Meta.subscriptionId]: 'l"1' },
      });
    }),
    { numRuns: 60 },
  );
  listen.cancel();
});

test('nothing but updates of resources is passed on, and nothing is asked', async () => {
  const harness = openModern();
  const request = Message.from({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen' }, CLIENT_SHAPE);
  const listen = new ListenRequest(harness.client, new Attempt(harness.peer, request));
  await harness.next(({ method }) => method === ACKNOWLEDGED);
  listen.forwardNotification(
    serverMessage({ method: 'notifications/message', params: { level: 'error', data: 'x' } }),
    [],
  );
  const outcome = await new Promise((resolve) => {
    listen.ask(serverMessage({ id: 1, method: 'roots/list' }), { answered: resolve, unanswered: resolve });
  });
  expect(outcome).toBe('closed');
  await harness.ask(2, 'tools/list');
  expect(harness.messages).toHaveLength(2);
  listen.cancel();
});
