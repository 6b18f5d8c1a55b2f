import { describe, expect, it } from 'vitest';
import { createMatcher } from './line-matcher.ts';

const LINES = ['GET /users 200', 'Error: no such user', 'error(5): again', 'total: 3.5'];

async function found(lines: readonly string[], ...search: Parameters<typeof createMatcher>) {
  const matcher = createMatcher(...search);
  try {
    return await matcher.matching(lines);
  } finally {
    matcher.close();
  }
}

describe('createMatcher', () => {
  it.each([
    ['an expression', 'GET|total', ['GET /users 200', 'total: 3.5']],
    ['a pattern without capitals in any case', 'error', ['Error: no such user', 'error(5): again']],
    ['a pattern with a capital as it is', 'Error', ['Error: no such user']],
    ['a class that is written with a capital in any case', '^get\\S*\\W', ['GET /users 200']],
    ['what is no valid expression as plain text', 'error(', ['error(5): again']],
    ['nothing that does not occur', 'nowhere', []],
  ])('finds %s', async (_, pattern, lines) => {
    expect(await found(LINES, pattern)).toEqual(lines);
  });

  it('treats the pattern as plain text if requested', async () => {
    expect(await found(['3x5', '3.5'], '3.5', { fixed: true })).toEqual(['3.5']);
    expect(await found(['a[b', 'ab'], '[', { fixed: true })).toEqual(['a[b']);
  });

  it('gives up on an expression that would take forever, while everything else goes on', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    try {
      await expect(found([`${'a'.repeat(60)}b`], '^(a+)+$', { timeoutMs: 200 })).rejects.toMatchObject({
        code: 'GREP_TIMEOUT',
        hint: expect.stringContaining('--fixed') as string,
      });
    } finally {
      clearInterval(timer);
    }
    expect(turns).toBeGreaterThan(2);
  });

  it('searches several times with one expression', async () => {
    const matcher = createMatcher('^a|b$');
    expect(await matcher.matching(['ax', 'x'])).toEqual(['ax']);
    expect(await matcher.matching([])).toEqual([]);
    expect(await matcher.matching(['x', 'xb'])).toEqual(['xb']);
    matcher.close();
  });

  it('refuses a pattern that nobody would write', () => {
    expect(() => createMatcher('x'.repeat(1001))).toThrow('longer than 1000 characters');
  });
});
