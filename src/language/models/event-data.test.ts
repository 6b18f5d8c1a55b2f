import { expect, it } from 'vitest';
import { eventData } from './event-data.ts';

const STREAM = 'event: x\r\ndata: one\r\n\r\n: a comment\n\ndata:two\ndata: zwei ö\n\nid: 7\n\ndata: last';

it.each([1, 3, 1000])('events are read whole, however they are cut: in pieces of %i', async (size) => {
  const bytes = Buffer.from(STREAM);
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  const read: string[] = [];
  for await (const data of eventData(pieces)) read.push(data);
  expect(read).toEqual(['one', 'two\nzwei ö', 'last']);
});
