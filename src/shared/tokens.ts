/**
 * Estimates how many tokens a text costs a model, without a tokenizer (a megabyte of tables, and no two models share
 * one). Splits the text as byte-pair tokenizers do before they look anything up, and weighs each piece by its kind and
 * length. The weights are fitted to o200k: within 2 % on the tool lists they were fitted to, mostly within 15 % on
 * other text.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const start = at;
    const kind = kindAt(text, at);
    at = endOfRun(text, at, kind);
    switch (kind) {
      case LOWER:
      case UPPER:
        tokens += word(text, start, at);
        break;
      case DIGIT:
        tokens += Math.ceil((at - start) / 3);
        break;
      case BLANK:
        // A single space before a word or a symbol is part of it; more spaces, and one before a number, count.
        if (at - start > 1 || at === text.length || kindAt(text, at) === DIGIT || text[start] !== ' ')
          tokens += 1;
        break;
      case SIGN:
        tokens += signs(text, start, at);
        break;
      default:
        tokens += (at - start) * (FOREIGN_WEIGHT[kind] ?? 0);
    }
  }
  return Math.round(tokens);
}

const BLANK = 0;
const SIGN = 1;
const DIGIT = 2;
const LOWER = 3;
const UPPER = 4;
const FOREIGN_LATIN = 5;
const GREEK = 6;
const CYRILLIC = 7;
const OTHER_ALPHABET = 8;
const HAN = 9;
const KANA = 10;
const HANGUL = 11;
const FOREIGN_SIGN = 12;
const SURROGATE = 13;

// Tokens per UTF-16 code unit.
const FOREIGN_WEIGHT: readonly number[] = [0, 0, 0, 0, 0, 0.6, 0.45, 0.26, 0.33, 0.72, 0.65, 0.62, 0.9, 0.9];

const ASCII_KIND = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code <= 0x20) return BLANK;
  if (code >= 0x30 && code <= 0x39) return DIGIT;
  if (code >= 0x41 && code <= 0x5a) return UPPER;
  return code >= 0x61 && code <= 0x7a ? LOWER : SIGN;
});

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return ASCII_KIND[code] ?? SIGN;
  if (code < 0xc0) return code === 0xa0 ? BLANK : FOREIGN_SIGN;
  if (code < 0x370) return FOREIGN_LATIN;
  if (code < 0x400) return GREEK;
  if (code < 0x530) return CYRILLIC;
  if (code < 0x1e00) return code >= 0x1100 && code < 0x1200 ? HANGUL : OTHER_ALPHABET;
  if (code < 0x2000) return code < 0x1f00 ? FOREIGN_LATIN : GREEK;
  if (code < 0x3040) return FOREIGN_SIGN;
  if (code < 0x3100) return KANA;
  if (code >= 0xac00 && code < 0xd7b0) return HANGUL;
  if (code >= 0xd800 && code < 0xe000) return SURROGATE;
  return code < 0xa000 ? HAN : FOREIGN_SIGN;
}

/** A word ends where a capital follows a lower-case letter; any other run ends where the kind of character changes. */
function endOfRun(text: string, start: number, kind: number): number {
  let at = start + 1;
  if (kind === UPPER) while (at < text.length && kindAt(text, at) === UPPER) at++;
  const rest = kind === UPPER ? LOWER : kind;
  while (at < text.length && kindAt(text, at) === rest) at++;
  return at;
}

/** Short words are one token. How long "short" is depends on what precedes it: a space, a symbol, or nothing. */
function word(text: string, start: number, end: number): number {
  const length = end - start;
  const before = start === 0 ? BLANK : kindAt(text, start - 1);
  // Several capitals, and letters between digits (hashes, encoded data), are seldom in the tables.
  const capitals = length > 1 && kindAt(text, start + 1) === UPPER;
  if (capitals || before === DIGIT)
    return Math.max(1, length / (before === BLANK || before === SIGN ? 3 : 2));
  if (length > 16) return length / 4.5;
  return before === BLANK ? 1.01 + Math.max(0, length - 10) * 0.08 : 1.03 + Math.max(0, length - 7) * 0.12;
}

/** Symbols come in common groups of two to four (`":{"`, `"},`); a row of equal ones is a few tokens at most. */
function signs(text: string, start: number, end: number): number {
  // A single symbol before a word is mostly part of it, as in `_file` or `.json`, unless a space precedes both.
  const alone = end - start === 1 && end < text.length && text[start - 1] !== ' ';
  if (alone && (kindAt(text, end) === LOWER || kindAt(text, end) === UPPER)) return 0.2;
  let changes = 1;
  for (let at = start + 1; at < end; at++) if (text.charCodeAt(at) !== text.charCodeAt(at - 1)) changes++;
  const length = Math.min(end - start, changes + (end - start) / 16);
  return length <= 3 ? 1 : 1 + (length - 3) * 0.38;
}
