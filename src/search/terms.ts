import { stem } from './stem.ts';
import { EXPRESSIONS, LONG_FORMS, MEANINGS } from './thesaurus.ts';
import { STOP_WORDS, wordsOf } from './words.ts';

/** A word as it is searched for: its stem, and what it may also mean. */
export interface Term {
  readonly stem: string;
  readonly meanings: readonly string[];
}

/** The terms of what somebody wants, with the long forms of short ones. */
export function termsWanted(text: string, most: number): Term[] {
  const words = wordsOf(text).flatMap((word) => [word, ...(LONG_FORMS.get(word) ?? [])]);
  return termsOf(words.join(' '), most, WORDS_BETWEEN);
}

/** People put words between those of an expression: "press the big button". */
const WORDS_BETWEEN = 2;

/** Whether the words of an expression begin here, in their order, with no more than so many others between two of them. */
function isSaid(
  [, ...others]: readonly string[],
  stems: readonly string[],
  start: number,
  between: number,
): boolean {
  let at = start;
  for (const each of others) {
    const next = stems.slice(at + 1, at + 2 + between).indexOf(each);
    if (next === -1) return false;
    at += next + 1;
  }
  return true;
}

/** The terms of a text, in its order, without words that say nothing. No more than `most`. */
export function termsOf(text: string, most = Infinity, between = 0): Term[] {
  const words = wordsOf(text).map(knownWord);
  const stems = words.map((word) => word.stem);
  const terms: Term[] = [];
  for (let at = 0; at < stems.length && terms.length < most; at++) {
    const first = stems[at] as string;
    for (const { stems: expression, meanings } of EXPRESSIONS.get(first) ?? [])
      if (isSaid(expression, stems, at, between)) terms.push({ stem: expression.join('+'), meanings });
    const word = words[at] as Word;
    if (!word.isEmpty) terms.push(word);
  }
  return terms;
}

interface Word extends Term {
  /** Whether it says nothing. */
  readonly isEmpty: boolean;
}

/** The words of tools are mostly the same few thousand. */
const known = new Map<string, Word>();
const MOST_KNOWN = 20_000;

function knownWord(word: string): Word {
  let found = known.get(word);
  if (found === undefined) {
    const ownStem = stem(word);
    found = { stem: ownStem, meanings: MEANINGS.get(ownStem) ?? NONE, isEmpty: STOP_WORDS.has(word) };
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(word, found);
  }
  return found;
}

const NONE: readonly string[] = [];
