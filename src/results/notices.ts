import type { ResultReader } from '../gateway/index.ts';
import { MAX_CHARS_PER_TOKEN, tokensAtMost } from './tokens-at-most.ts';
import type { KeptResult } from './kept-result.ts';

/** What was left out of a result. */
export interface Omission {
  readonly kept: KeptResult;
  readonly whole: string;
  /** The range that is left out, in UTF-16 code units. */
  readonly headEnd: number;
  readonly tailStart: number;
  /** How many text items are left out completely. */
  readonly removed: number;
  /** Whether the structured content says the same in full. */
  readonly leftWhole: boolean;
  readonly reader: ResultReader;
  readonly keepMs: number;
}

/** The notice that replaces what is left out. */
export function omission(omitted: Omission): string {
  const { kept, whole, headEnd, tailStart, removed, leftWhole, reader, keepMs } = omitted;
  const { facts } = kept;
  const characters = tailStart - headEnd;
  const before = breaksIn(whole, 0, headEnd);
  const after = breaksIn(whole, tailStart, whole.length) + (beginsLine(whole, tailStart) ? 1 : 0);
  // Includes lines that are left out in part.
  const lines = facts.lines - before - after;
  const parts = [
    ...(lines > 1 ? [`${count(lines)} of ${count(facts.lines)} lines`] : []),
    `${count(characters)} of ${count(facts.length)} characters`,
    ...(removed > 0 ? [`${count(removed)} whole text items`] : []),
    `about ${count(aboutTokens(whole, headEnd, tailStart))} tokens`,
  ];
  const byLine = lines > 1 && beginsLine(whole, headEnd);
  const next: ResultSelection = byLine
    ? { lines: rangeText(before + 1, Math.min(before + 200, before + lines)) }
    : { chars: rangeText(headEnd + 1, Math.min(headEnd + facts.maxTokens * 2, tailStart)) };
  const minutes = Math.round(keepMs / 60_000);
  return [
    `[${parts.join(', ')} left out. To read them: ${invitation(kept.id, next, reader)}.`,
    'Or read by "lines", "chars", "pattern" (regular expression) or "path" (JSON path).',
    ...(leftWhole ? ['structuredContent was left whole.'] : []),
    `Kept for ${minutes} minutes.]`,
  ].join(' ');
}

/** The part of a result that is wanted. */
export interface ResultSelection {
  readonly lines?: string | undefined;
  readonly chars?: string | undefined;
  readonly pattern?: string | undefined;
  readonly path?: string | undefined;
}

/** Tells the model how to read a part of a result. */
export function invitation(id: string, selection: ResultSelection, reader: ResultReader): string {
  if (reader === 'action') return JSON.stringify({ action: 'read', result: id, ...selection });
  if (reader === 'tool')
    return `call_tool ${JSON.stringify({ tool: 'read_result', args: { result: id, ...selection } })}`;
  const query = Object.entries(selection).map(
    ([key, value]) => `${key}=${encodeURIComponent(value as string)}`,
  );
  return `resources/read ${resultUri(id)}?${query.join('&')}`;
}

export const RESULT_SCHEME = 'switchboard-result://';

export function resultUri(id: string): string {
  return RESULT_SCHEME + id;
}

/** A link to the full result, as JSON text. */
export function linkItem({ id, facts }: KeptResult): string {
  return JSON.stringify({
    type: 'resource_link',
    uri: resultUri(id),
    name: id,
    description: `The whole result: ${count(facts.length)} characters`,
    mimeType: 'text/plain',
  });
}

export function rangeText(from: number, to: number): string {
  return `${from}-${to}`;
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}

/** Two digits are precise enough. A long text is estimated from samples. */
export function aboutTokens(text: string, from: number, to: number): number {
  const length = to - from;
  let tokens = 0;
  if (length <= SAMPLES * SAMPLE_CHARS) tokens = estimated(text.slice(from, to));
  else {
    const step = (length - SAMPLE_CHARS) / (SAMPLES - 1);
    for (let sample = 0; sample < SAMPLES; sample++) {
      const start = from + Math.floor(sample * step);
      tokens += estimated(text.slice(start, start + SAMPLE_CHARS));
    }
    tokens *= length / (SAMPLES * SAMPLE_CHARS);
  }
  return Number(tokens.toPrecision(2));
}

/** The middle of the possible range. */
function estimated(text: string): number {
  return Math.max(tokensAtMost(text) / 1.2, text.length / MAX_CHARS_PER_TOKEN);
}

const SAMPLES = 16;
const SAMPLE_CHARS = 4096;
const LINE_BREAK = 0x0a;

function beginsLine(text: string, at: number): boolean {
  return at === 0 || text.charCodeAt(at - 1) === LINE_BREAK;
}

function breaksIn(text: string, from: number, to: number): number {
  let breaks = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) breaks++;
  return breaks;
}
