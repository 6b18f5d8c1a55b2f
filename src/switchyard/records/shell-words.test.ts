import { describe, expect, test } from 'vitest';
import { joinWords, splitWords } from './shell-words.ts';

describe('the words of a command line', () => {
  test.each([
    ['npm run dev', ['npm', 'run', 'dev']],
    ['  a \t b\nc  ', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a'b'"c"d`, ['abcd']],
    [`'' "" x`, ['', '', 'x']],
    [`a\\ b \\'c`, ['a b', "'c"]],
    [`"a \\"b\\" \\$c \\d"`, ['a "b" $c \\d']],
    [`'a\\b "c"'`, ['a\\b "c"']],
    ['a \\\n b', ['a', 'b']],
    ['echo $HOME; rm -rf / && a | b > c # d', 'echo $HOME; rm -rf / && a | b > c # d'.split(' ')],
    ['', []],
    ['ünï "ćö dé"', ['ünï', 'ćö dé']],
  ])('%j are %j', (line, words) => expect(splitWords(line)).toEqual(words));

  test.each([
    [`a 'b`, `The ' at character 3 is never closed.`],
    [`a "b\\"`, `The " at character 3 is never closed.`],
    ['a\\', 'It ends with a backslash that escapes nothing.'],
  ])('%j is refused with its cause', (line, message) =>
    expect(() => splitWords(line)).toThrow(expect.objectContaining({ code: 'COMMAND_SYNTAX', message })),
  );

  test.each([
    { words: ['npm', 'run', 'dev', '--port', '20000'], line: 'npm run dev --port 20000' },
    { words: ['', 'a b', "it's", '$x', 'a;b'], line: `'' 'a b' 'it'\\''s' '$x' 'a;b'` },
  ])('$words are written $line, and read as the same again', ({ words, line }) => {
    expect(joinWords(words)).toBe(line);
    expect(splitWords(line)).toEqual(words);
  });
});
