import { describe, expect, test } from 'vitest';
import { readJsonArguments, readPairs } from './tool-arguments.ts';

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    deep: { type: 'boolean' },
    maybe: { type: ['integer', 'null'] },
    either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { anyOf: [{ type: 'array', items: { type: 'integer' } }, { type: 'null' }] },
    options: { type: 'object' },
    level: { enum: ['1', 'high', 2] },
    anything: {},
    linked: { $ref: '#/$defs/Linked' },
  },
};

describe('the schema decides what a value is', () => {
  test.each([
    ['text=hello', { text: 'hello' }],
    ['text=', { text: '' }],
    ['text=5', { text: '5' }],
    ['text={"a":1}', { text: '{"a":1}' }],
    ['text=a=b', { text: 'a=b' }],
    ['count=5', { count: 5 }],
    ['count=-5', { count: -5 }],
    ['ratio=1.5e3', { ratio: 1500 }],
    ['ratio=.5', { ratio: 0.5 }],
    ['deep=true', { deep: true }],
    ['deep=false', { deep: false }],
    ['maybe=null', { maybe: null }],
    ['maybe=3', { maybe: 3 }],
    ['either=3', { either: 3 }],
    ['either=three', { either: 'three' }],
    ['tags=["a","b"]', { tags: ['a', 'b'] }],
    ['tags=a', { tags: ['a'] }],
    ['sizes=7', { sizes: [7] }],
    ['sizes=null', { sizes: null }],
    ['options={"a":[1]}', { options: { a: [1] } }],
    ['level=1', { level: '1' }],
    ['level=2', { level: 2 }],
    ['anything=5', { anything: '5' }],
    ['anything=[1]', { anything: [1] }],
    ['linked={"a":1}', { linked: { a: 1 } }],
    ['linked=[not json', { linked: '[not json' }],
  ])('%s', (word, expected) => {
    expect(readPairs([word], schema)).toEqual(expected);
  });

  test('":=" is JSON whatever the schema says', () => {
    expect(readPairs(['text:=5', 'anything:={"a":null}'], schema)).toEqual({
      text: 5,
      anything: { a: null },
    });
  });

  test('a key given several times is a list', () => {
    expect(readPairs(['tags=a', 'tags=b', 'sizes=1', 'sizes=2'], schema)).toEqual({
      tags: ['a', 'b'],
      sizes: [1, 2],
    });
  });

  test('without a schema values are text, and JSON where they look like it', () => {
    expect(readPairs(['a=1', 'b={"c":true}'], undefined)).toEqual({ a: '1', b: { c: true } });
  });

  test('"__proto__" is a key like any other', () => {
    const args = readPairs(['__proto__=x'], { type: 'object' });
    expect(Object.keys(args)).toEqual(['__proto__']);
    expect(JSON.stringify(args)).toBe('{"__proto__":"x"}');
  });

  test('a schema that allows further properties types them', () => {
    const open = { type: 'object', properties: {}, additionalProperties: { type: 'number' } };
    expect(readPairs(['x=1'], open)).toEqual({ x: 1 });
  });
});

describe('mistakes are refused, with the next step', () => {
  test.each([
    ['txt=1', 'The tool has no argument "txt". Did you mean "text"?'],
    ['zzzzzzzz=1', 'It takes text, count,'],
    ['toString=1', 'The tool has no argument "toString".'],
    ['count=many', 'The argument "count" must be a whole number, not "many".'],
    ['count=', 'must be a whole number'],
    ['count=0x10', 'must be a whole number'],
    ['ratio=Infinity', 'must be a number'],
    ['deep=yes', 'must be true or false, not "yes".'],
    ['options=a', 'must be a JSON object'],
    ['options={a}', 'is not valid JSON'],
    ['tags=[a', 'is not valid JSON'],
    ['text:=hello', `is not valid JSON`],
    ['nothing', '"nothing" is not an argument. Use key=value'],
    ['=5', 'is not an argument'],
  ])('%s', (word, message) => {
    expect(explained(() => readPairs([word], schema))).toContain(message);
  });

  test('a key given twice that is no list', () => {
    expect(explained(() => readPairs(['count=1', 'count=2'], schema))).toContain(
      'given 2 times, but does not take an array',
    );
  });

  test('any key where the tool takes none', () => {
    expect(explained(() => readPairs(['a=1'], { type: 'object', properties: {} }))).toContain(
      'It takes no arguments.',
    );
  });

  test('arguments that are no JSON object', () => {
    expect(readJsonArguments('{"a":1}', 'stdin')).toEqual({ a: 1 });
    expect(explained(() => readJsonArguments('{a}', 'stdin'))).toContain(
      'The arguments in stdin are not valid JSON',
    );
    expect(explained(() => readJsonArguments('[1]', '--args'))).toContain('must be a JSON object');
  });
});

function explained(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as { explained: string }).explained;
  }
  return 'nothing was thrown';
}
