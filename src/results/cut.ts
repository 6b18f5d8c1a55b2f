import { MAX_CHARS_PER_TOKEN, tokensAtMost } from './tokens-at-most.ts';

/** How much of the beginning of a text fits into this many tokens, up to the end of a line if one is near. */
export function headWithin(text: string, tokens: number): number {
  const within = text.slice(0, Math.max(0, tokens) * MAX_CHARS_PER_TOKEN + 1);
  let end = 0;
  let left = tokens;
  for (let step = COARSE; step >= FINE; step /= 8) {
    while (end < within.length) {
      const cost = tokensAtMost(within.slice(end, end + step));
      if (cost > left) break;
      left -= cost;
      end = Math.min(end + step, within.length);
    }
  }
  if (end >= text.length) return text.length;
  const line = text.lastIndexOf('\n', end - 1) + 1;
  return line > end / 2 ? line : betweenCharacters(text, end, 'before');
}

/** The same for the end of a text: where it starts. */
export function tailWithin(text: string, tokens: number): number {
  const first = Math.max(0, text.length - Math.max(0, tokens) * MAX_CHARS_PER_TOKEN - 1);
  let start = text.length;
  let left = tokens;
  for (let step = COARSE; step >= FINE; step /= 8) {
    while (start > first) {
      const from = Math.max(start - step, first);
      const cost = tokensAtMost(text.slice(from, start));
      if (cost > left) break;
      left -= cost;
      start = from;
    }
  }
  if (start === 0) return 0;
  const line = text.indexOf('\n', start - 1) + 1;
  // No line begins after the last line break.
  const isNear = line > 0 && line < text.length && line - start <= (text.length - start) / 2;
  return isNear ? line : betweenCharacters(text, start, 'after');
}

const COARSE = 512;
const FINE = 8;

/**
 * The nearest position before or after `at` where a text may be cut: not inside what a reader sees as one character.
 */
export function betweenCharacters(text: string, at: number, side: 'before' | 'after'): number {
  if (at <= 0 || at >= text.length) return at;
  const from = Math.max(0, at - LONGEST_CHARACTER);
  const found = segmenter()
    .segment(text.slice(from, at + LONGEST_CHARACTER))
    .containing(at - from);
  if (found === undefined) return at;
  const start = from + found.index;
  if (start === at) return at;
  return side === 'before' ? start : start + found.segment.length;
}

/** In UTF-16 code units. Longer ones exist, but nobody can read them. */
const LONGEST_CHARACTER = 64;

let made: Intl.Segmenter | undefined;

function segmenter(): Intl.Segmenter {
  return (made ??= new Intl.Segmenter('en', { granularity: 'grapheme' }));
}
