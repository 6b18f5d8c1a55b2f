import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

const nodes = (text: string): string => createHash('sha256').update(text).digest('hex');

test('matches the known test values of SHA-256', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});

test('matches Node for every length around block boundaries', () => {
  for (let length = 0; length < 300; length++) {
    const text = String.fromCharCode(...Array.from({ length }, (_, at) => 32 + ((at * 31 + length) % 95)));
    expect(sha256(text)).toBe(nodes(text));
  }
});

test.each(['/home/jürgen/Büro', '/проект\0web', '\ud800 half a character', '𝄞'.repeat(5000), '\uffff\0'])(
  'matches Node for %j',
  (text) => {
    expect(sha256(text)).toBe(nodes(text));
    // The second time it is remembered, and another one in between does not change it.
    expect(sha256(text)).toBe(nodes(text));
    expect(sha256(`${text}.`)).toBe(nodes(`${text}.`));
    expect(sha256(text)).toBe(nodes(text));
  },
);
