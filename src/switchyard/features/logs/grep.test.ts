import { describe, expect, it } from 'vitest';
import { createMatcher } from './grep.ts';

const LINES = ['GET /users 200', 'Error: no such user', 'error(5): again', 'total: 3.5'];

describe('createMatcher', () => {
  it.each([
    ['an expression', 'GET|total', ['GET /users 200', 'total: 3.5']],
    ['a pattern without capitals in any case', 'error', ['Error: no such user', 'error(5): again']],
    ['a pattern with a capital as it is', 'Error', ['Error: no such user']],
    ['a class that is written with a capital in any case', '^get\\S*\\W', ['GET /users 200']],
    ['what is no valid expression as plain text', 'error(', ['error(5): again']],
    ['nothing that does not occur', 'nowhere', []],
  ])('finds %s', (_, pattern, found) => {
    expect(createMatcher(pattern).matching(LINES)).toEqual(found);
  });

  it('treats the pattern as plain text if requested', () => {
    expect(createMatcher('3.5', { fixed: true }).matching(['3x5', '3.5'])).toEqual(['3.5']);
    expect(createMatcher('[', { fixed: true }).matching(['a[b', 'ab'])).toEqual(['a[b']);
  });

  it('gives up on an expression that would take forever', () => {
    const matcher = createMatcher('^(a+)+$', { timeoutMs: 200 });
    expect(() => matcher.matching([`${'a'.repeat(60)}b`])).toThrow(
      expect.objectContaining({ code: 'GREP_TIMEOUT', hint: expect.stringContaining('--fixed') }),
    );
  });
});
