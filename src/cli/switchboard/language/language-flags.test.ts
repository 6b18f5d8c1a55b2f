import { expect, test } from 'vitest';
import { parseArguments } from '../../kit/arguments.ts';
import { LANGUAGE_FLAGS, languageArguments, languageIn } from './language-flags.ts';

const read = (...argv: string[]) => languageIn(parseArguments(argv, LANGUAGE_FLAGS));

test('model settings are written as the same flags, and nothing else is', () => {
  const argv = [
    ...['--model', 'm', '--provider', 'openai', '--base-url', 'http://localhost:1/v1', '--allow-destructive'],
    ...['--max-steps', '3', '--max-tokens', '500', '--timeout-ms', '9000'],
  ];
  expect(languageArguments(read(...argv))).toEqual(argv);
  expect(read()).toEqual({});
  expect(languageArguments({})).toEqual([]);
});

test.each([
  [['--provider', 'nobody'], /Unknown provider "nobody"/],
  [['--base-url', 'localhost'], /--base-url is not a valid URL/],
  [['--base-url', 'http://u:hunter2@localhost'], /^(?!.*hunter2).*contains a user name or password/],
  [['--max-steps', '0'], /--max-steps must be a whole number from 1 to 1000/],
  [['--max-tokens', '1.5'], /--max-tokens must be/],
  [['--timeout-ms', 'soon'], /--timeout-ms must be/],
])('%j is refused', (argv, message) => {
  expect(() => read(...argv)).toThrow(message);
});
