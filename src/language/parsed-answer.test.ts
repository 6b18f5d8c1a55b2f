import { expect, test } from 'vitest';
import { SERVER_SHAPE } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import { parsedAnswer } from './parsed-answer.ts';

const parsed = (answer: object) =>
  parsedAnswer(Message.from({ jsonrpc: '2.0', id: 1, ...answer }, SERVER_SHAPE), []);
const long = 'x'.repeat(2_000_000);

test('an answer of usual length is given whole', () => {
  const result = { content: [{ type: 'text', text: 'short' }], structuredContent: { a: [1] }, x: null };
  expect(parsed({ result }).result).toEqual(result);
  expect(parsed({ error: { code: 1, message: 'no' } }).error).toEqual({ code: 1, message: 'no' });
});

test('of a long answer the texts and data in its content are kept', () => {
  const content = [
    { type: 'text', text: 'short', annotations: { priority: 1 } },
    { type: 'image', data: long, mimeType: 'image/png', annotations: { priority: 1 } },
    { type: 'resource', resource: { uri: 'x://y', text: long } },
  ];
  expect(parsed({ result: { structuredContent: {}, content, isError: true } }).result).toEqual({
    content: [
      content[0],
      { type: 'image', data: long, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'x://y', text: long } },
    ],
    isError: true,
  });
});

test('of a long list of blocks the beginning is kept, and a long error is not shown', () => {
  const content = Array.from({ length: 200_000 }, () => ({ a: [] }));
  expect(parsed({ result: { content } }).result.content).toHaveLength(1000);
  expect(parsed({ error: { code: 1, message: 'no', data: content } }).error).toContain('too long');
});
