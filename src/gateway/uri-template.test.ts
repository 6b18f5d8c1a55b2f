import { UriTemplate as SdkTemplate } from '@modelcontextprotocol/sdk/shared/uriTemplate.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTemplate, stepsTaken } from './uri-template.ts';

const matches = (template: string, uri: string) => readTemplate(template)?.matches(uri);

test.each([
  ['a://b', 'a://b', true],
  ['a://b', 'a://bc', false],
  ['', '', true],
  ['users://{id}', 'users://7', true],
  ['users://{id}', 'users://', false],
  ['users://{id}', 'users://7/x', false],
  ['users://{id}', 'other://7', false],
  ['users://{id}/profile', 'users://7/profile', true],
  ['users://{id}/profile', 'users://7/8/profile', false],
  ['users://{id}/profile', 'users:///profile', false],
  ['x://{a}-{b}', 'x://1-2-3', true],
  ['x://{a}-{b}', 'x://1', false],
  ['x://{a}{b}', 'x://1', false],
  ['x://{a,b}', 'x://1,2', true],
  ['x://{list*}', 'x://1,2,3', true],
  ['x://{id}', 'x://100%25?y#z', true],
  ['x://{user-id}', 'x://7', true],
  ['x://{id:3}', 'x://abc', true],
  ['file:///{+path}', 'file:///a/b?c#d', true],
  ['file:///{+path}', 'file:///', true],
  ['file:///{+path}.txt', 'file:///a.txt/b.txt', true],
  ['file:///{+path}.txt', 'file:///a.txt/b', false],
  ['page{#at}', 'page#top', true],
  ['page{#at}', 'page', true],
  ['repo://r{/path}', 'repo://r/a', true],
  ['repo://r{/path}', 'repo://r', true],
  ['repo://r{/path}', 'repo://rx', false],
  ['repo://r{/path}', 'repo://r/a/b', false],
  ['repo://r{/a,b}', 'repo://r/a/b', true],
  ['repo://r{/a,b}', 'repo://r/a/b/c', false],
  ['repo://r{/path*}', 'repo://r/a/b/c', true],
  ['repo://r{/path*}/end', 'repo://r/a/b/end', true],
  ['{/a}{/b}', '/1/2', true],
  ['{/a}{/b}', '/1/2/3', false],
  ['file{.kind}', 'file.txt', true],
  ['file{.kind}', 'filetxt', false],
  ['file{.kind*}', 'file.tar.gz', true],
  ['file{.kind}/x', 'file.a/b/x', false],
  ['x{;a,b}', 'x;a=1;b', true],
  ['s://q{?a,b}', 's://q', true],
  ['s://q{?a,b}', 's://q?a=1&b=2', true],
  ['s://q{?a,b}', 's://q?b=2', true],
  ['s://q{?a,b}', 's://q?b=2&a=', true],
  ['s://q{?a,b}', 's://q?c=2', false],
  ['s://q{?a,b}', 's://q?a=1&c=2', false],
  ['s://q{?a,b}', 's://q?', false],
  ['s://q{?a,b}', 's://q?a', false],
  ['s://q{?a}', 's://q?a=x/y?z#w', true],
  ['s://q{?a}{?b}', 's://q?a=1&b=2', true],
  ['s://q{?a}{&b}/end', 's://q?a=1&b=2/end', true],
  ['s://q{?rest*}', 's://q?any=1&key=2&flag', true],
  ['s://q?fixed=1{&a}', 's://q?fixed=1&a=2', true],
  ['s://q?fixed=1{&a}', 's://q?fixed=1?a=2', false],
  ['s://q?fixed=1{&a}', 's://q?fixed=1', true],
  ['s://q{?id:3}', 's://q?id=abc', true],
  ['s://q{?a}&b=9', 's://q?a=1&b=9', true],
  ['a.c{x}', 'abc1', false],
  ['(a+)+{x}', '(a+)+1', true],
  ['{a}ab{b}', 'aabab', true],
  ['{a}aab', 'aaab', true],
])('%j and %j: %j', (template, uri, expected) => {
  expect(matches(template, uri)).toBe(expected);
});

test('the more literal text a template has, the more specific it is', () => {
  const length = (template: string) => readTemplate(template)!.literalLength;
  expect(length('users://{id}/profile')).toBe(16);
  expect(length('{+anything}')).toBe(0);
  expect(length('plain')).toBe(5);
});

describe('what cannot be used is refused', () => {
  test.each(['{', '}', 'a{b', 'a}b', '{a{b}}', '{a}}', '{}', '{ }', '{,}', '{*}', '{+}', '{/}', 'x{a}{'])(
    '%j',
    (text) => {
      expect(readTemplate(text)).toBeUndefined();
    },
  );

  test('by its size too', () => {
    expect(readTemplate('a'.repeat(2048))).toBeDefined();
    expect(readTemplate('a'.repeat(2049))).toBeUndefined();
    expect(readTemplate('{a}'.repeat(64))).toBeDefined();
    expect(readTemplate('{a}'.repeat(65))).toBeUndefined();
    expect(matches('{+a}', 'x'.repeat(8192))).toBe(true);
    expect(matches('{+a}', 'x'.repeat(8193))).toBe(false);
  });
});

/** Templates with every operator, and literals that look like the expansions. */
const literal = fc.stringMatching(/^[a-c/:.?&=#-]{0,4}$/);
const operator = fc.constantFrom('', '+', '#', '.', '/', '?', '&');
const expression = fc.record({
  operator,
  names: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'a.b', 'long_name'), { minLength: 1, maxLength: 3 }),
  exploded: fc.boolean(),
});
type Expression = typeof expression extends fc.Arbitrary<infer T> ? T : never;
const written = ({ operator, names, exploded }: Expression) =>
  `{${operator}${names.map((name) => name + (exploded ? '*' : '')).join(',')}}`;
const pieces = fc.array(fc.oneof(literal, expression), { maxLength: 6 });
const textOf = (parts: readonly (string | Expression)[]) =>
  parts.map((part) => (typeof part === 'string' ? part : written(part))).join('');
const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 });
const values = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'a.b', 'long_name'), value, {
  minKeys: 5,
  maxKeys: 5,
  noNullPrototype: true,
});

describe('a URI that was made from the template matches it', () => {
  test('by the SDK', () => {
    // For several names the SDK omits the prefix and the encoding, and does not read them back either.
    const plain = (part: string | Expression) =>
      typeof part === 'string' || part.names.length === 1 || part.operator === '?' || part.operator === '&';
    fc.assert(
      fc.property(
        pieces.filter((parts) => parts.every(plain)),
        values,
        (parts, variables) => {
          const uri = new SdkTemplate(textOf(parts)).expand(variables);
          expect([textOf(parts), uri, matches(textOf(parts), uri)]).toEqual([textOf(parts), uri, true]);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('by the RFC, lists included', () => {
    const lists = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'a.b', 'long_name'),
      fc.oneof(value, fc.array(value, { minLength: 1, maxLength: 3 })),
      { minKeys: 5, maxKeys: 5, noNullPrototype: true },
    );
    fc.assert(
      fc.property(pieces, lists, (parts, variables) => {
        const uri = parts.map((part) => (typeof part === 'string' ? part : expand(part, variables))).join('');
        expect([textOf(parts), uri, matches(textOf(parts), uri)]).toEqual([textOf(parts), uri, true]);
      }),
      { numRuns: 2000 },
    );
  });

  test('and leaving out optional variables does not change that', () => {
    const optional = pieces.filter((parts) =>
      parts.every((part) => typeof part === 'string' || part.operator !== ''),
    );
    fc.assert(
      fc.property(optional, (parts) => {
        const uri = parts.filter((part) => typeof part === 'string').join('');
        expect(matches(textOf(parts), uri)).toBe(true);
      }),
    );
  });
});

test('what the SDK matches is matched', () => {
  const uriPart = fc.constantFrom(
    'a',
    'b',
    'c',
    '/',
    ',',
    '.',
    '?',
    '&',
    'a=',
    'b=',
    '?a=',
    '&b=',
    '#',
    ':',
    '\n',
  );
  const odd = fc.constantFrom(
    '{?}',
    '{;a}',
    '{a:3}',
    '{?a:3}',
    '{ a }',
    '{?a=b}',
    '{!a}',
    '{a*,b}',
    '{?a , b}',
  );
  const template = fc
    .array(
      fc.oneof({ weight: 4, arbitrary: literal }, { weight: 6, arbitrary: expression.map(written) }, odd),
      {
        maxLength: 4,
      },
    )
    .map((parts) => parts.join(''));
  // The URI is the template with each expression replaced by something that may match.
  const uri = (text: string) =>
    fc
      .array(fc.array(uriPart, { maxLength: 4 }), { minLength: 8, maxLength: 8 })
      .map((fills) => text.replace(/\{[^}]*\}/g, () => (fills.pop() ?? []).join('')));
  let matched = 0;
  fc.assert(
    fc.property(
      template.chain((text) => fc.tuple(fc.constant(text), uri(text))),
      ([text, made]) => {
        if (new SdkTemplate(text).match(made) === null) return;
        matched++;
        expect([text, made, matches(text, made)]).toEqual([text, made, true]);
      },
    ),
    { numRuns: 20_000 },
  );
  expect(matched).toBeGreaterThan(2000);
});

test('a template without expressions matches only itself', () => {
  const text = fc.string().filter((candidate) => !/[{}]/.test(candidate));
  fc.assert(
    fc.property(text, fc.string(), (template, other) => {
      expect(matches(template, template)).toBe(true);
      expect(matches(template, other)).toBe(other === template);
    }),
  );
});

describe('a hostile template takes no more than a few steps for each part and character', () => {
  // None starts or ends with a literal: that would decide the match at once, without trying any path.
  test.each([
    ['many runs', '{a}'.repeat(63) + '!{a}', 'a'.repeat(8190) + '!a'],
    ['many greedy runs', '{+a}x'.repeat(63) + '{+a}', 'x'.repeat(8192)],
    ['a long literal everywhere', `{+a}${'a'.repeat(1900)}b{+c}`, 'a'.repeat(8192)],
    ['a literal that nearly repeats', `{+a}${'ab'.repeat(900)}c{+c}`, 'ab'.repeat(4096)],
    ['many segments', '{/a*}'.repeat(63) + '!{+b}', '/'.repeat(8192)],
    ['many queries', '{?a}'.repeat(63) + '!{+b}', '?a=&'.repeat(2048)],
    ['separators only', '{+x}{?a,b}{?c*}!{+y}', '?'.repeat(8192)],
    ['a long key', `{+x}{?${'a'.repeat(1900)}}!{+y}`, '?' + 'a'.repeat(8191)],
    ['all at once', '{+b}{a}{/c*}{.d}{?e}{&f*}'.repeat(10) + 'z{+y}', '/.?e=&f'.repeat(1100)],
  ])('%s', (_name, text, uri) => {
    const parts = text.split(/(?=\{)|(?<=\})/).length;
    readTemplate(text)!.matches(uri);
    expect(stepsTaken()).toBeGreaterThan(uri.length);
    expect(stepsTaken()).toBeLessThanOrEqual(2 * parts * (uri.length + 1));
  });
});

/** RFC 6570, section 3.2, for strings and lists. */
function expand(part: Expression, variables: Record<string, string | string[]>): string {
  const reserved = part.operator === '+' || part.operator === '#';
  const named = part.operator === '?' || part.operator === '&';
  const encode = reserved ? encodeURI : encodeURIComponent;
  const separator = named ? '&' : part.operator === '.' || part.operator === '/' ? part.operator : ',';
  const items = part.names.flatMap((name) => {
    const given = variables[name]!;
    const list = (typeof given === 'string' ? [given] : given).map(encode);
    const texts = part.exploded ? list : [list.join(',')];
    return texts.map((text) => (named ? `${name}=${text}` : text));
  });
  return (part.operator === '+' ? '' : part.operator) + items.join(separator);
}
