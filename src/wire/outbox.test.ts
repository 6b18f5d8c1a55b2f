import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import type { Edit } from './edit.ts';
import { ENVELOPE, Envelope } from './envelope.ts';
import type { Framing } from './framing.ts';
import { Message } from './message.ts';
import { Outbox } from './outbox.ts';
import { defineShape } from './shape.ts';

const SHAPE = defineShape({ ...ENVELOPE });

function open(framing: Framing, highWater = 1000) {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    highWaterMark: 1,
    write: (chunk: Buffer, _encoding, done) => {
      taken.push(chunk.toString());
      waiting.push(done);
    },
  });
  const outbox = new Outbox(stream, { framing, highWater, takesCopies: false });
  /** Reads everything there is, like a reader that catches up. */
  const takeAll = async (): Promise<void> => {
    outbox.flush();
    while (waiting.length > 0) {
      waiting.shift()!();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { outbox, takeAll, written: () => taken.join('') };
}

const MESSAGE = Message.from({ jsonrpc: '2.0', id: 1, method: 'm', params: { a: 1 } }, SHAPE);

/** The edits that replace the params with this text. */
const params = (text: string): Edit[] => [
  { start: MESSAGE.start(Envelope.params), end: MESSAGE.end(Envelope.params), with: text },
];

test('a text that is put in stays on one line, and what stands behind a line break is no message', async () => {
  const { outbox, takeAll, written } = open('newline');
  outbox.forward(MESSAGE, params('{"b":\n{"jsonrpc":"2.0","method":"evil"}\r\n,"c":"d\\ne"}'));
  outbox.forwardRequest(7, MESSAGE, params('{\r}'));
  await takeAll();
  const lines = written().split(/\r?\n|\r/);
  expect(lines.pop()).toBe('');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'm', params: { b: { jsonrpc: '2.0', method: 'evil' }, c: 'd\ne' } },
    { jsonrpc: '2.0', id: 7, method: 'm', params: {} },
  ]);
});

test('the header says how long a message with such a text is', async () => {
  const { outbox, takeAll, written } = open('content-length');
  outbox.forward(MESSAGE, params('{"b":\n"ü€😀"\r\n}'));
  outbox.forwardRequest(7, MESSAGE, params('{\n}'));
  await takeAll();
  let rest = Buffer.from(written());
  for (const expected of [{ b: 'ü€😀' }, {}]) {
    const [head, length] = /^Content-Length: (\d+)\r\n\r\n/.exec(rest.toString())!;
    const body = rest.subarray(head.length, head.length + Number(length));
    expect(JSON.parse(body.toString())).toMatchObject({ params: expected });
    rest = rest.subarray(head.length + Number(length));
  }
  expect(rest).toHaveLength(0);
});

test('a wire that is not read is congested, and says so when it is read again', async () => {
  const { outbox, takeAll } = open('newline', 200);
  expect(outbox.congested).toBe(false);
  for (let n = 0; n < 10; n++) outbox.forward(MESSAGE, []);
  expect(outbox.backlog).toBe(10 * (MESSAGE.length + 1));
  expect(outbox.congested).toBe(true);
  const drained: boolean[] = [];
  outbox.whenDrained(() => drained.push(outbox.congested));
  outbox.flush();
  await new Promise((resolve) => setImmediate(resolve));
  expect(drained).toEqual([]);
  await takeAll();
  expect(drained).toEqual([false]);
  expect(outbox.backlog).toBe(0);
});
