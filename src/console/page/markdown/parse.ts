/**
 * Parses Markdown as tools return it: headings, paragraphs, lists, quotes, code, tables and rules; within lines code,
 * bold, italic, strikethrough and links. HTML is treated as text. The time grows linearly with the length of the text.
 */

export type MarkdownBlock =
  | { readonly kind: 'heading'; readonly level: number; readonly text: readonly MarkdownInline[] }
  | { readonly kind: 'paragraph'; readonly text: readonly MarkdownInline[] }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly blocks: readonly MarkdownBlock[] }
  | {
      readonly kind: 'list';
      readonly start: number | null;
      readonly items: readonly (readonly MarkdownBlock[])[];
    }
  | {
      readonly kind: 'table';
      readonly head: readonly (readonly MarkdownInline[])[];
      readonly rows: readonly (readonly (readonly MarkdownInline[])[])[];
    }
  | { readonly kind: 'rule' };

export type MarkdownInline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'struck'; readonly text: readonly MarkdownInline[] }
  /** `href` is an http or https address; other links stay text. */
  | { readonly kind: 'link'; readonly href: string; readonly text: readonly MarkdownInline[] };

const DEEPEST = 8;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/;
const RULE = /^ {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$/;
const ITEM = /^( {0,3})(?:[-*+]|(\d{1,9})[.)])( +|$)/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_LINE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

export function parseMarkdown(text: string): readonly MarkdownBlock[] {
  return parseBlocks(text.replaceAll('\r\n', '\n').split('\n'), 0);
}

function parseBlocks(lines: readonly string[], depth: number): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const found =
      line.trim() === ''
        ? null
        : (takeCode(lines, at) ??
          takeOneLine(line) ??
          takeQuote(lines, at, depth) ??
          takeList(lines, at, depth) ??
          takeTable(lines, at) ??
          takeParagraph(lines, at));
    if (found !== null) blocks.push(found.block);
    at += found?.lines ?? 1;
  }
  return blocks;
}

interface Taken {
  readonly block: MarkdownBlock;
  readonly lines: number;
}

function takeCode(lines: readonly string[], at: number): Taken | null {
  const match = FENCE.exec(lines[at] ?? '');
  if (match === null) return null;
  const [, fence = '', language = ''] = match;
  let end = at + 1;
  while (end < lines.length && !isClosing(lines[end] ?? '', fence)) end += 1;
  return {
    block: { kind: 'code', language, text: lines.slice(at + 1, end).join('\n') },
    lines: end + 1 - at,
  };
}

const isClosing = (line: string, fence: string): boolean => {
  const text = line.trim();
  return text.length >= fence.length && text === (fence[0] ?? '').repeat(text.length);
};

function takeOneLine(line: string): Taken | null {
  const heading = HEADING.exec(line);
  if (heading !== null)
    return {
      block: { kind: 'heading', level: (heading[1] ?? '').length, text: parseInline(heading[2] ?? '') },
      lines: 1,
    };
  return RULE.test(line) ? { block: { kind: 'rule' }, lines: 1 } : null;
}

function takeQuote(lines: readonly string[], at: number, depth: number): Taken | null {
  if (!QUOTE.test(lines[at] ?? '') || depth > DEEPEST) return null;
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1;
  const inside = lines.slice(at, end).map((line) => line.replace(QUOTE, ''));
  return { block: { kind: 'quote', blocks: parseBlocks(inside, depth + 1) }, lines: end - at };
}

function takeList(lines: readonly string[], at: number, depth: number): Taken | null {
  const first = ITEM.exec(lines[at] ?? '');
  if (first === null || depth > DEEPEST) return null;
  const ordered = first[2] !== undefined;
  const items: (readonly MarkdownBlock[])[] = [];
  let place = at;
  for (;;) {
    const match = ITEM.exec(lines[place] ?? '');
    if (match === null || (match[2] !== undefined) !== ordered || RULE.test(lines[place] ?? '')) break;
    const indent = Math.min(match[0].length, (match[1] ?? '').length + 5);
    const inside = [(lines[place] ?? '').slice(match[0].length)];
    place += 1;
    while (place < lines.length && continuesItem(lines, place, indent)) {
      inside.push((lines[place] ?? '').replace(new RegExp(`^ {0,${indent}}`), ''));
      place += 1;
    }
    items.push(parseBlocks(inside, depth + 1));
  }
  if (items.length === 0) return null;
  return {
    block: { kind: 'list', start: ordered ? Number(first[2]) : null, items },
    lines: place - at,
  };
}

function continuesItem(lines: readonly string[], place: number, indent: number): boolean {
  const line = lines[place] ?? '';
  const indented = line.length - line.trimStart().length;
  if (line.trim() === '') {
    const next = lines[place + 1] ?? '';
    return next.trim() !== '' && next.length - next.trimStart().length >= indent;
  }
  if (indented >= indent) return true;
  // A paragraph continues on lines without indentation, unless another block begins.
  return !beginsBlock(line) && (lines[place - 1] ?? '').trim() !== '';
}

const beginsBlock = (line: string): boolean =>
  [FENCE, HEADING, RULE, ITEM, QUOTE].some((pattern) => pattern.test(line));

function takeTable(lines: readonly string[], at: number): Taken | null {
  const head = lines[at] ?? '';
  const second = lines[at + 1] ?? '';
  if (!head.includes('|') || !second.includes('-') || !TABLE_LINE.test(second)) return null;
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) end += 1;
  const columns = cellsOf(head).length;
  const rows = lines.slice(at + 2, end).map((line) => cellsOf(line).slice(0, columns).map(parseInline));
  return { block: { kind: 'table', head: cellsOf(head).map(parseInline), rows }, lines: end - at };
}

const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

function takeParagraph(lines: readonly string[], at: number): Taken {
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? '').trim() !== '' && !beginsBlock(lines[end] ?? '')) end += 1;
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join('\n');
  return { block: { kind: 'paragraph', text: parseInline(text) }, lines: end - at };
}

/** `open` marks both the beginning and the end. */
const SPANS = [
  { open: '**', kind: 'strong' },
  { open: '__', kind: 'strong' },
  { open: '~~', kind: 'struck' },
  { open: '*', kind: 'emphasis' },
  { open: '_', kind: 'emphasis' },
] as const;

const LINK = /^!?\[((?:[^\][\\]|\\.){0,1000})\]\(<?([^\s)>]{0,2000})>?(?:\s+"[^"]{0,500}")?\)/;
const ADDRESS = /^https?:\/\/[^\s<>)\]]{1,2000}/;
const PUNCTUATION = /[.,;:!?'"]+$/;

function parseInline(text: string, depth = 0): readonly MarkdownInline[] {
  const found: MarkdownInline[] = [];
  let plain = '';
  let at = 0;
  const add = (inline: MarkdownInline, length: number): void => {
    if (plain !== '') found.push(plain);
    plain = '';
    found.push(inline);
    at += length;
  };
  while (at < text.length) {
    const char = text[at] ?? '';
    const span = takeInline(text, at, depth);
    if (span !== null) add(span.inline, span.length);
    else if (char === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) {
      plain += text[at + 1] ?? '';
      at += 2;
    } else {
      plain += char;
      at += 1;
    }
  }
  if (plain !== '') found.push(plain);
  return found;
}

function takeInline(
  text: string,
  at: number,
  depth: number,
): { inline: MarkdownInline; length: number } | null {
  const char = text[at];
  if (char === '`') return takeCodeSpan(text, at);
  if ((char === '[' || char === '!') && depth < DEEPEST) return takeLink(text, at, depth);
  if (char === 'h' && !/\w/.test(text[at - 1] ?? '')) return takeAddress(text, at);
  if (char === undefined || !'*_~'.includes(char) || depth >= DEEPEST) return null;
  for (const { open, kind } of SPANS) {
    if (!text.startsWith(open, at)) continue;
    const start = at + open.length;
    // Inside a word, an underscore is part of a name, such as `read_text_file`.
    if (open.startsWith('_') && /\w/.test(text[at - 1] ?? '')) return null;
    const end = text.indexOf(open, start + 1);
    if (end < 0 || /\s/.test(text[start] ?? ' ') || /\s/.test(text[end - 1] ?? ' ')) continue;
    if (open.startsWith('_') && /\w/.test(text[end + open.length] ?? '')) continue;
    return {
      inline: { kind, text: parseInline(text.slice(start, end), depth + 1) },
      length: end + open.length - at,
    };
  }
  return null;
}

function takeCodeSpan(text: string, at: number): { inline: MarkdownInline; length: number } | null {
  const fence = /^`+/.exec(text.slice(at, at + 20))?.[0] ?? '`';
  const end = text.indexOf(fence, at + fence.length);
  if (end < 0) return null;
  const inside = text.slice(at + fence.length, end);
  return { inline: { kind: 'code', text: inside.trim() || inside }, length: end + fence.length - at };
}

function takeLink(
  text: string,
  at: number,
  depth: number,
): { inline: MarkdownInline; length: number } | null {
  const match = LINK.exec(text.slice(at, at + 4_000));
  if (match === null) return null;
  const [whole, title = '', href = ''] = match;
  if (!/^https?:\/\//i.test(href)) return { inline: title === '' ? href : title, length: whole.length };
  const inside = parseInline(title === '' ? href.slice(href.indexOf('//') + 2) : title, depth + 1);
  return { inline: { kind: 'link', href, text: inside }, length: whole.length };
}

function takeAddress(text: string, at: number): { inline: MarkdownInline; length: number } | null {
  const address = ADDRESS.exec(text.slice(at, at + 2_100))?.[0].replace(PUNCTUATION, '');
  if (address === undefined) return null;
  // The text of a bare link is its address, so it is not parsed again.
  return { inline: { kind: 'link', href: address, text: [address] }, length: address.length };
}
