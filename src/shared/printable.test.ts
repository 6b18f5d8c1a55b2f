import { expect, test } from 'vitest';
import { plain, plainLine, printable, quoted, revealedLine } from './printable.ts';

test('codes that colour a terminal are removed from what a server wrote', () => {
  expect(plain('\u001b[1;31mError:\u001b[0m no token')).toBe('Error: no token');
  expect(plain('\u001b[38;2;1;2;3mred\u001b[39m \u001b[2K\u001b[1Gagain')).toBe('red again');
  expect(plain('\u009b31mred')).toBe('red');
  expect(plain('\u001b]0;title\u0007a\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u001b\\ \u001b(Bb')).toBe(
    'alink b',
  );
});

test('what is no complete code stays visible', () => {
  expect(plain('a\u001b[31')).toBe('a\\x1b[31');
  expect(plain('a\u001b]0;never ends')).toBe('a\\x1b]0;never ends');
  expect(plain('a\u001bb\u0007')).toBe('a\\x1bb\\x07');
});

test.each([
  ['zero width space', 'git\u200bhub', 'git\\u{200b}hub'],
  ['joiner between letters', 'git\u200dhub', 'git\\u{200d}hub'],
  ['byte order mark', '\ufeffx', '\\u{feff}x'],
  ['bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
  ['tag', 'a\u{e0041}', 'a\\u{e0041}'],
  ['soft hyphen', 'a\u00adb', 'a\\xadb'],
  ['selectors behind an emoji', '🙂\ufe0f\ufe01\ufe02', '🙂\ufe0f\\u{fe01}\\u{fe02}'],
  ['joiners in a row', 'é\u200d\u200dé', 'é\\u{200d}\\u{200d}é'],
  ['control character', 'a\u0007\u0085', 'a\\x07\\x85'],
])('an invisible %s is made visible', (_what, text, shown) => {
  expect(printable(text)).toBe(shown);
});

test.each([
  'naïve Größe',
  '日本語\u3000한국어',
  '👨\u200d👩\u200d👧',
  '❤\ufe0f\u200d🔥',
  '1\ufe0f\u20e3',
  'می\u200cخواهم',
])('what shapes a script or an emoji stays: %s', (text) => {
  expect(printable(text)).toBe(text);
});

test('text that a user has to judge is shown in full', () => {
  expect(printable('rm\u001b[2K -rf')).toBe('rm\\x1b[2K -rf');
});

test('one line stays one line', () => {
  expect(plainLine('a\n\tb')).toBe('a\\n\\tb');
});

test('a quotation is one line, ends where ours goes on, and is cut', () => {
  expect(quoted('  It said "no".\n\u001b[31mReally\u001b[0m ')).toBe(`"It said 'no'. Really"`);
  expect(quoted('abcdef', 3)).toBe('"abc…"');
});

test.each([
  ['zero width space', '\u200b'],
  ['joiner', '\u200d'],
  ['byte order mark', '\ufeff'],
  ['bidirectional override', '\u202e'],
  ['bidirectional isolate', '\u2066'],
  ['Arabic letter mark', '\u061c'],
  ['tag', '\u{e0041}'],
  ['variation selector', '\ufe0f'],
  ['supplementary variation selector', '\u{e0101}'],
  ['Hangul filler', '\u3164'],
  ['Hangul choseong filler', '\u115f'],
  ['halfwidth Hangul filler', '\uffa0'],
  ['soft hyphen', '\u00ad'],
  ['braille without dots', '\u2800'],
  ['no-break space', '\u00a0'],
  ['line separator', '\u2028'],
])('what somebody agrees to has no invisible %s', (_what, character) => {
  const shown = revealedLine(`rm${character}x`);
  expect(shown).toMatch(/^rm\\(?:u\{[\da-f]+\}|x[\da-f]{2})x$/);
});

test('what can be seen stays as it is', () => {
  expect(revealedLine('npx -y naïve-Größe 日本語 한국어 🙂')).toBe('npx -y naïve-Größe 日本語 한국어 🙂');
});
