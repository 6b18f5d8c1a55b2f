import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CLIENT_SHAPE, SERVER_SHAPE } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import type { Call } from './call.ts';
import { perCallSource } from './per-call-source.ts';
import { Session, type ClientLink } from './session.ts';
import type { ServerRequest, Source, SourceListener } from './source.ts';

/** Records the sources that were made, in order; the first is the one for lists. */
function harness({ close = () => Promise.resolve() }: { close?: () => Promise<void> } = {}) {
  const made: { calls: Call[]; asked: unknown[]; closed: number; listener: SourceListener | undefined }[] =
    [];
  const errors: unknown[] = [];
  const source = perCallSource({
    make: () => {
      const one: (typeof made)[number] = { calls: [], asked: [], closed: 0, listener: undefined };
      made.push(one);
      return {
        name: 'server',
        state: { kind: 'idle' },
        request: (_edits: unknown, call: Call) => void one.calls.push(call),
        ask: (method: string, params: unknown) => {
          one.asked.push([method, params]);
          return Promise.resolve(Message.from({ jsonrpc: '2.0', id: 1, result: {} }, SERVER_SHAPE));
        },
        notify: () => undefined,
        listen: (listener: SourceListener) => {
          one.listener = listener;
        },
        close: () => {
          one.closed++;
          return close();
        },
      } as unknown as Source;
    },
    failedToStop: (error) => errors.push(error),
  });
  const answered: string[] = [];
  const client = {
    capabilities: {},
    answer: (call: Call) => void answered.push(call.id),
    fail: () => undefined,
  } as unknown as ClientLink;
  const session = new Session(client);
  const request = (id: number, method = 'tools/call'): Call => {
    const call = session.open(Message.from({ jsonrpc: '2.0', id, method, params: {} }, CLIENT_SHAPE), method);
    source.request([], call);
    return call;
  };
  return { source, made, errors, answered, request };
}

test('each tool call has its own source, which is closed afterwards; other requests share one', async () => {
  const { made, request, answered } = harness();
  const [one, two] = [request(1), request(2)];
  request(3, 'resources/read');
  expect(made.map(({ calls }) => calls.map(({ id }) => id))).toEqual([['3'], ['1'], ['2']]);
  const outcomes: string[] = [];
  const { onEnd } = one;
  one.onEnd = (...ended) => {
    outcomes.push(ended[0]);
    onEnd?.(...ended);
  };
  one.succeed({ content: [] });
  await turn();
  expect([answered, outcomes, made.map(({ closed }) => closed)]).toEqual([['1'], ['ok'], [0, 1, 0]]);
  two.cancel('enough');
  await turn();
  expect(made.map(({ closed }) => closed)).toEqual([0, 1, 1]);
});

test('what was listening to the end of a call still hears it', async () => {
  const { source, made } = harness();
  const session = new Session({ answer: () => undefined } as unknown as ClientLink);
  const message = Message.from({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, CLIENT_SHAPE);
  const call = session.open(message, 'tools/call');
  const outcomes: string[] = [];
  call.onEnd = (outcome) => void outcomes.push(outcome);
  source.request([], call);
  call.succeed({ content: [] });
  await turn();
  expect([outcomes, made[1]!.closed]).toEqual([['ok'], 1]);
});

test('questions and messages of a call reach the gateway, its lists do not', () => {
  const { source, made, request } = harness();
  const heard: string[] = [];
  source.listen({
    started: () => void heard.push('started'),
    failed: () => void heard.push('failed'),
    stopped: () => void heard.push('stopped'),
    changed: () => void heard.push('changed'),
    notified: () => {
      heard.push('notified');
      return undefined;
    },
    requested: () => void heard.push('requested'),
    inUse: () => false,
  });
  void source.ask('logging/setLevel', { level: 'debug' });
  request(1);
  const own = made[1]!.listener!;
  own.started();
  own.changed('tools');
  own.notified({} as Message, () => new Set());
  own.requested({} as ServerRequest);
  own.stopped();
  expect(heard).toEqual(['notified', 'requested']);
  expect(made[1]!.asked).toEqual([['logging/setLevel', { level: 'debug' }]]);
});

test('closing it closes all, and starts nothing afterwards', async () => {
  const { source, made, request } = harness();
  request(1);
  await source.close();
  expect(made.map(({ closed }) => closed)).toEqual([1, 1]);
  request(2);
  expect(made).toHaveLength(2);
});

test('a process that cannot be stopped is reported', async () => {
  const { request, errors } = harness({ close: () => Promise.reject(new Error('stuck')) });
  request(1).succeed({ content: [] });
  await turn();
  await turn();
  expect(errors).toEqual([new Error('stuck')]);
});
