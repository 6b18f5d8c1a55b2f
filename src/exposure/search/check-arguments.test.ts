import { expect, test } from 'vitest';
import { argumentProblems } from './check-arguments.ts';

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    title: { type: 'string', description: 'The title.' },
    count: { type: 'integer', minimum: 1 },
    open: { type: 'boolean' },
    state: { type: 'string', enum: ['open', 'closed'] },
    labels: {
      type: 'array',
      items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    },
    limit: { type: 'number', default: 10 },
    mixed: { anyOf: [{ type: 'string' }, { type: 'number' }] },
  },
  required: ['title', 'limit'],
};

const messages = (args: unknown, schema: unknown = SCHEMA): string[] =>
  argumentProblems(schema, args).map(({ message }) => message);

test('what cannot be right is named, with the part of the schema that says so', () => {
  expect(argumentProblems(SCHEMA, { titel: 'x' })).toEqual([
    { message: '"title" is missing (there is "titel")', schema: SCHEMA.properties.title },
  ]);
  expect(messages({ title: 'x', count: 'many' })).toEqual(['"count" must be integer, not string']);
  expect(messages({ title: 'x', labels: 5 })).toEqual(['"labels" must be array, not number']);
  expect(messages({ title: { a: 1 } })).toEqual(['"title" must be string, not object']);
  expect(messages({ title: 'x', state: 'done' })).toEqual(['"state" has a value that is not allowed']);
  expect(messages({ title: 'x', labels: [{ name: 'a' }, {}] })).toEqual(['"labels[1].name" is missing']);
});

test('what a server may convert passes', () => {
  for (const args of [
    { title: 'x', count: '5', open: 'true', limit: '3' },
    { title: 5 },
    { title: null, count: null },
    { title: 'x', labels: '[{"name":"a"}]' },
    { title: 'x', labels: 'a, b' },
    { title: 'x', state: 'OPEN' },
    { title: 'x', count: 0, open: 1 },
    { title: 'x', unknown: true, mixed: {} },
  ])
    expect(messages(args)).toEqual([]);
});

test('unknown arguments are refused only where the schema says so, with the near names', () => {
  const closed = { ...SCHEMA, additionalProperties: false };
  expect(argumentProblems(closed, { title: 'x', stat: 'open' })).toEqual([
    { message: '"stat" is unknown', schema: { properties: ['state'] } },
  ]);
});

test('a schema that says more than the plain keywords is not judged', () => {
  for (const more of [
    { $ref: '#/$defs/x' },
    { anyOf: [{}] },
    { nullable: true },
    { 'x-coerce': true },
    { patternProperties: {} },
    { if: {} },
  ])
    expect(messages({}, { ...SCHEMA, ...more })).toEqual([]);
  for (const schema of [null, true, [], 'x', { type: 'any' }, { type: ['object', 'thing'] }])
    expect(messages({ a: 1 }, schema)).toEqual([]);
});

test('hostile schemas and arguments end at once', () => {
  let deep: Record<string, unknown> = { type: 'string' };
  let args: unknown = 1;
  for (let depth = 0; depth < 5000; depth++) {
    deep = { type: 'object', properties: { a: deep } };
    args = { a: args };
  }
  expect(messages(args, deep)).toEqual([]);
  const names = Array.from({ length: 50_000 }, (_, at) => `p${at}`);
  expect(messages({}, { type: 'object', required: names })).toHaveLength(3);
  expect(messages(JSON.parse('{"__proto__":1,"constructor":2}'), SCHEMA)).toEqual(['"title" is missing']);
});
