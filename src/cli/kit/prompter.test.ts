import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm } from './prompter.ts';

function ask(signal = new AbortController().signal) {
  const [input, output] = [new PassThrough(), new PassThrough()];
  return { input, output, answer: confirm('Write this?', { input, output, signal }) };
}

test.each([
  ['y\n', true],
  ['YES\n', true],
  [' yes \n', true],
  ['\n', false],
  ['n\n', false],
  ['yeah\n', false],
])('%j', async (line, expected) => {
  const { input, output, answer } = ask();
  input.write(line);
  expect(await answer).toBe(expected);
  expect(String(output.read())).toContain('Write this? [y/N] ');
});

test('the end of the input and a wish to stop are a no', async () => {
  const ended = ask();
  ended.input.end();
  expect(await ended.answer).toBe(false);
  const controller = new AbortController();
  const stopped = ask(controller.signal);
  controller.abort();
  expect(await stopped.answer).toBe(false);
});
