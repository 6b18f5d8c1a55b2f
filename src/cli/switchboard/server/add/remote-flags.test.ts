import { expect, test } from 'vitest';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { parseArguments, type ParsedArguments } from '../../../kit/arguments.ts';
import { addCommand } from './add.ts';
import { remoteEntry, secretsRemark } from './remote-flags.ts';

const given = (...argv: string[]): ParsedArguments =>
  parseArguments(argv, addCommand.flags, addCommand.commandAt);

function failure(...argv: string[]): SwitchboardError {
  try {
    remoteEntry(given(...argv));
  } catch (error) {
    if (error instanceof SwitchboardError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

test('an address makes an entry, with nothing in it that was not asked for', () => {
  expect(remoteEntry(given('x', '--url', 'https://x.test'))).toEqual({ url: 'https://x.test' });
  expect(remoteEntry(given('x', '--', 'node'))).toBeUndefined();
});

test('transport and headers are taken as they are typed', () => {
  const argv = ['x', '--url=${URL}', '--transport', 'sse', '--header', 'A: Bearer ${T}:x', '--header', 'B:c'];
  expect(remoteEntry(given(...argv))).toEqual({
    type: 'sse',
    url: '${URL}',
    headers: { A: 'Bearer ${T}:x', B: 'c' },
  });
  expect(remoteEntry(given('x', '--url', 'http://u', '--transport', 'streamable-http'))?.type).toBe('http');
});

test.each([
  [['x', '--url', 'u', '--', 'node'], 'A server has a command or --url, not both.'],
  [['x', '--url', 'u', '--env', 'A=s3cret'], '--env does not apply to a remote server'],
  [['x', '--url', 'u', '--cwd', '.'], '--cwd does not apply to a remote server'],
  [['x', '--header', 'A: s3cret', '--', 'node'], '--header needs a remote server'],
  [['x', '--transport', 'sse', '--', 'node'], '--transport needs a remote server'],
  [['x', '--url', 'u', '--header', 's3cret'], '--header needs a name and a value.'],
  [['x', '--url', 'u', '--transport', 'ws'], 'Unknown transport "ws".'],
  [['x', '--url', 'localhost:3000/mcp'], '--url "localhost:3000/mcp" is not a valid http:// or'],
  [['x', '--url', 'x.test/mcp?key=s3cret'], '--url "x.test/mcp?key=***" is not a valid http'],
  [['x', '--url', 'ws://x.test'], '--url "ws://x.test" is not a valid http'],
  [['x', '--url', 'http://'], '--url "http://" is not a valid http'],
])('%j is refused', (argv, message) => {
  const error = failure(...argv);
  expect(error.code).toBe('USAGE');
  expect(error.message).toContain(message);
  expect(error.explained).not.toContain('s3cret');
});

test('a secret in the file is pointed out, and not repeated', () => {
  const remark = secretsRemark({ url: 'u', headers: { 'X-Api-Key': 's3cret' } }, 'switchboard');
  expect(remark).toContain('X-Api-Key is written to the file');
  expect(remark).toContain('${NAME}');
  expect(remark).not.toContain('s3cret');
  expect(secretsRemark({ url: 'https://x?key=s3cret' }, 'switchboard')).toContain('A secret in the address');
  expect(secretsRemark({ url: 'https://x', headers: { Authorization: '${T}', A: 'b' } }, 'switchboard')).toBe(
    '',
  );
});

test.each([
  ['localhost:3000/mcp', 'Use --url http://localhost:3000/mcp, or https:// if it has TLS.'],
  ['x.test/mcp', 'Use --url http://x.test/mcp,'],
  ['ws://x.test', 'For example: --url https://example.com/mcp'],
  ['http://', 'For example: --url https://example.com/mcp'],
])('for %s the next step is named', (url, hint) => {
  expect(failure('x', '--url', url).hint).toContain(hint);
});
