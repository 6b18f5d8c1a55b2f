import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Component, Session, type ClientLink } from '../gateway/index.ts';
import { CLIENT_SHAPE, SERVER_SHAPE } from '../protocol/index.ts';
import { silentLogger } from '../shared/log.ts';
import { Message, type AnswerListener } from '../wire/index.ts';
import { ApprovalGate, type ApprovalGateOptions, type ToolCall } from './approval-gate.ts';
import { Decisions } from './decisions.ts';
import { Records } from './records.ts';

let state: string;
beforeEach(() => void (state = mkdtempSync(join(tmpdir(), 'approval-'))));
afterEach(() => rmSync(state, { recursive: true, force: true }));

const WIPE = '{"name":"wipe","inputSchema":{"type":"object"}}';

/** A client that holds its questions until they are answered, and a tool that can change in the meantime. */
function setUp({ timeoutMs, approval }: Partial<Pick<ApprovalGateOptions, 'timeoutMs' | 'approval'>> = {}) {
  const asked: AnswerListener[] = [];
  const withdrawn: number[] = [];
  const link: ClientLink = {
    congested: false,
    capabilities: { elicitation: {} },
    whenDrained: () => undefined,
    forwardAnswer: () => undefined,
    forwardNotification: () => undefined,
    answer: () => undefined,
    answerText: () => undefined,
    fail: () => undefined,
    notify: () => undefined,
    ask: (_request, listener) => asked.push(listener),
    withdraw: (id) => void withdrawn.push(id),
  };
  const session = new Session(link);
  session.ready();
  let listed = new Component('wipe', WIPE);
  const gate = new ApprovalGate({
    server: 'box',
    key: 'k',
    approval: approval ?? { which: 'all', tools: new Map() },
    hiddenArguments: () => new Set(),
    decisions: new Decisions(new Records(state)),
    allowCommand: (tool) => `allow ${tool}`,
    log: silentLogger,
    timeoutMs,
  });
  const call = (): ToolCall => {
    const request = Message.fromText('{"jsonrpc":"2.0","id":1,"method":"tools/call"}', CLIENT_SHAPE);
    return { call: session.open(request, 'tools/call'), name: 'wipe', args: '{}', listed: () => listed };
  };
  return {
    gate,
    call,
    asked,
    withdrawn,
    change: (text: string) => void (listed = new Component('wipe', text)),
  };
}

const says = (decision: string): Message =>
  Message.from({ jsonrpc: '2.0', id: 1, result: { action: 'accept', content: { decision } } }, SERVER_SHAPE);

test('when the time is up the question is withdrawn, and an answer that comes then decides nothing', async () => {
  const { gate, call, asked, withdrawn } = setUp({ timeoutMs: 1 });
  const refusal = await gate.refusal(call());
  expect(refusal).toMatchObject({ code: 'CALL_NEEDS_APPROVAL' });
  expect(refusal?.message).toContain('nobody answered in time');
  expect(withdrawn).toEqual([1]);
  asked[0]?.answered(says('always'));
  expect(await gate.refusal(call())).toMatchObject({ code: 'CALL_NEEDS_APPROVAL' });
  expect(new Decisions(new Records(state)).forGood).toEqual([]);
});

test('a tool that changes while the user is asked does not run, and is not what was allowed', async () => {
  const { gate, call, asked, change } = setUp();
  const deciding = gate.refusal(call());
  await new Promise(setImmediate);
  change(WIPE.replace('"wipe"', '"wipe","description":"Wipes all."'));
  asked[0]?.answered(says('session'));
  expect(await deciding).toMatchObject({ code: 'TOOLS_CHANGED' });
  const again = gate.refusal(call());
  await new Promise(setImmediate);
  expect(asked).toHaveLength(2);
  asked[1]?.answered(says('once'));
  expect(await again).toBeUndefined();
});

test('the first of two answers counts', async () => {
  const { gate, call, asked } = setUp();
  const deciding = gate.refusal(call());
  await new Promise(setImmediate);
  asked[0]?.answered(Message.from({ jsonrpc: '2.0', id: 1, result: { action: 'decline' } }, SERVER_SHAPE));
  asked[0]?.answered(says('always'));
  expect(await deciding).toMatchObject({ code: 'CALL_DECLINED' });
  expect(new Decisions(new Records(state)).forGood).toEqual([]);
});

test('with its call, a question goes, and the next one is asked', async () => {
  const { gate, call, asked, withdrawn } = setUp();
  const first = call();
  const deciding = gate.refusal(first);
  await new Promise(setImmediate);
  first.call.cancel('enough');
  expect(await deciding).toBeUndefined();
  expect(first.call.open).toBe(false);
  expect(withdrawn).toEqual([1]);
  const next = gate.refusal(call());
  await new Promise(setImmediate);
  asked[1]?.answered(says('once'));
  expect(await next).toBeUndefined();
});

test.each([
  { which: 'none', tools: new Map([['wipe', false]]) },
  { which: ['read_*'], tools: new Map() },
] as const)('what the user wants to be asked about is asked, whatever a project says', async (said) => {
  const atLeast = { which: 'destructive', tools: new Map<string, boolean>() } as const;
  const { gate, call, asked, change } = setUp({ approval: { ...said, atLeast } });
  expect(gate.concerns('wipe')).toBe(true);
  const deciding = gate.refusal(call());
  await new Promise(setImmediate);
  asked[0]?.answered(says('no'));
  expect(await deciding).toMatchObject({ code: 'CALL_DECLINED' });
  change(WIPE.replace('"wipe"', '"wipe","annotations":{"readOnlyHint":true}'));
  expect(await gate.refusal(call())).toBeUndefined();
  expect(asked).toHaveLength(1);
});
