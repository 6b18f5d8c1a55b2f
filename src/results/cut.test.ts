import { describe, expect, test } from 'vitest';
import { betweenCharacters, headWithin, tailWithin } from './cut.ts';
import { tokensAtMost } from './tokens-at-most.ts';

const LINES = Array.from({ length: 500 }, (_, at) => `line ${at} of this text`).join('\n');

describe('the beginning of a text', () => {
  test('ends with a line, and costs no more than it may', () => {
    const end = headWithin(LINES, 200);
    expect(LINES[end - 1]).toBe('\n');
    expect(end).toBeGreaterThan(300);
    expect(tokensAtMost(LINES.slice(0, end))).toBeLessThanOrEqual(200);
  });

  test('ends within a line that is longer than all there is room for', () => {
    const end = headWithin(`short\n${'word '.repeat(10_000)}`, 100);
    expect(end).toBeGreaterThan(100);
  });

  test('is all of a text that fits', () => {
    expect(headWithin('one\ntwo', 100)).toBe(7);
    expect(headWithin('', 100)).toBe(0);
    expect(headWithin('one two three', -5)).toBe(0);
  });
});

describe('the end of a text', () => {
  test('begins with a line, and costs no more than it may', () => {
    const start = tailWithin(LINES, 200);
    expect(LINES[start - 1]).toBe('\n');
    expect(LINES.length - start).toBeGreaterThan(300);
    expect(tokensAtMost(LINES.slice(start))).toBeLessThanOrEqual(200);
  });

  test('is a part of the last line where that is very long', () => {
    const text = `short\n${'word '.repeat(10_000)}\n`;
    expect(text.length - tailWithin(text, 100)).toBeGreaterThan(100);
  });

  test('is all of a text that fits, and nothing where there is no room', () => {
    expect(tailWithin('one\ntwo', 100)).toBe(0);
    expect(tailWithin('one two three', -5)).toBe(13);
  });
});

test.each(['😀', '👩‍👩‍👧‍👦', 'e\u0301', '🇩🇪', 'ก็', '\r\n', '👍🏽'])('a cut is never inside %j', (character) => {
  const text = `a${character.repeat(3)}b`;
  const allowed = [0, 1, 2, 3].map((count) => 1 + count * character.length);
  for (let at = 1; at < text.length; at++) {
    expect(allowed).toContain(betweenCharacters(text, at, 'before'));
    expect(allowed).toContain(betweenCharacters(text, at, 'after'));
  }
});

test('lone surrogates and endless accents are cut somewhere', () => {
  expect(betweenCharacters('\ud800'.repeat(10), 5, 'before')).toBe(5);
  const accents = `a${'\u0301'.repeat(1000)}`;
  expect(betweenCharacters(accents, 500, 'before')).toBeGreaterThan(400);
});
