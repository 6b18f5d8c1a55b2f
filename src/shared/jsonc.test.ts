import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  JsoncError,
  locateJsonc,
  parseJsonc,
  parseJsoncWithRepeats,
  type JsoncNode,
  type RepeatedKey,
} from './jsonc.ts';

function failure(text: string): JsoncError {
  try {
    parseJsonc(text);
  } catch (error) {
    if (error instanceof JsoncError) return error;
    throw error;
  }
  throw new Error('no error');
}

test('comments, trailing commas and a byte-order mark are accepted', () => {
  const text = `\ufeff// first
  {
    "a": [1, -2.5e3, true, false, null,], /* inside
    "b": 0, */
    "url": "http://x//y /* no comment */",
  } // last`;
  expect(parseJsonc(text)).toEqual({ a: [1, -2500, true, false, null], url: 'http://x//y /* no comment */' });
});

test('every JSON value comes back the same with a comment added', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value, null, 2);
      expect(parseJsonc(`${text}\n// comment`)).toEqual(JSON.parse(text));
    }),
  );
});

test('keys that appear twice are reported in plain JSON as in JSON with a comment', () => {
  const key = fc.constantFrom('a', 'b', ':', '"', '\\', '\\"', '__proto__');
  const { text } = fc.letrec<{ text: string }>((tie) => ({
    text: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('1', 'null', '":"', '"\\\\"', '"{\\"a\\":1}"'),
      fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
      fc
        .array(fc.tuple(key, tie('text')), { maxLength: 4 })
        .map(
          (members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}: ${value}`).join(',\n')}}`,
        ),
    ),
  }));
  const read = (given: string): { value: unknown; repeats: RepeatedKey[] } => {
    const repeats: RepeatedKey[] = [];
    return { value: parseJsoncWithRepeats(given, (repeat) => repeats.push(repeat)), repeats };
  };
  fc.assert(
    fc.property(text, (plain) => {
      const found = read(plain);
      expect(found.value).toEqual(JSON.parse(plain));
      expect(found).toEqual(read(`${plain} // comment`));
    }),
  );
});

test('any text is parsed or refused with a JsoncError, and never refused where JSON.parse accepts', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ':',
    ',',
    '//',
    '/*',
    '*/',
    '\\',
    '1',
    'a',
    '\n',
    ' ',
    'true',
    '-',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      try {
        parseJsonc(text);
      } catch (error) {
        expect(error).toBeInstanceOf(JsoncError);
        expect(() => JSON.parse(text) as unknown).toThrow();
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'expected "," or "}" after the value'],
  ['{"a" 1}', 1, 6, 'expected ":" after the key'],
  ['{a: 1}', 1, 2, 'expected a key in double quotes, or "}"'],
  ['{\n"a": [1, 2', 2, 6, 'this "[" is never closed'],
  ['{"a": "x\n"}', 1, 7, 'this string is never closed'],
  ['{"a": "\\q",}', 1, 7, 'this string contains an unknown escape or a control character'],
  ["{'a': 1}", 1, 2, 'expected a key in double quotes, or "}"'],
  ['{"a": \'x\'}', 1, 7, 'strings need double quotes'],
  ['{} x', 1, 4, 'unexpected text after the end of the value'],
  ['  \n', 2, 1, 'the file is empty'],
  ['/* x', 1, 1, 'this comment is never closed'],
  ['{"a": 1, /* two */ "a": 2}', 1, 20, 'the key "a" appears twice'],
])('%j is refused with line, column and reason', (text, line, column, reason) => {
  expect(failure(text)).toMatchObject({ line, column, reason });
});

test('the excerpt of an error shows keys and structure but no value', () => {
  for (const text of [
    '{"env": {"TOKEN": "s3cret" "B": 5}}',
    '{"env": {"TOKEN": s3cret, "B": "x"}}',
    '{"env": {"TOKEN": "s3cret',
    '{"env": {"TOKEN": \'s3cret and s3cret\'}}',
    '{"env": {"TOKEN": s3cret", "B": "s3cret"}}',
    '["s3cret", 53cret]',
  ]) {
    expect(failure(text).message).not.toMatch(/[s5]3cret/);
  }
  expect(failure('{"env": {"TOKEN": "s3cret" "B": 5}}').excerpt).toBe('{"env": {"TOKEN": "…" "B": …}}');
});

test('"__proto__" is a plain key and changes no prototype', () => {
  for (const text of ['{"__proto__": {"x": 1}}', '{"__proto__": {"x": 1},}']) {
    const value = parseJsonc(text) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect((value as { x?: number }).x).toBeUndefined();
  }
});

test('nesting too deep is an error, not an exhausted stack', () => {
  expect(failure('['.repeat(100_000)).reason).toContain('nested deeper');
});

test.each([
  ['plain', ''],
  ['with a comment', '// x\n'],
])('a value may be nested 100 levels deep, %s, and no deeper', (_how, before) => {
  const nested = (depth: number): string => `${before}${'{"a":['.repeat(depth / 2)}${']}'.repeat(depth / 2)}`;
  expect(parseJsonc(nested(100))).toHaveProperty('a');
  expect(failure(nested(102)).reason).toBe('nested deeper than 100 levels');
});

test('every value is located, commas too', () => {
  const text = '// x\n{ "a" : [1, {}] /* , */ , "b": { "c": "}" } }';
  const root = locateJsonc(`\ufeff${text}`);
  const at = ({ start, end }: Pick<JsoncNode, 'start' | 'end'>): string => text.slice(start, end);
  const [a, b] = root.members!;
  expect(at(root)).toBe('{ "a" : [1, {}] /* , */ , "b": { "c": "}" } }');
  expect([at(a!.node), a!.key, text[a!.start], text[a!.comma!]]).toEqual(['[1, {}]', 'a', '"', ',']);
  expect(text.slice(0, a!.comma).endsWith('/* , */ ')).toBe(true);
  expect([at(b!.node), b!.comma, at(b!.node.members![0]!.node)]).toEqual(['{ "c": "}" }', undefined, '"}"']);
  expect(a!.node.members).toBeUndefined();
});

test('what is located is what is parsed, and what is refused is refused alike', () => {
  const part = fc.constantFrom('{', '}', '[', ']', '"a"', ':', ',', '/*x*/', '//x\n', '1', 'true', ' ', '\n');
  const text = fc.oneof(
    fc.array(part, { maxLength: 14 }).map((parts) => parts.join('')),
    fc.jsonValue().map((value) => JSON.stringify(value, null, 1)),
    fc.constant('{"a": 1, "a": {"b": 2}}'),
  );
  const outcome = (act: () => unknown): unknown => {
    try {
      return { value: act() };
    } catch (error) {
      return error;
    }
  };
  fc.assert(
    fc.property(text, (given) => {
      expect(outcome(() => locateJsonc(given).value)).toEqual(outcome(() => parseJsonc(given)));
    }),
    { numRuns: 2000 },
  );
});
