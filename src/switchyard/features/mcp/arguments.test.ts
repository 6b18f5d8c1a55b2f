import { expect, test } from 'vitest';
import { readArguments, schemaOf, type ArgumentSpecs } from './arguments.ts';

const KNOWN: ArgumentSpecs = {
  service: { kind: 'text', required: true, description: 'The service.' },
  services: { kind: 'texts', description: 'Some.' },
  force_env: { kind: 'flag', description: 'Whether.' },
  lines: { kind: 'number', least: 1, most: 300, usual: 80, description: 'How many.' },
};

test('given arguments are read, and missing ones have their default', () => {
  const given = readArguments({ service: 'web', services: ['a'], force_env: true, lines: 3 }, KNOWN);
  expect([
    given.text('service'),
    given.texts('services'),
    given.flag('force_env'),
    given.number('lines'),
  ]).toEqual(['web', ['a'], true, 3]);
  const less = readArguments({ service: 'web' }, KNOWN);
  expect([less.texts('services'), less.flag('force_env'), less.number('lines')]).toEqual([[], false, 80]);
});

test('an empty string and null count as missing', () => {
  const given = readArguments({ service: 'web', services: null, lines: null, force_env: null }, KNOWN);
  expect([given.texts('services'), given.number('lines')]).toEqual([[], 80]);
  expect(() => readArguments({ service: '' }, KNOWN)).toThrow('service is required');
  expect(() => readArguments({ service: null }, KNOWN)).toThrow('service is required');
});

test.each([
  [{ service: 1 }, 'service must be a string'],
  [{ service: 'a', services: 'web' }, 'services must be an array of strings'],
  [{ service: 'a', services: ['web', 3] }, 'services must be an array of strings'],
  [{ service: 'a', force_env: 'yes' }, 'force_env must be a boolean'],
  [{ service: 'a', lines: '2' }, 'lines must be an integer'],
  [{ service: 'a', lines: true }, 'lines must be an integer'],
  [{ service: 'a', lines: 1.5 }, 'lines must be an integer'],
  [{ service: 'a', lines: 0 }, 'lines must be between 1 and 300'],
  [{ service: 'a', lines: 301 }, 'lines must be between 1 and 300'],
  [{ service: 'a', lines: '' }, 'lines must be an integer'],
  [{}, 'service is required'],
])('%j is refused: %s', (given, message) => {
  expect(() => readArguments(given, KNOWN)).toThrow(message);
});

test('unknown names are rejected first, with a suggestion', () => {
  expect(() => readArguments({ servce: 1, x: 2 }, KNOWN)).toThrow(
    expect.objectContaining({
      message: 'unexpected argument(s): servce, x',
      hint: expect.stringContaining('"service"'),
    }),
  );
});

test('the schema is consistent with that', () => {
  expect(schemaOf(KNOWN)).toEqual({
    type: 'object',
    properties: {
      service: { type: 'string', description: 'The service.' },
      services: { type: 'array', items: { type: 'string' }, description: 'Some.' },
      force_env: { type: 'boolean', description: 'Whether.' },
      lines: { type: 'integer', minimum: 1, maximum: 300, default: 80, description: 'How many.' },
    },
    required: ['service'],
    additionalProperties: false,
  });
});
