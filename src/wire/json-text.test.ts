import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonItems, memberText, jsonMembers, withMembers } from './json-text.ts';

/** JSON values as text, written in many ways: odd spaces, escapes, numbers that no double represents exactly. */
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const padded = (text: fc.Arbitrary<string>) => fc.tuple(space, text, space).map((parts) => parts.join(''));
const escaped = fc.string({ unit: 'binary', maxLength: 8 }).map(
  (text) =>
    `"${Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
      .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
      .join('')}"`,
);
const stringText = fc.oneof(
  fc
    .string({ unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', 'a', '\n', 'é', '💥') })
    .map((text) => JSON.stringify(text)),
  escaped,
  fc.constantFrom(
    '"\\/"',
    '"\\\\"',
    '"\\\\\\""',
    '"__proto__"',
    '"\\u005f_proto__"',
    '"a"',
    '"\\u0061"',
    '"toString"',
  ),
);
/**
 * V8 as of Node 24 reads some keys with escapes wrongly ("\\/" as a backslash), so it cannot be the reference for
 * those.
 */
const keyText = stringText.filter((text) => !text.includes('\\'));
const scalarText = fc.oneof(
  stringText,
  fc.constantFrom('1.0', '-0', '1E400', '12345678901234567890', '1e-5', 'true', 'false', 'null', '0'),
);
const { value: valueText } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, scalarText, tie('object'), tie('array')),
  object: fc
    .array(fc.tuple(padded(keyText), padded(tie('value'))), { maxLength: 5 })
    .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
  array: fc.array(padded(tie('value')), { maxLength: 5 }).map((items) => `[${items.join(',')}]`),
}));
const objectText = padded(
  fc
    .array(fc.tuple(padded(keyText), padded(valueText)), { maxLength: 6 })
    .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
);

/** The result of a parser, with `__proto__` as an ordinary key, as for JSON.parse. */
const asMap = (object: string) => new Map<string, unknown>(Object.entries(JSON.parse(object)));

test('keys with escapes are what they spell', () => {
  const text = '{"":"","\\/":1,"\\\\":2,"\\"":3,"\\u005f_proto__":4,"\\n":5}';
  expect(jsonMembers(text).map(({ key }) => key)).toEqual(['', '/', '\\', '"', '__proto__', '\n']);
  expect(memberText(text, '__proto__')).toBe('4');
  expect(withMembers(text, { '/': '9' })).toBe(text.replace(':1', ':9'));
});

describe('what is found is what a parser sees', () => {
  test('members, in order, the last of two winning', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const members = jsonMembers(text);
        const parsed = asMap(text);
        expect(new Map(members.map(({ key, valueText }) => [key, JSON.parse(valueText)]))).toEqual(parsed);
        for (const { key, keyText } of members) expect(JSON.parse(keyText)).toBe(key);
        for (const [key, value] of parsed) expect(JSON.parse(memberText(text, key)!)).toEqual(value);
      }),
      { numRuns: 1000 },
    );
  });

  test('items, in order', () => {
    fc.assert(
      fc.property(padded(fc.array(padded(valueText)).map((items) => `[${items.join(',')}]`)), (text) => {
        expect([...jsonItems(text)].map((item) => JSON.parse(item))).toEqual(JSON.parse(text));
      }),
      { numRuns: 1000 },
    );
  });

  test('changed members, and all others with their text', () => {
    const key = stringText.map((text) => JSON.parse(text) as string);
    const changes = fc
      .array(fc.tuple(key, fc.option(valueText, { nil: undefined })), { maxLength: 4 })
      .map((entries) => new Map(entries));
    fc.assert(
      fc.property(objectText, changes, (text, wanted) => {
        const result = withMembers(text, wanted);
        const expected = asMap(text);
        for (const [name, value] of wanted) {
          if (value === undefined) expected.delete(name);
          else expected.set(name, JSON.parse(value));
        }
        expect(asMap(result)).toEqual(expected);
        const untouched = (object: string) => jsonMembers(object).filter(({ key }) => !wanted.has(key));
        expect(untouched(result)).toEqual(untouched(text));
        for (const [name, value] of wanted) {
          const found = jsonMembers(result).filter((member) => member.key === name);
          expect(found.map((member) => member.valueText)).toEqual(value === undefined ? [] : [value]);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

test('texts come back as they were written', () => {
  const text = ' {\n "a\\u0062" : 1.0 ,\t"n":-0E+2,"s":"\\/\\"}","o":{ "x" : [ ] } , "e":{}} \n';
  expect(jsonMembers(text)).toEqual([
    { key: 'ab', keyText: '"a\\u0062"', valueText: '1.0' },
    { key: 'n', keyText: '"n"', valueText: '-0E+2' },
    { key: 's', keyText: '"s"', valueText: '"\\/\\"}"' },
    { key: 'o', keyText: '"o"', valueText: '{ "x" : [ ] }' },
    { key: 'e', keyText: '"e"', valueText: '{}' },
  ]);
  expect(memberText(text, 'ab')).toBe('1.0');
  expect(memberText(text, 'toString')).toBeUndefined();
  expect([...jsonItems('[ 1.50 , "a,]" ,[2, 3],null]')]).toEqual(['1.50', '"a,]"', '[2, 3]', 'null']);
  expect([...jsonItems(' [ ] ')]).toEqual([]);
  expect(jsonMembers(' { } ')).toEqual([]);
});

describe('changing members', () => {
  test('keeps the place and the spelling of the key, and adds what is new at the end', () => {
    const text = '{"x":1.0, "n\\u0061me":"old","y":1e400}';
    expect(withMembers(text, { name: '"new"', z: '2', x: undefined })).toBe(
      '{"n\\u0061me":"new","y":1e400,"z":2}',
    );
  });

  test('a replaced key that stood twice stands once; a removed one is gone; others are left alone', () => {
    const text = '{"a":1,"b":2,"a":3,"c":4,"c":5,"d":6,"d":7}';
    expect(withMembers(text, { a: '0', c: undefined })).toBe('{"a":0,"b":2,"d":6,"d":7}');
  });

  test('"__proto__" is a key like others', () => {
    expect(withMembers('{"__proto__":1}', new Map([['__proto__', '{}']]))).toBe('{"__proto__":{}}');
    expect(withMembers('{}', new Map([['__proto__', '1']]))).toBe('{"__proto__":1}');
    expect(memberText('{"a":1}', '__proto__')).toBeUndefined();
  });

  test('an object can be emptied and filled', () => {
    expect(withMembers('{"a":1}', { a: undefined })).toBe('{}');
    expect(withMembers(' { } ', { 'q"': 'null' })).toBe('{"q\\"":null}');
  });
});

test('nesting of any depth and runs of backslashes of any length are only walked over', () => {
  const deep = '[{"a":'.repeat(200_000) + '1' + '}]'.repeat(200_000);
  expect(jsonMembers(`{"deep":${deep},"b":2}`).map(({ key }) => key)).toEqual(['deep', 'b']);
  expect([...jsonItems(deep)]).toHaveLength(1);
  const slashes = `"${'\\\\'.repeat(500_000)}"`;
  expect([...jsonItems(`[${slashes},${slashes}]`)]).toEqual([slashes, slashes]);
  const quotes = `"${'\\"'.repeat(500_000)}"`;
  expect([...jsonItems(`[${quotes},1]`)]).toEqual([quotes, '1']);
});

test.each([
  '',
  ' ',
  '1',
  '"{}"',
  'null',
  '[',
  '{',
  '{"a"',
  '{"a":',
  '{"a":1',
  '{a:1}',
  '{"a":1}}',
  '{"a":1,}',
  '{"a" 1}',
])('the text %j is no object and no array, and that is said without showing it', (text) => {
  expect(() => jsonMembers(text)).toThrow('Not the text of a JSON object');
  expect(() => memberText(text, 'a')).toThrow('Not the text of a JSON object');
  expect(() => withMembers(text, {})).toThrow('Not the text of a JSON object');
  expect(() => [...jsonItems(text)]).toThrow('Not the text of a JSON array');
});

test.each(['[', '[1', '[1 2]', '[1,', '[1]]', '["a', '[[1]', '{}'])('the text %j is no array', (text) => {
  expect(() => [...jsonItems(text)]).toThrow('Not the text of a JSON array');
});
