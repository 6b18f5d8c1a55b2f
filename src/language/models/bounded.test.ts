import { expect, it } from 'vitest';
import { bounded } from './bounded.ts';

const ENDPOINT = {
  provider: 'openai',
  model: 'm',
  url: new URL('http://127.0.0.1:1/v1'),
  apiKey: undefined,
} as const;
const MB = 1024 * 1024;

/** Reads a response of this size, chunk by chunk. */
function read(type: string, chunk: string, bytes: number): Promise<string> {
  const text = new TextEncoder().encode(chunk);
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if ((left -= text.length) < 0) controller.close();
      else controller.enqueue(text);
    },
  });
  return bounded(new Response(body, { headers: { 'content-type': type } }), ENDPOINT).text();
}

it.each([
  ['events', 'text/event-stream', `data: ${'x'.repeat(1000)}\n\n`],
  ['events with carriage returns', 'text/event-stream', `data: ${'x'.repeat(1000)}\r\n\r\n`],
  ['events of an unknown type', 'text/plain', `data: ${'x'.repeat(1000)}\n\n`],
])('%s pass, up to 16 MB', async (_, type, chunk) => {
  expect((await read(type, chunk, 8 * MB)).length).toBeGreaterThan(7 * MB);
  await expect(read(type, chunk, 17 * MB)).rejects.toThrow('sent a response larger than 16 MB');
});

it.each([
  ['an event in one line', 'text/event-stream', 'x'.repeat(1000), 'sent an event larger than 1 MB'],
  ['an event in many lines', 'text/event-stream', 'data: x\n'.repeat(100), 'sent an event larger than 1 MB'],
  ['an answer in one piece', 'application/json', '[],'.repeat(300), 'sent a response larger than 1 MB'],
])('%s does not become longer than 1 MB', async (_, type, chunk, message) => {
  expect((await read(type, chunk, MB / 2)).length).toBeGreaterThan(MB / 3);
  await expect(read(type, chunk, 2 * MB)).rejects.toThrow(message);
});
