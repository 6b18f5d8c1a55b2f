import { expect, test } from 'vitest';
import { Component } from '../gateway/index.ts';
import type { FinishedToolCall } from './tool-calls.ts';
import { RepeatedMistakes } from './repeated-mistakes.ts';

function ended(
  name: string,
  outcome: FinishedToolCall['outcome'],
  more: Partial<FinishedToolCall> = {},
): FinishedToolCall {
  const component = new Component(name, '{}');
  const tool =
    outcome === 'unknown tool' ? undefined : { name, original: name, component, presets: undefined };
  const use = { id: '1', name, input: {} };
  return {
    use,
    tool,
    outcome,
    lost: false,
    content: [],
    attachments: [],
    ms: 0,
    message: undefined,
    ...more,
  };
}

/** The error codes that a series of turns leads to. */
function codes(...turns: FinishedToolCall[][]): (string | undefined)[] {
  const patience = new RepeatedMistakes('shop', 'small');
  return turns.map((turn) => patience.judge(turn)?.code);
}

test('a model may call unknown tools in one turn only', () => {
  const unknown = ended('nope', 'unknown tool');
  expect(codes([unknown, unknown], [ended('a', 'ok')], [ended('other', 'unknown tool')])).toEqual([
    undefined,
    undefined,
    'LANGUAGE_UNKNOWN_TOOL',
  ]);
});

test('arguments are fed back once for each tool', () => {
  const [a, b] = [ended('a', 'rejected'), ended('b', 'rejected')];
  expect(codes([a, a], [b], [ended('a', 'rejected')])).toEqual([undefined, undefined, 'LANGUAGE_ARGUMENTS']);
});

test('a tool that ran meanwhile has been understood, and the next mistake is another one', () => {
  const rejected = ended('a', 'rejected');
  expect(codes([rejected], [ended('a', 'ok')], [rejected], [rejected])).toEqual([
    undefined,
    undefined,
    undefined,
    'LANGUAGE_ARGUMENTS',
  ]);
});

test('tool errors are reported without a limit', () => {
  const error = ended('a', 'error');
  expect(codes([error], [error], [error])).toEqual([undefined, undefined, undefined]);
});

test('a server that is gone two turns in a row ends it; a response in between resets the count', () => {
  const lost = ended('a', 'error', { lost: true, message: 'It ended.' });
  expect(codes([lost], [lost])).toEqual([undefined, 'LANGUAGE_SERVER_GONE']);
  expect(codes([lost], [lost, ended('b', 'ok')], [lost])).toEqual([undefined, undefined, undefined]);
});
