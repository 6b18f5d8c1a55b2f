import { expect, test } from 'vitest';
import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { BytePipe } from './byte-pipe.ts';

function open(): { pipe: BytePipe; lines: string[]; broken: string[] } {
  const lines: string[] = [];
  const broken: string[] = [];
  const pipe = new BytePipe({
    line: (message) => lines.push(message.toString()),
    broken: (why) => broken.push(why),
  });
  return { pipe, lines, broken };
}

const written = (pipe: BytePipe, text: string): Promise<unknown> =>
  new Promise((resolve) => pipe.output.write(text, resolve));

test('lines come out whole, however they were cut', async () => {
  const { pipe, lines } = open();
  const all = '{"jsonrpc":"2.0","id":1,"result":{}}\n{"jsonrpc":"2.0","method":"é"}\n';
  for (const byte of Buffer.from(all)) pipe.output.write(Buffer.from([byte]));
  await written(pipe, '');
  expect(lines.join('\n') + '\n').toBe(all);
});

test('an answer that cannot be read becomes an error with its id; the next is delivered', async () => {
  const { pipe, lines, broken } = open();
  const deep = `${'['.repeat(300)}${']'.repeat(300)}`;
  await written(pipe, `{"jsonrpc":"2.0","id":"x","result":${deep}}\n`);
  await written(pipe, '{"jsonrpc":"2.0","id":2,"result":{}}\n');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { id: 'x', error: { code: -32603 } },
    { id: 2, result: {} },
  ]);
  expect(broken).toEqual([]);
});

test('a core that ends its side breaks the pipe', async () => {
  const { pipe, broken } = open();
  await new Promise<void>((resolve) => pipe.output.end(resolve));
  expect(broken).toHaveLength(1);
});

test.each([10, 200_000])('a message of %d bytes becomes one line', (size) => {
  const { pipe } = open();
  let text = '';
  pipe.input.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const message = Message.from({ jsonrpc: '2.0', method: 'x'.repeat(size) }, CLIENT_SHAPE);
  pipe.take(message);
  pipe.input.read();
  return new Promise<void>((resolve) => {
    pipe.input.on('end', () => {
      expect(text).toBe(`${message.toString()}\n`);
      resolve();
    });
    pipe.close();
  });
});

test('it is full when the core does not read', () => {
  const { pipe } = open();
  const message = Message.from({ jsonrpc: '2.0', method: 'x'.repeat(1_000_000) }, CLIENT_SHAPE);
  for (let n = 0; n < 8; n++) pipe.take(message);
  expect(pipe.full).toBe(false);
  pipe.take(message);
  expect(pipe.full).toBe(true);
});
