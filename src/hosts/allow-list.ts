import { editJsonc } from '../shared/jsonc-members.ts';
import { nodeAt } from '../shared/jsonc-paths.ts';
import { spliced } from '../shared/splice.ts';
import { valueAt, type Container } from './container.ts';
import { parseHostJson } from './parse-json.ts';

/** The text with a server on the host's list of those that may be used, where it keeps one. An empty list allows all. */
export function allowEntry(text: string, container: Container, name: string): string {
  return editList(text, container, (list, words) => {
    const last = words.at(-1);
    if (last === undefined || words.some(({ value }) => value === name)) return list;
    const gap = last.gap.includes('\n') || words.length > 1 ? last.gap : ' ';
    const added = last.comma === undefined ? `,${gap}${quoted(name)}` : `${gap}${quoted(name)},`;
    const at = last.comma ?? last.end;
    return spliced(list, [{ start: at, end: at, with: added }]);
  });
}

/** The text without it. */
export function disallowEntry(text: string, container: Container, name: string): string {
  return editList(text, container, (list, words) => {
    const at = words.findIndex(({ value }) => value === name);
    const [word, before] = [words[at], words[at - 1]];
    if (word === undefined) return list;
    const end = word.comma ?? word.end;
    if (before === undefined) return spliced(list, [{ start: word.start, end, with: '' }]);
    const start = word.comma === undefined ? before.end : (before.comma ?? before.end);
    return spliced(list, [{ start, end, with: '' }]);
  });
}

/** A text in a list. Offsets count from the opening bracket. */
interface ListedWord {
  readonly value: unknown;
  readonly start: number;
  readonly end: number;
  /** Behind the comma that follows. */
  readonly comma: number | undefined;
  /** The blanks before it. */
  readonly gap: string;
}

function editList(
  text: string,
  { format, allowList }: Container,
  edit: (list: string, words: readonly ListedWord[]) => string,
): string {
  if (allowList === undefined || format === 'toml') return text;
  const names = valueAt(parseHostJson(text, format), allowList);
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return text;
  return editJsonc(text, (located) => {
    const { start, end } = nodeAt(located, allowList) ?? located.root;
    const list = located.text.slice(start, end);
    return spliced(located.text, [{ start, end, with: edit(list, wordsIn(list)) }]);
  });
}

const TOKEN = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\/|\s+|[^]/g;

function wordsIn(list: string): ListedWord[] {
  const words: ListedWord[] = [];
  let gap = '';
  for (const { 0: token, index } of list.matchAll(TOKEN)) {
    const end = index + token.length;
    if (token.startsWith('"'))
      words.push({ value: JSON.parse(token), start: index, end, comma: undefined, gap });
    const last = token === ',' ? words.pop() : undefined;
    if (last !== undefined) words.push({ ...last, comma: end });
    gap = token.trim() === '' ? token : '';
  }
  return words;
}

function quoted(name: string): string {
  return JSON.stringify(name);
}
