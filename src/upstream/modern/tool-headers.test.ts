import { describe, expect, test } from 'vitest';
import { headersIn } from './tool-headers.ts';

const tool = (properties: object, more: object = {}): string =>
  JSON.stringify({ name: 't', inputSchema: { type: 'object', properties, ...more } });
const text = (header: unknown, type: unknown = 'string'): object => ({ type, 'x-mcp-header': header });

test('a tool that asks for nothing has none', () => {
  expect(headersIn(tool({ a: { type: 'string' } }))).toEqual([]);
  expect(headersIn('{"name":"t"}')).toEqual([]);
});

test('annotated parameters are found wherever properties lead to them', () => {
  const nested = { type: 'object', properties: { size: text('Size', 'integer') } };
  expect(
    headersIn(tool({ region: text('Region'), deep: nested, on: text('On', ['boolean', 'null']) })),
  ).toEqual([
    { header: 'Region', path: ['region'] },
    { header: 'Size', path: ['deep', 'size'] },
    { header: 'On', path: ['on'] },
  ]);
});

test('a key that is written with escapes counts all the same', () => {
  const written = tool({ region: text('Region') }).replace('x-mcp-header', 'x\\u002dmcp-header');
  expect(headersIn(written)).toHaveLength(1);
});

test('data and names that only look like an annotation are none', () => {
  expect(
    headersIn(
      tool({
        'x-mcp-header': { type: 'string', default: { 'x-mcp-header': 1 } },
        other: { enum: [{ 'x-mcp-header': '' }] },
      }),
    ),
  ).toEqual([]);
});

describe('a tool cannot be used', () => {
  test.each([
    ['no name', tool({ a: text('') }), /not a valid header name/],
    ['a name with a blank', tool({ a: text('My Region') }), /not a valid header name/],
    ['a name with a line break', tool({ a: text('A\r\nB') }), /not a valid header name/],
    ['a number for a name', tool({ a: text(7) }), /not a valid header name/],
    ['the same name in other letters', tool({ a: text('Region'), b: text('REGION') }), /two parameters/],
    ['a parameter of type number', tool({ a: text('A', 'number') }), /not a string, integer or boolean/],
    ['an object as parameter', tool({ a: text('A', 'object') }), /not a string, integer or boolean/],
    ['no type at all', tool({ a: { 'x-mcp-header': 'A' } }), /not a string, integer or boolean/],
    ['the root', tool({}, { 'x-mcp-header': 'A' }), /is not on a parameter/],
    ['items of a list', tool({ a: { type: 'array', items: text('A') } }), /is not on a parameter/],
    ['one of several', tool({ a: { anyOf: [text('A')] } }), /is not on a parameter/],
    ['a condition', tool({}, { if: { properties: { a: text('A') } } }), /is not on a parameter/],
    ['a definition', tool({}, { $defs: { a: text('A') } }), /is not on a parameter/],
  ])('that asks for a header with %s', (_, written, why) => {
    expect(headersIn(written)).toMatch(why);
  });
});
