import { expect, it } from 'vitest';
import { OpenaiReply } from './openai-reply.ts';
import { OversizedReply } from './reply-size.ts';

function replyTo(...deltas: object[]) {
  const heard = new OpenaiReply();
  for (const delta of deltas) heard.take({ choices: [{ delta }] });
  heard.take({ choices: [{ delta: {}, finish_reason: 'stop' }] });
  return heard.reply();
}

it('calls without an index, a name or a string are distinguished', () => {
  const { calls, stop, raw } = replyTo(
    { tool_calls: [{ id: '', function: { name: 'add', arguments: { note: 1 } } }] },
    { tool_calls: [{ id: 'b', function: { name: 'list', arguments: '{' } }] },
    { tool_calls: [{ function: { arguments: '}' } }] },
  );
  expect(stop).toBe('calls');
  expect(calls).toMatchObject([
    { name: 'add', input: { note: 1 } },
    { id: 'b', name: 'list', input: {} },
  ]);
  expect(calls[0]?.id).toMatch(/^call_/);
  expect((raw as { tool_calls: { id: string }[] }).tool_calls[0]?.id).toBe(calls[0]?.id);
});

it('calls with the same index are distinguished by their ids', () => {
  const { calls } = replyTo(
    { tool_calls: [{ index: 0, id: 'a', function: { name: 'list', arguments: '{}' } }] },
    { tool_calls: [{ index: 0, id: 'b', function: { name: 'list', arguments: '{}' } }] },
  );
  expect(calls.map(({ id }) => id)).toEqual(['a', 'b']);
});

it.each([{}, { index: 0 }, { index: 0, id: '' }])('calls without ids are told apart: %j', (place) => {
  const { calls } = replyTo(
    {
      tool_calls: [
        { ...place, function: { name: 'list', arguments: '{"a":1}' } },
        { ...place, function: { name: 'list', arguments: '{"a":2}' } },
      ],
    },
    { tool_calls: [{ ...place, function: { name: 'add', arguments: '{"a":' } }] },
    { tool_calls: [{ ...place, function: { arguments: '3}' } }] },
  );
  expect(calls.map(({ name, input }) => [name, input])).toEqual([
    ['list', { a: 1 }],
    ['list', { a: 2 }],
    ['add', { a: 3 }],
  ]);
});

it('a name that comes with every piece is one name', () => {
  const piece = (written: string) => ({ index: 0, id: 'a', function: { name: 'list', arguments: written } });
  const { calls } = replyTo({ tool_calls: [piece('{"a"')] }, { tool_calls: [piece(':1}')] });
  expect(calls).toEqual([{ id: 'a', name: 'list', input: { a: 1 } }]);
});

it('what a server adds of its own is given back to it', () => {
  const { raw } = replyTo(
    { role: 'assistant', content: null, reasoning_content: 'Let ', refusal: null, annotations: [] },
    { reasoning_content: 'me.' },
    {
      tool_calls: [
        { index: 0, id: 'a', extra_content: { signature: 's' }, function: { name: 'list', arguments: '' } },
      ],
    },
  );
  expect(raw).toEqual({
    role: 'assistant',
    content: null,
    reasoning_content: 'Let me.',
    tool_calls: [
      {
        id: 'a',
        type: 'function',
        extra_content: { signature: 's' },
        function: { name: 'list', arguments: '{}' },
      },
    ],
  });
});

it('a refusal in words is a refusal', () => {
  expect(replyTo({ refusal: 'I will ' }, { refusal: 'not.' })).toMatchObject({
    text: 'I will not.',
    stop: 'refused',
  });
});

it.each([
  ['arguments', () => ({ tool_calls: [{ index: 0, function: { arguments: 'x'.repeat(1000) } }] })],
  ['calls', (n: number) => ({ tool_calls: [{ id: `c${n}`, function: { name: 'a', arguments: '{}' } }] })],
])('endless %s end the reply while they arrive', (_, delta) => {
  expect(() => replyTo(...Array.from({ length: 1100 }, (_, n) => delta(n)))).toThrow(OversizedReply);
});
