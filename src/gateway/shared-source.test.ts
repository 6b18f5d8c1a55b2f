import { expect, test } from 'vitest';
import { CLIENT_SHAPE, SERVER_SHAPE, type Era, type JsonObject } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import type { Call } from './call.ts';
import { LocalClient } from './local-client.ts';
import { Session, type ClientLink } from './session.ts';
import { SharedSource } from './shared-source.ts';
import type { ServerRequest, Source, SourceListener } from './source.ts';

/** The source behind it: records what it was told and asked, and lets the test send its events. */
function behind(starts: () => Promise<void> = () => Promise.resolve()) {
  const asked: [method: string, params: JsonObject | undefined][] = [];
  const told: string[] = [];
  const closed: (string | undefined)[] = [];
  const requests: Call[] = [];
  let listener: SourceListener | undefined;
  const source = {
    name: 'shared',
    state: { kind: 'running', pid: 1, since: 0 },
    request: (_edits: unknown, call: Call) => void requests.push(call),
    start: starts,
    list: () => Promise.resolve(),
    ask: (method: string, params?: JsonObject) => {
      asked.push([method, params]);
      return Promise.resolve(Message.from({ jsonrpc: '2.0', id: 1, result: {} }, SERVER_SHAPE));
    },
    notify: (message: Message) => void told.push(message.toString()),
    listen: (given: SourceListener) => {
      listener = given;
    },
    close: (ending?: { reason?: string }) => {
      closed.push(ending?.reason);
      return Promise.resolve();
    },
  } as unknown as Source;
  return { source, asked, told, closed, requests, says: () => listener! };
}

/** One source for all, replaced by the next one at each replacement. */
function sharedBy(...sources: Source[]): SharedSource {
  return new SharedSource({
    make: () => sources.shift()!,
    support: () => ({ modern: false }),
    failedToStop: (error) => expect.unreachable(String(error)),
  });
}

/** A gateway that uses the source, with what reached it. */
function user(shared: SharedSource, era: Era = 'legacy') {
  const source = shared.join(era);
  const heard: string[] = [];
  source.listen({
    started: () => void heard.push('started'),
    failed: () => undefined,
    stopped: () => void heard.push('gone'),
    changed: (kind) => void heard.push(`changed ${kind}`),
    notified: (notification) => {
      heard.push(notification.toString());
      return undefined;
    },
    requested: () => void heard.push('asked'),
    inUse: () => false,
  });
  const session = new Session({ capabilities: {} } as unknown as ClientLink);
  const call = () => {
    const made = session.open(
      Message.from({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, CLIENT_SHAPE),
      'tools/call',
    );
    source.request([], made);
    return made;
  };
  return { source, heard, session, call };
}

function question(callers: readonly Session[]) {
  const refused: string[] = [];
  const asks: ServerRequest = {
    method: 'elicitation/create',
    request: Message.from({ jsonrpc: '2.0', id: 1, method: 'elicitation/create' }, SERVER_SHAPE),
    callers: () => new Set(callers),
    relayTo: () => undefined,
    refuse: (_code, message) => void refused.push(message),
  };
  return { asks, refused };
}

const log = Message.from({ jsonrpc: '2.0', method: 'notifications/message', params: {} }, SERVER_SHAPE);

test('a question goes to the gateway whose client has a call running, and is refused when two have', () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  one.call();
  two.call();
  says().requested(question([two.session]).asks);
  expect([one.heard, two.heard]).toEqual([[], ['asked']]);
  const ambiguous = question([one.session, two.session]);
  says().requested(ambiguous.asks);
  expect(ambiguous.refused[0]).toMatch(/several clients share this server/);
  const unknown = question([]);
  says().requested(unknown.asks);
  expect(unknown.refused).toHaveLength(1);
  expect([one.heard, two.heard]).toEqual([[], ['asked']]);
});

test('with one gateway left it is asked though no call runs, and with none it is refused', async () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  await two.source.close();
  says().requested(question([]).asks);
  expect(one.heard).toEqual(['asked']);
  await one.source.close();
  const { asks, refused } = question([]);
  says().requested(asks);
  expect(refused[0]).toContain('no client is connected');
});

test('a log message goes to the only caller, is dropped if there are two, and never goes to all', () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  one.call();
  says().notified(log, () => new Set([one.session]));
  says().notified(log, () => new Set([one.session, two.session]));
  says().notified(log, () => new Set());
  expect([one.heard.length, two.heard.length]).toEqual([1, 0]);
});

test('start, end and changed lists reach all; an update of a resource is passed on once', () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  says().started();
  says().changed('tools');
  says().stopped();
  for (const { heard } of [one, two]) expect(heard.splice(0)).toEqual(['started', 'changed tools', 'gone']);
  const update = { jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:b' } };
  says().notified(Message.from(update, SERVER_SHAPE), () => new Set());
  expect(one.heard.length + two.heard.length).toBe(1);
});

test('subscriptions are renewed, once each, when the source restarts', () => {
  const { source, asked, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  one.source.subscriptions!.add('a:b', one.session, 'a:b');
  two.source.subscriptions!.add('a:b', two.session, 'a:b');
  expect(one.source.subscriptions!.remove('a:b', one.session)).toBe(false);
  says().started();
  expect(asked).toEqual([['resources/subscribe', { uri: 'a:b' }]]);
});

test('the server gets the most verbose of the log levels that clients want', async () => {
  const { source, asked } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  await one.source.ask('logging/setLevel', { level: 'debug' });
  await two.source.ask('logging/setLevel', { level: 'error' });
  expect(asked.map(([, params]) => params)).toEqual([{ level: 'debug' }, { level: 'debug' }]);
});

test('a notification of a client is passed on only where it is the only one', async () => {
  const { source, told } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  one.source.notify(log);
  expect(told).toEqual([]);
  await two.source.close();
  one.source.notify(log);
  expect(told).toHaveLength(1);
});

test('what the answer of a call names belongs to the source its gateway knows', () => {
  const { source, requests } = behind();
  const joined = sharedBy(source).join('legacy');
  void new LocalClient().request(joined, 'tools/call', { name: 'tool' });
  expect(requests.map((call) => call.source)).toEqual([joined]);
});

test('a replaced source ends with the reason, and all clients continue with the new one', async () => {
  const [old, fresh] = [behind(), behind()];
  const shared = sharedBy(old.source, fresh.source);
  const [one, two] = [user(shared), user(shared)];
  await shared.replace({ reason: 'It is being reloaded.' });
  expect(old.closed).toEqual(['It is being reloaded.']);
  one.call();
  expect([old.requests.length, fresh.requests.length]).toEqual([0, 1]);
  expect([one.heard, two.heard]).toEqual([['started'], ['started']]);
  // What happens to the old source affects nobody.
  old.says().stopped();
  expect(one.heard).toEqual(['started']);
  await one.source.close();
  expect(fresh.closed).toEqual([]);
});

test('until the new one has started the old one is used, and with stopFirst it ends at once', async () => {
  let started = (): void => undefined;
  const [old, fresh, last] = [
    behind(),
    behind(() => new Promise((resolve) => (started = resolve))),
    behind(),
  ];
  const shared = sharedBy(old.source, fresh.source, last.source);
  const one = user(shared);
  const replaced = shared.replace({ reason: 'first' });
  one.call();
  expect([old.requests.length, fresh.requests.length, old.closed]).toEqual([1, 0, []]);
  started();
  await replaced;
  one.call();
  expect([fresh.requests.length, old.closed]).toEqual([1, ['first']]);
  void shared.replace({ reason: 'second' }, { stopFirst: true });
  expect(fresh.closed).toEqual(['second']);
});

test('where the new one does not start, everybody keeps the old one, and who joined for the new one is refused', async () => {
  const broken = new Error('it does not start');
  const [old, fresh] = [behind(), behind(() => Promise.reject(broken))];
  const shared = sharedBy(old.source, fresh.source);
  const one = user(shared);
  const replaced = shared.replace({ reason: 'It is being reloaded.' });
  const joined = shared.join('legacy', replaced);
  await expect(joined.start()).rejects.toBe(broken);
  await expect(replaced).rejects.toBe(broken);
  one.call();
  expect([old.requests.length, old.closed, fresh.closed]).toEqual([1, [], [undefined]]);
  expect(one.heard).toEqual([]);
  // It is still usable.
  await joined.start();
});

/** Answers a call of this client with a task. */
function taskOf({ call, session, source }: ReturnType<typeof user>, taskId: string): void {
  call();
  session.claimTask(taskId, source);
}

test('requests and notifications of a task go to the client that created it, even while others call', () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  taskOf(one, 't1');
  two.call();
  const status = { jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId: 't1' } };
  says().notified(Message.from(status, SERVER_SHAPE), () => new Set([two.session]));
  const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: 't1' } } };
  const request = { jsonrpc: '2.0', id: 1, method: 'elicitation/create', params: related };
  says().requested({ ...question([two.session]).asks, request: Message.from(request, SERVER_SHAPE) });
  expect(one.heard).toEqual([JSON.stringify(status), 'asked']);
  expect(two.heard).toEqual([]);
});

test('notifications about an unknown task are dropped', () => {
  const { source, says } = behind();
  const shared = sharedBy(source);
  const one = user(shared);
  one.call();
  const status = { jsonrpc: '2.0', method: 'notifications/tasks/status', params: { taskId: 'x' } };
  says().notified(Message.from(status, SERVER_SHAPE), () => new Set([one.session]));
  expect(one.heard).toEqual([]);
});

test('when the most verbose client leaves, the server gets a higher log level', async () => {
  const { source, asked } = behind();
  const shared = sharedBy(source);
  const [one, two] = [user(shared), user(shared)];
  await one.source.ask('logging/setLevel', { level: 'debug' });
  await two.source.ask('logging/setLevel', { level: 'error' });
  await one.source.close();
  expect(asked.at(-1)).toEqual(['logging/setLevel', { level: 'error' }]);
});
