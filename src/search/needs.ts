import { STOP_WORDS, wordsOf } from './words.ts';

/**
 * Splits a query into its needs: "create a branch; push the files" has two. Commas and "and" separate only what could
 * be asked for by itself, so "search and replace text" is one need, and so is anything `isName` accepts.
 */
export function needsIn(query: string, isName: (text: string) => boolean = () => false): string[] {
  const parts = splitAt(query, /[;\n]+|,?\s+(?:and\s+)?then\s+/gi, () => true)
    .flatMap((part) =>
      isName(part) ? [part] : splitAt(part, /,?\s+(?:and(?:\s+also)?|&)\s+|,\s+/gi, areNeeds),
    )
    .map((part) => part.trim())
    .filter((part) => part !== '');
  return parts.length === 0 ? [query.trim()] : parts.slice(0, MOST_NEEDS);
}

const MOST_NEEDS = 4;

/** Splits a text at those joints whose sides are separate needs. Quoted text is not split. */
function splitAt(text: string, joint: RegExp, areApart: (left: string, right: string) => boolean): string[] {
  const unquoted = text.replace(/"[^"]*"|`[^`]*`|(?<!\S)'[^']*'/g, (quoted) => '_'.repeat(quoted.length));
  const joints = [...unquoted.matchAll(joint)];
  const parts: string[] = [];
  let start = 0;
  joints.forEach(({ index, 0: { length } }, at) => {
    const next = index + length;
    if (!areApart(text.slice(start, index), text.slice(next, joints[at + 1]?.index))) return;
    parts.push(text.slice(start, index));
    start = next;
  });
  return [...parts, text.slice(start)];
}

/** Whether each side says what to do, and with what. "And fix it" depends on what came before. */
function areNeeds(left: string, right: string): boolean {
  const [first = '', second = '', ...rest] = wordsOf(right.replace(POLITE, ''));
  const begins = QUESTIONS.has(first)
    ? rest.length > 0
    : VERBS.has(first) || (NOUNS_TOO.has(first) && DETERMINERS.has(second));
  return begins && !PRONOUNS.has(second) && saysEnough(left) && saysEnough(right);
}

/** An action and its object take two words; so do a question and its subject. */
function saysEnough(text: string): boolean {
  const words = wordsOf(text.replace(POLITE, ''));
  return words.filter((word) => !STOP_WORDS.has(word) || QUESTIONS.has(word)).length >= 2;
}

const POLITE =
  /^\s*(?:(?:please|also|(?:can|could|would) you|i (?:want|need|have|would like|d like) to|help me|let['\u2019]?s)\s+)+/i;

const setOf = (words: string): ReadonlySet<string> => new Set(words.split(' '));

const QUESTIONS = setOf('who whose what which when where why how');
const PRONOUNS = setOf('it them him her both');
const DETERMINERS = setOf('the a an my our your his her their this that these those all every each some any');
const VERBS = setOf(
  'get read retrieve fetch show give describe explain summarize list find check validate verify analyze compare calculate ' +
    'create add make insert write generate build compose open register save store put ' +
    'update edit modify set rename replace move assign adjust resolve close correct fix append ' +
    'delete remove clear erase destroy forget throw discard wipe uninstall ' +
    'send publish reply answer notify submit tell inform push attach upload download import export convert translate ' +
    'run execute start launch restart rerun trigger deploy install apply upgrade stop kill cancel terminate ' +
    'merge connect navigate go visit click press tap type fill enter select choose pick take scroll drag wait crawl scrape extract',
);
/** Words that are nouns just as often: "comments and review threads". */
const NOUNS_TOO = setOf(
  'search look query post comment review test share record log watch monitor copy clone fork draft draw plot map commit pull ' +
    'release tag label count change turn switch ask call remember react approve link mark print end schedule rate',
);
