import { Turns } from '../shared/turns.ts';
import { Server } from '../protocol/index.ts';
import { defineShape, ENVELOPE, viewsOf, type Edit, type Message } from '../wire/index.ts';
import type { ResultLimits, ResultReader } from '../gateway/index.ts';
import { headWithin, tailWithin } from './cut.ts';
import { decodedString } from './decoded-string.ts';
import { isString, itemsIn, memberIn, membersIn, type JsonRange } from './json-bytes.ts';
import type { KeptResult, KeptResultFacts } from './kept-result.ts';
import { minified } from './minified.ts';
import { linkItem, omission } from './notices.ts';
import { tokensAtMost } from './tokens-at-most.ts';

/** Keeps a text; undefined if that is not possible. */
export type Keep = (text: string, facts: Omit<KeptResultFacts, 'length'>) => Promise<KeptResult | undefined>;

export interface FitOptions extends Pick<ResultLimits, 'maxTokens' | 'minify'> {
  readonly reader: ResultReader;
  /** Whether the client supports resource links in results. */
  readonly takesLinks: boolean;
  readonly keepMs: number;
  readonly keep: Keep;
}

/** A text in the content of a result. */
interface TextItem {
  /** Its position among the texts. */
  readonly index: number;
  /** Where the previous item of the content ends, and where this one ends. */
  readonly itemsFrom: number;
  readonly itemEnd: number;
  /** The JSON string. */
  readonly range: JsonRange;
  /** As the server wrote it. */
  readonly text: string;
  /** Where it begins in the joined texts. */
  readonly start: number;
}

/**
 * The edits that make the content of a tool result fit. Its texts together may have `maxTokens`; longer ones keep their
 * beginning and end, with a notice in between. Everything else in the result stays unchanged.
 */
export async function fitResult(answer: Message, options: FitOptions): Promise<readonly Edit[]> {
  const { maxTokens = Infinity, minify } = options;
  const at = answer.start(Server.content);
  if (answer.lead(Server.content) !== BRACKET) return [];
  const bytes = wholeOf(answer);
  const turns = new Turns();
  const places: Omit<TextItem, 'text' | 'start'>[] = [];
  let end = at + 1;
  for (const item of itemsIn(bytes, at)) {
    // A long item takes time to find, and again to read.
    let pause = turns.next();
    if (pause) await pause;
    const range = textIn(bytes, item);
    if (range !== undefined) places.push({ index: places.length, itemsFrom: end, itemEnd: item.end, range });
    ({ end } = item);
    pause = turns.next();
    if (pause) await pause;
  }
  const written = places.reduce((sum, { range }) => sum + range.end - range.start - 1, 0);
  // A token has at least one byte, and a text is no longer than its JSON.
  if (written <= maxTokens && !minify) return [];
  const texts: TextItem[] = [];
  let length = -1;
  for (const place of places) {
    const text = await decodedString(bytes, place.range, turns);
    texts.push({ ...place, text, start: length + 1 });
    length += 1 + text.length;
  }
  const shorter = minify ? await minifiedTexts(texts, turns) : undefined;
  const fitting = shorter?.edits ?? [];
  if (await fits(shorter?.texts ?? texts.map(({ text }) => text), maxTokens, turns)) return fitting;
  const whole = await joined(texts, turns);
  const lines = (await lineBreaks(whole, turns)) + 1;
  const items = texts.map(({ start }) => start);
  const kept = await options.keep(whole, { lines, items, maxTokens, minify });
  if (kept === undefined) return fitting;
  const structured = structuredIn(answer);
  const copies = structured === undefined ? [] : await copiesIn(bytes, structured, texts, turns);
  return cut(
    { bytes, end, texts, whole, kept, structured: structured !== undefined, copies },
    options,
    turns,
  );
}

/** All texts, joined by line breaks. There may be hundreds of thousands. */
async function joined(items: readonly TextItem[], turns: Turns): Promise<string> {
  const parts: string[] = [];
  for (let at = 0; at < items.length; at += TEXTS_AT_ONCE) {
    parts.push(
      items
        .slice(at, at + TEXTS_AT_ONCE)
        .map(({ text }) => text)
        .join('\n'),
    );
    const pause = turns.next();
    if (pause) await pause;
  }
  return parts.join('\n');
}

const TEXTS_AT_ONCE = 1000;

const STRUCTURED = defineShape({ ...ENVELOPE, result: { structuredContent: true } });
const STRUCTURED_CONTENT = STRUCTURED.slot('result.structuredContent');
const BRACKET = 0x5b;

function structuredIn(answer: Message): JsonRange | undefined {
  const found = answer.as(STRUCTURED);
  const start = found?.start(STRUCTURED_CONTENT) ?? -1;
  return found === undefined || start < 0 ? undefined : { start, end: found.end(STRUCTURED_CONTENT) };
}

/**
 * Members of the structured content that repeat the text, as in `{"content": "…"}`. Hosts that prefer structured
 * content would pass it to the model in full. A string that is cut is still a string, as the output schema requires.
 */
async function copiesIn(
  bytes: Buffer,
  structured: JsonRange,
  texts: readonly TextItem[],
  turns: Turns,
): Promise<JsonRange[]> {
  const [only, another] = texts;
  if (only === undefined || another !== undefined) return [];
  const text = bytes.subarray(only.range.start, only.range.end);
  const copies: JsonRange[] = [];
  for (const { start, end } of membersIn(bytes, structured.start)) {
    if (end - start === text.length && bytes.subarray(start, end).equals(text)) copies.push({ start, end });
    const pause = turns.next();
    if (pause) await pause;
  }
  return copies;
}

/**
 * The bytes of a message in one buffer, so that its offsets apply. Chunks are copied, because they are read over
 * several turns.
 */
function wholeOf({ bytes }: Message): Buffer {
  return bytes.buffer ?? Buffer.concat(viewsOf(bytes, bytes.from, bytes.to));
}

/** The text of an item: of a text, or of an embedded resource. */
function textIn(bytes: Buffer, { start }: JsonRange): JsonRange | undefined {
  const text = memberIn(bytes, start, 'text');
  if (isString(bytes, text)) return text;
  const resource = memberIn(bytes, start, 'resource');
  const inner = resource && memberIn(bytes, resource.start, 'text');
  return isString(bytes, inner) ? inner : undefined;
}

interface MinifiedTexts {
  readonly texts: readonly string[];
  readonly edits: readonly Edit[];
}

async function minifiedTexts(items: readonly TextItem[], turns: Turns): Promise<MinifiedTexts> {
  const texts: string[] = [];
  const edits: Edit[] = [];
  for (const { text, range } of items) {
    const shorter = minified(text) ?? text;
    texts.push(shorter);
    if (shorter !== text) edits.push({ ...range, with: JSON.stringify(shorter) });
    const pause = turns.next();
    if (pause) await pause;
  }
  return { texts, edits };
}

/** Whether texts together have at most this many tokens. Each costs one more, so that many empty ones are not free. */
async function fits(texts: readonly string[], maxTokens: number, turns: Turns): Promise<boolean> {
  if (maxTokens === Infinity) return true;
  let tokens = 0;
  for (const text of texts) {
    tokens += 1;
    for (let at = 0; at < text.length; at += PIECE) {
      tokens += tokensAtMost(text.slice(at, at + PIECE));
      if (tokens > maxTokens) return false;
      const pause = turns.next();
      if (pause) await pause;
    }
  }
  return tokens <= maxTokens;
}

/** In UTF-16 code units. */
const PIECE = 16 * 1024;

async function lineBreaks(text: string, turns: Turns): Promise<number> {
  let breaks = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (++breaks % 10_000 !== 0) continue;
    const pause = turns.next();
    if (pause) await pause;
  }
  return breaks;
}

interface Cutting {
  readonly bytes: Buffer;
  /** Where the last item of the content ends. */
  readonly end: number;
  readonly texts: readonly TextItem[];
  /** All texts together. */
  readonly whole: string;
  readonly kept: KeptResult;
  /** Whether the result has structured content as well. */
  readonly structured: boolean;
  /** Other members of the result that repeat the text, and are cut like it. */
  readonly copies: readonly JsonRange[];
}

/** The share of the room that the beginning gets. */
const HEAD_SHARE = 2 / 3;

async function cut(
  { bytes, end, texts, whole, kept, structured, copies }: Cutting,
  options: FitOptions,
  turns: Turns,
): Promise<readonly Edit[]> {
  const { takesLinks } = options;
  const link = takesLinks ? linkItem(kept) : '';
  const leftWhole = structured && copies.length === 0;
  const said = (headEnd: number, tailStart: number, removed: number): string =>
    omission({ ...options, kept, whole, headEnd, tailStart, leftWhole, removed });
  const maxTokens = kept.facts.maxTokens;
  // The longest it can be: its numbers grow by a few digits at most.
  const room =
    maxTokens - tokensAtMost(said(0, whole.length, texts.length)) - tokensAtMost(link) - SPARE_TOKENS;
  const head = headOf(texts, Math.floor(room * HEAD_SHARE));
  const tail = tailOf(texts, room - Math.floor(room * HEAD_SHARE), head);
  const [first, last] = [head.item, tail.item];
  const removed = texts.slice(first.index + 1, last.index);
  const notice = said(first.start + head.at, last.start + tail.at, removed.length);
  const before = first.text.slice(0, head.at);
  const after = last.text.slice(tail.at);
  const start = before === '' || before.endsWith('\n') ? before : `${before}\n`;
  const edits: Edit[] = [];
  if (first === last) {
    const text = JSON.stringify(`${start}${notice}\n${after}`);
    for (const range of [first.range, ...copies]) edits.push({ ...range, with: text });
  } else {
    edits.push({ ...first.range, with: JSON.stringify(start + notice) });
    if (removed.length > 0) edits.push(await removal(bytes, removed, turns));
    edits.push({ ...last.range, with: JSON.stringify(after) });
  }
  if (link !== '') edits.push({ start: end, end, with: `,${link}` });
  return edits.sort((a, b) => a.start - b.start);
}

/**
 * One edit that removes texts, each with the comma before it (an earlier item always remains), and copies what is
 * between them. Hundreds of thousands of edits would block everything else.
 */
async function removal(bytes: Buffer, texts: readonly TextItem[], turns: Turns): Promise<Edit> {
  const left: string[] = [];
  const [first] = texts;
  const start = first?.itemsFrom ?? 0;
  let end = first?.itemEnd ?? 0;
  for (const { itemsFrom, itemEnd } of texts.slice(1)) {
    if (itemsFrom > end) left.push(bytes.toString('utf8', end, itemsFrom));
    end = itemEnd;
    const pause = turns.next();
    if (pause) await pause;
  }
  return { start, end, with: left.join('') };
}

/** For the notice between the parts. */
const SPARE_TOKENS = 8;

/** A position in the texts. */
interface TextPlace {
  readonly item: TextItem;
  readonly at: number;
}

/** Where a beginning of this many tokens ends. */
function headOf(texts: readonly TextItem[], tokens: number): TextPlace {
  let left = tokens;
  for (const item of texts) {
    const at = headWithin(item.text, left - 1);
    if (at < item.text.length || left <= 1) return { item, at };
    left -= 1 + tokensAtMost(item.text);
  }
  throw new Error('A result that is cut does not fit');
}

/** Where an end of this many tokens starts; not before the head ends. */
function tailOf(texts: readonly TextItem[], tokens: number, head: TextPlace): TextPlace {
  let left = tokens;
  for (const item of texts.slice(head.item.index + 1).reverse()) {
    const at = tailWithin(item.text, left - 1);
    if (at > 0 || left <= 1) return { item, at };
    left -= 1 + tokensAtMost(item.text);
  }
  const { item } = head;
  return { item, at: Math.max(head.at, tailWithin(item.text, left - 1)) };
}
