import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isNodeAtLeast, OLDEST_NODE } from './node-version.ts';

test('the package asks for the oldest Node that all programs run on', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
  expect(engines.node).toBe(`>=${OLDEST_NODE}`);
});

test.each([
  ['20.2.9', false],
  ['18.20.0', false],
  ['20.3.0', true],
  ['20.12.1', true],
  ['24.0.0', true],
])('releases are compared by number: %s', (version, expected) => {
  expect(isNodeAtLeast('20.3', version)).toBe(expected);
});
