import { expect, test } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { wireAnswer } from './wire-errors.ts';

const inside = new SwitchboardError('SUBTOOL_UNKNOWN', 'No such subtool.', { hint: 'Look again.' });

test('what goes wrong inside a tool is a result that the model can read', () => {
  expect(wireAnswer(inside, 'tools/call', false)).toEqual({
    kind: 'result',
    result: { content: [{ type: 'text', text: 'No such subtool. Look again.' }], isError: true },
  });
});

test('a framed host gets −32000 for it', () => {
  expect(wireAnswer(inside, 'tools/call', true)).toEqual({
    kind: 'error',
    code: -32000,
    message: 'No such subtool. Look again.',
  });
});

test('an unknown resource is not found; a missing URI is an invalid parameter', () => {
  const unknown = new SwitchboardError('RESOURCE_UNKNOWN', 'x');
  expect(wireAnswer(unknown, 'resources/read', false)).toMatchObject({ code: -32002 });
  expect(wireAnswer(unknown, 'resources/subscribe', false)).toMatchObject({ code: -32002 });
  expect(wireAnswer(unknown, 'completion/complete', false)).toMatchObject({ code: -32602 });
});

test.each([
  ['TOOL_UNKNOWN', -32602],
  ['TOOL_NOT_ALLOWED', -32602],
  ['PARAMS_INVALID', -32602],
  ['METHOD_UNKNOWN', -32601],
] as const)('%s is the error %i for everyone', (code, wire) => {
  for (const framed of [true, false]) {
    expect(wireAnswer(new SwitchboardError(code, 'x'), 'tools/call', framed)).toMatchObject({
      kind: 'error',
      code: wire,
    });
  }
});
