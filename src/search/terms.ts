import { stem } from './stem.ts';
import { LONG_FORMS, OF_QUERIES, OF_TOOLS, type Vocabulary } from './thesaurus.ts';
import { STOP_WORDS, wordsOf } from './words.ts';

/** A word as it is searched for: its stem, and other words it may mean. */
export interface Term {
  readonly stem: string;
  readonly meanings: readonly string[];
}

/** The terms of a query, with abbreviations spelled out. */
export function termsWanted(text: string, most: number): Term[] {
  const words = wordsOf(text).flatMap((word) => [word, ...(LONG_FORMS.get(word) ?? [])]);
  return read(words.join(' '), OF_QUERIES, most, WORDS_BETWEEN);
}

/** People put words inside an expression: "press the big button". */
const WORDS_BETWEEN = 2;

/**
 * Whether the words of an expression begin here, in order, with no more than WORDS_BETWEEN others between two of them.
 */
function isSaid(
  expression: readonly string[],
  stems: readonly string[],
  start: number,
  between: number,
): boolean {
  let at = start;
  for (let word = 1; word < expression.length; word++) {
    const end = Math.min(stems.length, at + 2 + between);
    do at++;
    while (at < end && stems[at] !== expression[word]);
    if (at >= end) return false;
  }
  return true;
}

/** The stems of a text, without stop words. No more than `most`. */
export function stemsOf(text: string, most: number): string[] {
  return wordsOf(text)
    .filter((word) => !STOP_WORDS.has(word))
    .slice(0, most)
    .map(stemOf);
}

/** The terms of a text about a tool, in its order, without stop words. No more than `most`. */
export function termsOf(text: string, most = Infinity): Term[] {
  return read(text, OF_TOOLS, most, 0);
}

function read(text: string, { meanings, expressions }: Vocabulary, most: number, between: number): Term[] {
  const words = wordsOf(text);
  const stems = words.map(stemOf);
  const terms: Term[] = [];
  for (let at = 0; at < stems.length && terms.length < most; at++) {
    const first = stems[at] as string;
    for (const expression of expressions.get(first) ?? [])
      if (isSaid(expression.stems, stems, at, between))
        terms.push({ stem: expression.stems.join('+'), meanings: expression.meanings });
    if (!STOP_WORDS.has(words[at] as string))
      terms.push({ stem: first, meanings: meanings.get(first) ?? NONE });
  }
  return terms;
}

const NONE: readonly string[] = [];

/** Tools mostly use the same few thousand words. */
const known = new Map<string, string>();
const MOST_KNOWN = 20_000;

function stemOf(word: string): string {
  let found = known.get(word);
  if (found === undefined) {
    found = stem(word);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(word, found);
  }
  return found;
}
