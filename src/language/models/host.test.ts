import { expect, it } from 'vitest';
import { ServerError } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Model, ModelMessage } from '../model.ts';
import { hostModel } from './host.ts';
import { failureWith, HELLO, requestOf } from './http-model.cases.ts';

/** A client whose model returns these results one after the other. */
function client(...results: (JsonObject | Error)[]): { asked: JsonObject[]; model: Model } {
  const asked: JsonObject[] = [];
  const model = hostModel((method, params) => {
    expect(method).toBe('sampling/createMessage');
    asked.push(structuredClone(params));
    const result = results.shift() ?? new Error('The script has ended.');
    return result instanceof Error ? Promise.reject(result) : Promise.resolve(result);
  });
  return { asked, model };
}

it('the client is asked as the protocol says', async () => {
  const { asked, model } = client(
    {
      role: 'assistant',
      model: 'm',
      stopReason: 'toolUse',
      content: [
        { type: 'text', text: 'Let me see.' },
        { type: 'tool_use', id: 'one', name: 'add', input: { note: 'x' }, _meta: { kept: true } },
        { type: 'tool_use', id: 'two', name: 'list', input: {} },
      ],
    },
    { role: 'assistant', model: 'm', stopReason: 'endTurn', content: { type: 'text', text: 'Done.' } },
  );
  const reply = await model.reply(requestOf(HELLO));
  expect(reply).toMatchObject({ text: 'Let me see.', stop: 'calls', usage: undefined });
  expect(reply.calls).toEqual([
    { id: 'one', name: 'add', input: { note: 'x' } },
    { id: 'two', name: 'list', input: {} },
  ]);
  const turns: ModelMessage[] = [
    ...HELLO,
    { from: 'model', reply },
    {
      from: 'tools',
      results: [
        { id: 'one', name: 'add', content: [{ type: 'text', text: 'Full.' }], isError: true },
        { id: 'two', name: 'list', content: [], isError: false },
      ],
    },
  ];
  expect(await model.reply(requestOf(turns))).toMatchObject({ text: 'Done.', calls: [], stop: 'done' });
  expect(asked[1]).toEqual({
    messages: [
      { role: 'user', content: { type: 'text', text: 'Hello' } },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'one', name: 'add', input: { note: 'x' }, _meta: { kept: true } },
          { type: 'tool_use', id: 'two', name: 'list', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            toolUseId: 'one',
            content: [{ type: 'text', text: 'Full.' }],
            isError: true,
          },
          { type: 'tool_result', toolUseId: 'two', content: [] },
        ],
      },
    ],
    systemPrompt: 'You keep notes.',
    maxTokens: 1000,
    tools: [
      { name: 'add', description: 'Adds a note.', inputSchema: { type: 'object', properties: { note: {} } } },
      { name: 'list', description: '', inputSchema: { type: 'object' } },
    ],
    toolChoice: { mode: 'auto' },
  });
});

it('a model that is cut off or refuses says so', async () => {
  const content = { type: 'text', text: 'And so' };
  const { model } = client({ content, stopReason: 'maxTokens' }, { content, stopReason: 'refusal' });
  expect((await model.reply(requestOf(HELLO))).stop).toBe('length');
  expect((await model.reply(requestOf(HELLO))).stop).toBe('refused');
});

it.each([
  [new ServerError('User rejected sampling request', -1, undefined), 'LANGUAGE_REFUSED'],
  [new ServerError('Request denied by policy', -32000, undefined), 'LANGUAGE_REFUSED'],
  [new ServerError('No provider', -32603, undefined), 'LANGUAGE_FAILED'],
  [new SwitchboardError('CLIENT_GONE', 'The client is gone.', { hint: 'None.' }), 'CLIENT_GONE'],
])('a client that says no: %s', async (said, code) => {
  const { model } = client(said);
  const error = await failureWith(model.reply(requestOf(HELLO)));
  expect(error.code).toBe(code);
  expect(error.hint).toBeTruthy();
});

it.each([{}, { content: 'Hello' }, { content: [null] }, { content: { type: 'tool_use', input: {} } }])(
  'an answer that is no turn is told as that: %j',
  async (answer) => {
    const { model } = client(answer);
    expect((await failureWith(model.reply(requestOf(HELLO)))).code).toBe('LANGUAGE_BAD_OUTPUT');
  },
);

it('an abort is passed on as it is', async () => {
  const reason = new Error('Enough.');
  const controller = new AbortController();
  const model = hostModel((_method, _params, signal) => {
    controller.abort(reason);
    return Promise.reject(new Error(signal.aborted ? 'Withdrawn.' : 'Not told.'));
  });
  await expect(model.reply(requestOf(HELLO, { signal: controller.signal }))).rejects.toBe(reason);
});
