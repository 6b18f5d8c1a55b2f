import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expandBraces, isGlob, literalOf, matchGlob, matchPath } from './glob.ts';

describe('matchGlob', () => {
  test.each([
    ['click', 'click', true],
    ['click', 'clicks', false],
    ['browser_*', 'browser_click', true],
    ['browser_*', 'browser_', true],
    ['*', '', true],
    ['*', 'a/b.c', true],
    ['?', '', false],
    ['?', '🎭', true],
    ['get_?', 'get_ab', false],
    ['{get,list}_*', 'list_files', true],
    ['{get,list}_*', 'set_files', false],
    ['a{b,c{d,e}}f', 'acef', true],
    ['a{b,c{d,e}}f', 'acf', false],
    ['a{,b}c', 'ac', true],
    ['{a*,*b}', 'xxb', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['[abc', '[abc', true],
    ['{abc}', '{abc}', true],
    ['{a,b', '{a,b', true],
    ['a,b', 'a,b', true],
    ['[{,}]', ',', true],
    ['\\*', '*', true],
    ['\\*', 'x', false],
    ['\\{a,b\\}', '{a,b}', true],
    ['a.c', 'abc', false],
    ['(a+)+$', '(a+)+$', true],
    ['Click', 'click', false],
  ])('%j against %j: %j', (pattern, text, expected) => {
    expect(matchGlob(pattern, text)).toBe(expected);
  });

  test('a text without wildcards matches itself only', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        const pattern = a.replace(/[\\*?[\]{},]/g, '\\$&');
        expect(matchGlob(pattern, a)).toBe(true);
        expect(matchGlob(pattern, b)).toBe(a === b);
      }),
    );
  });

  test('agrees with the regular expression that means the same', () => {
    const part = fc.constantFrom('a', 'b', '*', '?', '[ab]', '[!a]', '{a,bb}', '{,a*}');
    const asRegExp: Record<string, string> = {
      '*': '.*',
      '?': '.',
      '[!a]': '[^a]',
      '{a,bb}': '(?:a|bb)',
      '{,a*}': '(?:|a.*)',
    };
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.stringMatching(/^[abc]{0,8}$/), (parts, text) => {
        const expected = new RegExp(`^${parts.map((p) => asRegExp[p] ?? p).join('')}$`).test(text);
        expect(matchGlob(parts.join(''), text)).toBe(expected);
      }),
      { numRuns: 2000 },
    );
  });

  test('patterns that make a backtracking matcher run for years are answered at once', () => {
    expect(matchGlob('*a'.repeat(200) + 'b', 'a'.repeat(2000))).toBe(false);
    expect(matchGlob('{a,a*}'.repeat(100) + 'b', 'a'.repeat(500))).toBe(false);
    expect(matchGlob('{a,{a,{a,b}}}'.repeat(100), 'a'.repeat(101))).toBe(false);
    expect(matchGlob('{'.repeat(5000), '{'.repeat(5000))).toBe(true);
    expect(matchGlob('['.repeat(5000), '['.repeat(5000))).toBe(true);
  });

  test('any pattern returns a result for any text', () => {
    const wild = fc.array(fc.constantFrom('*', '?', '[', ']', '{', '}', ',', '\\', '!', '-', 'a', '💥'), {
      maxLength: 30,
    });
    fc.assert(
      fc.property(wild, fc.string(), (parts, text) => typeof matchGlob(parts.join(''), text) === 'boolean'),
    );
  });
});

test.each([
  ['a/b', 'a/b', true],
  ['a/*', 'a/b/c', false],
  ['a/**', 'a', true],
  ['a/**', 'a/b/c', true],
  ['**/c', 'a/b/c', true],
  ['**/b/**/d', 'a/b/c/b/d', true],
  ['**/b/**/d', 'a/c/d', false],
  ['*', '', true],
  ['a', 'b/a', false],
])('the path pattern %j against %j: %j', (pattern, path, expected) => {
  expect(matchPath(pattern.split('/'), path.split('/'))).toBe(expected);
});

test('expandBraces lists the patterns in the order written and gives up on too many', () => {
  expect(expandBraces('a{b,c}d{1,2}')).toEqual(['abd1', 'abd2', 'acd1', 'acd2']);
  expect(expandBraces('{.x/y,z}/*')).toEqual(['.x/y/*', 'z/*']);
  expect(expandBraces('{a,{b,c}}')).toEqual(['a', 'b', 'c']);
  expect(expandBraces('plain{x}')).toEqual(['plain{x}']);
  expect(expandBraces('{a,b}'.repeat(40))).toBeUndefined();
});

test('a pattern without wildcards is recognised, and the text it matches is known', () => {
  expect(isGlob('.mcp.json')).toBe(false);
  expect(isGlob('a*')).toBe(true);
  expect(isGlob('\\*')).toBe(false);
  expect(literalOf('\\*[x')).toBe('*[x');
});
