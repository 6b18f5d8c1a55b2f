import type { ResultReader } from '../gateway/index.ts';
import { createMatcher, type Matcher } from '../shared/line-matcher.ts';
import { createSerial } from '../shared/serial.ts';
import { Turns } from '../shared/turns.ts';
import { betweenCharacters, headWithin } from './cut.ts';
import { readResultPath, valuesAt } from './json-path.ts';
import { BLOCK, startOfLine, type KeptResult, type OpenResult } from './kept-result.ts';
import { isJsonText, minified } from './minified.ts';
import { aboutTokens, count, invitation, rangeText, type ResultSelection } from './notices.ts';
import { invalid, rangeIn } from './selection.ts';
import { MAX_CHARS_PER_TOKEN, tokensAtMost } from './tokens-at-most.ts';

/**
 * A part of a kept result, in at most as many tokens as a result may have. If that is not all, it says how to read on.
 */
export async function readResult(
  kept: KeptResult,
  selection: ResultSelection,
  reader: ResultReader,
): Promise<string> {
  const opened = await kept.open();
  try {
    const reading: Reading = { opened, selection, reader, room: kept.facts.maxTokens - NOTICE_TOKENS };
    const { lines, chars, pattern, path } = selection;
    if (path !== undefined) {
      if (pattern !== undefined || lines !== undefined)
        throw invalid('A "path" goes with "chars" only.', undefined);
      // Each reading has the full text in memory.
      return await oneByOne(() => readPath(reading, path));
    }
    if (pattern !== undefined) {
      if (chars !== undefined) throw invalid('A "pattern" goes with "lines" only.', undefined);
      return await readMatches(reading, pattern);
    }
    if (chars === undefined) return await readLines(reading);
    if (lines !== undefined) throw invalid('Choose "lines" or "chars".', undefined);
    return await readChars(reading, chars);
  } finally {
    await opened.close();
  }
}

interface Reading {
  readonly opened: OpenResult;
  readonly selection: ResultSelection;
  readonly reader: ResultReader;
  /** How many tokens the part may have. */
  readonly room: number;
}

/** Tokens reserved for the notice that says how to read on. */
const NOTICE_TOKENS = 120;
const oneByOne = createSerial();

/** Says how to read what comes next. */
function goOn({ opened, selection, reader }: Reading, what: string, next: ResultSelection): string {
  return `[${what} To go on: ${invitation(opened.result.id, { ...selection, ...next }, reader)}]`;
}

async function readLines(reading: Reading): Promise<string> {
  const { opened, selection, room } = reading;
  const { facts } = opened.result;
  const [first, last] = rangeIn(selection.lines ?? '1-', 'lines', facts.lines);
  const from = await startOfLine(opened, first);
  const end = await endOfLine(opened, last);
  const text = await opened.slice(from, Math.min(end, from + room * MAX_CHARS_PER_TOKEN + 1));
  const fitting = headWithin(text, room);
  if (from + fitting >= end) return text;
  const part = text.slice(0, fitting);
  if (!part.endsWith('\n')) {
    const next = { lines: undefined, chars: rangeText(from + fitting + 1, end) };
    return `${part}\n${goOn(reading, `Line ${count(first + breaks(part) + 1)} goes on; ${left(text, fitting, end - from)}.`, next)}`;
  }
  const next = first + breaks(part);
  return (
    part +
    goOn(reading, `Lines ${count(next + 1)} to ${count(last)} left: ${left(text, fitting, end - from)}.`, {
      lines: rangeText(next + 1, last),
    })
  );
}

/** Where the line before this one ends, without its line break. */
async function endOfLine(opened: OpenResult, line: number): Promise<number> {
  const { length, lines } = opened.result.facts;
  return line >= lines ? length : (await startOfLine(opened, line)) - 1;
}

function left(text: string, from: number, length: number): string {
  // The unread rest is estimated from what was read.
  const tokens = (aboutTokens(text, 0, text.length) * (length - from)) / text.length;
  return `${count(length - from)} characters, about ${count(Number(tokens.toPrecision(2)))} tokens`;
}

function breaks(text: string): number {
  return text.split('\n').length - 1;
}

async function readChars(reading: Reading, chars: string): Promise<string> {
  const { opened, room } = reading;
  const { length } = opened.result.facts;
  const [from, to] = rangeIn(chars, 'chars', length);
  // Includes some context: a range may begin inside a character.
  const before = Math.max(0, from - AROUND);
  const around = await opened.slice(
    before,
    Math.min(length, Math.min(to, from + room * MAX_CHARS_PER_TOKEN) + AROUND),
  );
  const start = before + betweenCharacters(around, from - before, 'before');
  const end = Math.min(
    length,
    before + betweenCharacters(around, Math.min(to - before, around.length), 'after'),
  );
  const text = around.slice(start - before, end - before);
  const fitting = headWithin(text, room);
  if (start + fitting >= to) return text.slice(0, fitting);
  const part = text.slice(0, fitting);
  const next = { chars: rangeText(start + fitting + 1, to) };
  return `${part}${part.endsWith('\n') ? '' : '\n'}${goOn(reading, `${left(text, fitting, to - start)} left.`, next)}`;
}

const AROUND = 64;

/** The lines that match, with their numbers. */
async function readMatches(reading: Reading, pattern: string): Promise<string> {
  const { opened, selection } = reading;
  const { facts } = opened.result;
  const [first, last] = rangeIn(selection.lines ?? '1-', 'lines', facts.lines);
  const matcher = createMatcher(pattern, { hint: 'Use a simpler expression, or fewer "lines".' });
  const found: string[] = [];
  let room = reading.room;
  try {
    for await (const line of matchingLines(opened, matcher, first, last)) {
      const text = shown(line);
      room -= tokensAtMost(text) + 1;
      if (room < 0) {
        const next = { lines: rangeText(line.number, last) };
        return [...found, goOn(reading, 'More lines match.', next)].join('\n');
      }
      found.push(text);
    }
  } finally {
    matcher.close();
  }
  return found.length === 0 ? `[No line matches ${JSON.stringify(pattern)}.]` : found.join('\n');
}

interface MatchingLine {
  readonly number: number;
  readonly text: string;
  /** Where the match begins in the line, and where the line begins in the result. */
  readonly at: number;
  readonly start: number;
}

async function* matchingLines(
  opened: OpenResult,
  matcher: Matcher,
  first: number,
  last: number,
): AsyncGenerator<MatchingLine, void, undefined> {
  const end = await endOfLine(opened, last);
  let start = await startOfLine(opened, first);
  let number = first + 1;
  const turns = new Turns();
  for (let size = BLOCK; start <= end && number <= last;) {
    const block = await opened.slice(start, Math.min(start + size, end));
    const isLast = start + size >= end;
    const cut = isLast ? block.length : block.lastIndexOf('\n');
    if (cut === -1) {
      // The line does not fit into the block.
      size *= 2;
      continue;
    }
    const lines = block.slice(0, cut).split('\n');
    const matches = await matcher.matches(lines);
    let offset = start;
    const at = new Map(matches.map((match) => [match.line, match.at]));
    for (const [line, text] of lines.entries()) {
      const found = at.get(line);
      if (found !== undefined) yield { number: number + line, text, at: found, start: offset };
      offset += text.length + 1;
    }
    number += lines.length;
    start += cut + 1;
    size = BLOCK;
    if (isLast) return;
    const pause = turns.next();
    if (pause) await pause;
  }
}

/** Of a long line, only the part around the match. */
function shown({ number, text, at, start }: MatchingLine): string {
  if (text.length <= MAX_LINE) return `${number}: ${text}`;
  const from = betweenCharacters(text, Math.max(0, at - MAX_LINE / 4), 'before');
  const to = betweenCharacters(text, Math.min(text.length, from + MAX_LINE), 'after');
  const excerpt = `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  return `${number} (characters ${rangeText(start + from + 1, start + to)}): ${excerpt}`;
}

/** In UTF-16 code units. */
const MAX_LINE = 400;

/** The values that a JSON path leads to; several values are listed one per line. */
async function readPath(reading: Reading, path: string): Promise<string> {
  const { opened, selection, room } = reading;
  const { facts } = opened.result;
  const { steps, single } = readResultPath(path);
  const whole = await opened.slice(0, facts.length);
  const turns = new Turns();
  const document = await documentOf(whole, facts.items, turns);
  const from = selection.chars === undefined ? 0 : rangeIn(selection.chars, 'chars', Infinity)[0];
  const most = selection.chars === undefined ? Infinity : rangeIn(selection.chars, 'chars', Infinity)[1];
  // Slightly more than fits, to know whether there is more.
  const enough = Math.min(most, from + room * MAX_CHARS_PER_TOKEN + 2);
  let text = '';
  let values = 0;
  for await (const value of valuesAt(document, steps, turns)) {
    text += `${values === 0 ? '' : '\n'}${facts.minify || !single ? (minified(value) ?? value) : value}`;
    values++;
    if (text.length > enough) break;
  }
  if (values === 0) return `[Nothing is at ${JSON.stringify(path)}.]`;
  if (from >= text.length && from > 0)
    throw invalid(`What is at ${JSON.stringify(path)} has no character ${from + 1}.`, undefined);
  const start = betweenCharacters(text, from, 'before');
  const end = Math.min(most, text.length);
  const wanted = text.slice(start, end);
  const fitting = headWithin(wanted, room);
  if (fitting >= wanted.length) return wanted;
  const part = wanted.slice(0, fitting);
  const next = { chars: `${start + fitting + 1}-${most === Infinity ? '' : most}` };
  return `${part}${part.endsWith('\n') ? '' : '\n'}${goOn(reading, 'There is more.', next)}`;
}

/** Several text items become a list: JSON texts as values, the others as strings. */
async function documentOf(whole: string, items: readonly number[], turns: Turns): Promise<string> {
  if (items.length === 1) {
    if (!isJsonText(whole))
      throw invalid('This result is not JSON, or nested too deep.', 'Use "lines", "chars" or "pattern".');
    return whole;
  }
  let document = '';
  for (const [index, start] of items.entries()) {
    const text = whole.slice(start, (items[index + 1] ?? whole.length + 1) - 1);
    document += `${index === 0 ? '[' : ','}${isJsonText(text) ? text : JSON.stringify(text)}`;
    const pause = turns.next();
    if (pause) await pause;
  }
  return `${document}]`;
}
