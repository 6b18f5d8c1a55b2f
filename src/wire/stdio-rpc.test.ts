import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { startStdioRpc } from './stdio-rpc.ts';

function start() {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: unknown[] = [];
  const errors: string[] = [];
  const { write } = startStdioRpc((message) => heard.push(message), {
    input,
    output,
    onError: (error) => errors.push(error.message),
  });
  return {
    input,
    output,
    heard,
    errors,
    write,
    settle: () => new Promise((resolve) => setImmediate(resolve)),
  };
}

const framed = (text: string) => `Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

test('a framed message calls the handler with parsed JSON, also split and several at once', async () => {
  const { input, heard, settle } = start();
  const bytes = Buffer.from(framed('{"id":1,"x":"ü"}') + framed('{"id":2}'));
  input.write(bytes.subarray(0, 27));
  await settle();
  input.write(bytes.subarray(27));
  await settle();
  expect(heard).toEqual([{ id: 1, x: 'ü' }, { id: 2 }]);
});

test('write gives exactly one Content-Length header and a matching body', async () => {
  const { output, write, settle } = start();
  write({ jsonrpc: '2.0', id: 1, result: { text: 'ü' } });
  await settle();
  const text = (output.read() as Buffer).toString();
  const [, length, body] = /^Content-Length: (\d+)\r\n\r\n(.*)$/s.exec(text)!;
  expect(Buffer.byteLength(body!)).toBe(Number(length));
  expect(JSON.parse(body!)).toEqual({ jsonrpc: '2.0', id: 1, result: { text: 'ü' } });
});

test('a newline peer is answered in kind', async () => {
  const { input, output, heard, write, settle } = start();
  input.write('{"id":1}\n');
  await settle();
  write({ ok: true });
  await settle();
  expect(heard).toEqual([{ id: 1 }]);
  expect((output.read() as Buffer).toString()).toBe('{"ok":true}\n');
});

test('a header block without Content-Length and a body that is no JSON are errors; the next message is read', async () => {
  const { input, heard, errors, settle } = start();
  input.write(`${framed('{}')}X-Other: 1\r\n\r\n${framed('{no')}${framed('{"id":2}')}`);
  await settle();
  expect(heard).toEqual([{}, { id: 2 }]);
  expect(errors[0]).toContain('no Content-Length in the header block');
  expect(errors).toHaveLength(2);
});
