import { expect, test } from 'vitest';
import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { Conduit } from './conduit.ts';

function open(): { conduit: Conduit; lines: string[]; broken: string[] } {
  const lines: string[] = [];
  const broken: string[] = [];
  const conduit = new Conduit({
    line: (message) => lines.push(message.toString()),
    broken: (why) => broken.push(why),
  });
  return { conduit, lines, broken };
}

const written = (conduit: Conduit, text: string): Promise<unknown> =>
  new Promise((resolve) => conduit.output.write(text, resolve));

test('lines come out whole, however they were cut', async () => {
  const { conduit, lines } = open();
  const all = '{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","method":"é"}\n';
  for (const byte of Buffer.from(all)) conduit.output.write(Buffer.from([byte]));
  await written(conduit, '');
  expect(lines.join('\n') + '\n').toBe(all);
});

test('an answer that cannot be read becomes an error with its id; the next is delivered', async () => {
  const { conduit, lines, broken } = open();
  const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
  await written(conduit, `{"jsonrpc":"2.0","id":"x","result":${deep}}\n`);
  await written(conduit, '{"jsonrpc":"2.0","id":2,"result":{}}\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: 'x', error: { code: -32603 } },
    { id: 2, result: {} },
  ]);
  expect(broken).toEqual([]);
});

test('a core that ends its side breaks the conduit', async () => {
  const { conduit, broken } = open();
  await new Promise<void>((resolve) => conduit.output.end(resolve));
  expect(broken).toHaveLength(1);
});

test.each([10, 200_000])('a message of %d bytes becomes one line', (size) => {
  const { conduit } = open();
  let text = '';
  conduit.input.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const message = Message.from({ jsonrpc: '2.0', method: 'x'.repeat(size) }, CLIENT_SHAPE);
  conduit.take(message);
  conduit.input.read();
  return new Promise<void>((resolve) => {
    conduit.input.on('end', () => {
      expect(text).toBe(`${message.toString()}\n`);
      resolve();
    });
    conduit.close();
  });
});

test('it is full when the core does not read', () => {
  const { conduit } = open();
  const message = Message.from({ jsonrpc: '2.0', method: 'x'.repeat(1_000_000) }, CLIENT_SHAPE);
  for (let n = 0; n < 8; n++) conduit.take(message);
  expect(conduit.full).toBe(false);
  conduit.take(message);
  expect(conduit.full).toBe(true);
});
