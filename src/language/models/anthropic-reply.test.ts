import { expect, it } from 'vitest';
import { AnthropicReply } from './anthropic-reply.ts';
import { OversizedReply } from './reply-size.ts';

/** The events as sent by the API, including kinds that the library does not know yet. */
function replyTo(...events: any[]) {
  const heard = new AnthropicReply();
  for (const event of events) heard.take(event);
  return heard.reply();
}

it('what is read from the store of the API counts with the rest', () => {
  const usage = {
    input_tokens: 5,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 300,
    output_tokens: 1,
  };
  const reply = replyTo(
    { type: 'message_start', message: { usage } },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { input_tokens: 5, output_tokens: 40 },
    },
  );
  expect(reply.usage).toEqual({ input: 325, output: 40 });
});

it('parts of any kind are put together for giving them back', () => {
  const { raw, text } = replyTo(
    { type: 'content_block_start', index: 0, content_block: { type: 'novelty', words: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'novelty_delta', words: 'a' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'novelty_delta', words: 'b', seal: 'x' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '', citations: null } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'citations_delta', citation: { at: 1 } } },
    { type: 'unheard_of' },
  );
  expect(text).toBe('Hi');
  expect(raw).toEqual([
    { type: 'novelty', words: 'ab', seal: 'x' },
    { type: 'text', text: 'Hi', citations: [{ at: 1 }] },
  ]);
});

it('a call that was cut off in the middle of its arguments is malformed', () => {
  const { calls, stop } = replyTo(
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'a', name: 'add', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"note": "lo' },
    },
    { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
  );
  expect(stop).toBe('length');
  expect(calls).toEqual([
    { id: 'a', name: 'add', input: undefined, malformed: 'The arguments are not valid JSON.' },
  ]);
});

it('endless arguments and endless blocks end the reply while they arrive', () => {
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
  const delta = {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: 'x'.repeat(1000) },
  };
  expect(() => replyTo(block, ...Array.from({ length: 1100 }, () => delta))).toThrow(OversizedReply);
  expect(() => replyTo(...Array.from({ length: 1100 }, (_, index) => ({ ...block, index })))).toThrow(
    OversizedReply,
  );
});
