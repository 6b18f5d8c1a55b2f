import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { readableSchema } from './readable-schema.ts';

const nothing = { type: 'object', properties: {} };

test('a schema that models take passes unchanged', () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      a: { type: 'array', items: { $ref: '#/$defs/part' } },
      b: { type: 'number', exclusiveMinimum: 0, default: { items: [1], required: true } },
      items: { type: 'string', enum: ['x'] },
    },
    required: ['a'],
    additionalProperties: false,
    $defs: { part: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
  };
  expect(readableSchema(schema)).toEqual({ schema, besides: undefined });
});

test.each([
  [undefined, nothing],
  [[], nothing],
  [{ type: 'string' }, nothing],
  [{ type: 'object' }, nothing],
  [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
  [
    { type: ['object', 'null'], properties: { a: true } },
    { type: 'object', properties: { a: true } },
  ],
])('where %j is given, there are an object and its properties', (given, schema) => {
  expect(readableSchema(given)).toEqual({ schema, besides: undefined });
});

test('a name for the whole schema is replaced by what it means', () => {
  const definitions = { Args: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } };
  expect(readableSchema({ $ref: '#/definitions/Args', definitions }).schema).toEqual({
    ...definitions.Args,
    definitions,
  });
  expect(readableSchema({ $ref: 'https://elsewhere.test/args' }).schema).toEqual(nothing);
});

test('what older drafts say otherwise is translated, at any depth', () => {
  const { schema } = readableSchema({
    type: 'object',
    properties: {
      list: { type: 'array' },
      pair: { type: ['array', 'null'], items: [{ type: 'number', required: true }, { type: 'array' }] },
      more: { anyOf: [{ type: 'number', minimum: 1, exclusiveMinimum: true, exclusiveMaximum: false }] },
      less: { type: 'number', maximum: 2, exclusiveMaximum: false, minimum: 1 },
    },
    definitions: { deep: { type: 'array' } },
  });
  expect(schema).toEqual({
    type: 'object',
    properties: {
      list: { type: 'array', items: {} },
      pair: {
        type: ['array', 'null'],
        prefixItems: [{ type: 'number' }, { type: 'array', items: {} }],
        items: {},
      },
      more: { anyOf: [{ type: 'number', exclusiveMinimum: 1 }] },
      less: { type: 'number', maximum: 2, minimum: 1 },
    },
    definitions: { deep: { type: 'array', items: {} } },
  });
  expect(new Ajv2020().validateSchema(schema)).toBe(true);
});

test('arguments whose names no model takes, and choices at the top, are set apart', () => {
  const { schema, besides } = readableSchema({
    type: 'object',
    properties: { plain: {}, 'a.b-c': {}, $filter: { type: 'string' }, ['x'.repeat(65)]: {} },
    required: ['plain', '$filter'],
    additionalProperties: false,
    oneOf: [{ required: ['plain'] }],
  });
  expect(schema).toEqual({ type: 'object', properties: { plain: {}, 'a.b-c': {} }, required: ['plain'] });
  expect(besides).toEqual({
    oneOf: [{ required: ['plain'] }],
    properties: { $filter: { type: 'string' }, ['x'.repeat(65)]: {} },
    required: ['$filter'],
  });
});
