import { expect, test } from 'vitest';
import { Client, CLIENT_SHAPE } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { editedText, Message } from '../wire/index.ts';
import { callEdits, type CallChanges } from './call-edits.ts';

const PRESETS = new Map([['owner', '"acme"']]);

/** A suite's call with these args, given as JSON text, as its server receives it. */
function sent(args: string, changes: Partial<CallChanges> = {}): string {
  const request = Message.fromText(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"s_suite","arguments":{"action":"call","subtool":"safe","args":${args}}}}`,
    CLIENT_SHAPE,
  );
  const edits = callEdits(request, { name: '"safe"', args: Client.args, presets: undefined, ...changes });
  return edits instanceof SwitchboardError ? edits.code : editedText(request, edits);
}

const argumentsOf = (text: string): unknown =>
  (JSON.parse(text) as { params: { arguments: unknown } }).params.arguments;

/** Each line break is followed by text that would be a message on its own. */
const INJECTED = ['\n', '\r', '\r\n', '\n\n'].map(
  (lineBreak) => `{"x":${lineBreak}{"jsonrpc":"2.0","method":"tools/call"}${lineBreak},"y":"a\\nb"}`,
);

test.each([
  ['without presets', undefined, {}],
  ['with presets', PRESETS, { owner: 'acme' }],
])('args that are text stay on one line, %s', (_how, presets, filledIn) => {
  for (const text of INJECTED) {
    const call = sent(JSON.stringify(text), { presets });
    expect(call).not.toMatch(/[\n\r]/);
    expect(argumentsOf(call)).toEqual({ ...(JSON.parse(text) as object), ...filledIn });
  }
  const pretty = JSON.stringify({ a: { b: [1, 'c'] } }, null, 2);
  expect(argumentsOf(sent(JSON.stringify(pretty), { presets }))).toEqual({ a: { b: [1, 'c'] }, ...filledIn });
});

test('a preset holds however its name is spelled, and however often', () => {
  const spellings = [
    '{"owner":"theirs"}',
    '{"\\u006fwner":"theirs"}',
    '{"owner":"a","\\u006fwner":"b","owner":"c"}',
    '{ "x":1 , "owner" : {"owner":"theirs"} }',
  ];
  for (const args of [...spellings, ...spellings.map((each) => JSON.stringify(each))]) {
    const call = sent(args, { presets: PRESETS });
    expect(argumentsOf(call)).toMatchObject({ owner: 'acme' });
    expect(call).not.toContain('theirs');
    expect(call.match(/"(o|\\u006f)wner"/g)).toHaveLength(1);
  }
});

test('text that is anything but one object is refused', () => {
  for (const text of ['', '[1]', '7', 'null', '{"a":1', '{} {}', '{}\n{"jsonrpc":"2.0"}', '{"a":1}}']) {
    for (const presets of [undefined, PRESETS])
      expect(sent(JSON.stringify(text), { presets })).toBe('ARGS_INVALID');
  }
});

test('text of megabytes is refused without being read', () => {
  const text = (length: number): string => JSON.stringify(`{"x":"${'x'.repeat(length)}"}`);
  expect(argumentsOf(sent(text(1_000_000)))).toMatchObject({ x: expect.stringMatching(/^x+$/) });
  expect(sent(text(1_100_000))).toBe('ARGS_INVALID');
  expect(sent(`{"x":"${'x'.repeat(1_100_000)}"}`)).toContain('xxx');
});
