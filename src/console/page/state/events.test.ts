import { expect, test } from 'vitest';
import { readEvents } from './events.ts';

test('events are read however the bytes are cut', async () => {
  const bytes = new TextEncoder().encode(': hello\n\ndata: [1,\ndata: 2]\n\nevent: x\r\ndata:"é"\r\n\r\n');
  for (const size of [1, 2, 7, bytes.length]) {
    const seen: string[] = [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
        controller.close();
      },
    });
    await readEvents(
      body,
      (data) => seen.push(data),
      () => undefined,
    );
    expect(seen, `in pieces of ${size}`).toEqual(['[1,\n2]', '"é"']);
  }
});
