/** With `isolation: "call"`, each tool call has a process of its own, over every door. */
import { describe, expect, test } from 'vitest';
import { CANARY_TOOL, callCanary, type CanaryAnswer } from '../helpers/canary-client.ts';
import { startGateway } from '../helpers/gateway.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { alive, processesWith } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CANARY = { canary: { ...nodeServer('canary'), isolation: 'call' } };

type Caller = (subtool: string, args?: object) => Promise<CanaryAnswer>;

/** Nothing is remembered from one call to the next, calls at the same time have two processes, and none is left. */
async function expectApart(call: Caller): Promise<void> {
  const kept = await call('remember', { value: 'secret' });
  const next = await call('recall');
  expect(next.value).toBe(null);
  const together = await Promise.all(['a', 'b'].map((value) => call('tell', { value, ms: 200 })));
  expect(together.map(({ value }) => value)).toEqual(['a', 'b']);
  const pids = [kept, next, ...together].map(({ pid }) => pid);
  expect(new Set(pids).size).toBe(4);
  await until(() => pids.every((pid) => !alive(pid)), { what: 'the end of the processes' });
}

describe('each call has a process of its own', () => {
  test('of a client with a session', async () => {
    const session = await HttpSession.open(await startHttpGateway(CANARY));
    await expectApart(async (subtool, args = {}) => {
      const answer = await session.call(CANARY_TOOL, { action: 'call', subtool, args });
      return JSON.parse(textOf(answer)) as CanaryAnswer;
    });
  });

  test('of a client without one', async () => {
    const gateway = await startHttpGateway(CANARY);
    await expectApart((subtool, args) => callCanary(gateway, subtool, args));
  });

  test('of the host over stdio', async () => {
    const { call } = await startGateway(CANARY);
    await expectApart(
      async (subtool, args) => JSON.parse(textOf(await call('canary', subtool, args))) as CanaryAnswer,
    );
  });
});

test('a cancelled call ends its process', async () => {
  const { client, call } = await startGateway({ slow: { ...nodeServer('slow'), isolation: 'call' } });
  const running = (): number =>
    processesWith(client.marker).filter(({ command }) => command.includes('slow.mjs')).length;
  await call('slow', 'pid');
  // One process stays, for the list.
  await until(() => running() === 1, { what: 'the end of the first call' });
  const params = { name: 'slow_suite', arguments: { action: 'call', subtool: 'hang' } };
  client.send({ jsonrpc: '2.0', id: 'h', method: 'tools/call', params });
  await until(() => running() === 2, { what: 'its process' });
  client.notify('notifications/cancelled', { requestId: 'h' });
  await until(() => running() === 1, { what: 'the end of its process' });
});

test('the process of a call can ask the client', async () => {
  const { client, call } = await startGateway(
    { asking: { ...nodeServer('asking'), isolation: 'call' } },
    { capabilities: { elicitation: {} } },
  );
  client.handle('elicitation/create', () => ({ result: { action: 'accept', content: { answer: 'red' } } }));
  expect(textOf(await call('asking', 'ask_form', { tag: 'x' }))).toContain('red');
});
