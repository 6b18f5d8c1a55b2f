/** Works on JSON as text: finds where a member is, and formats it, without parsing values. */

export interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member extends Span {
  /** The decoded key of a member, or the index of an item. */
  readonly key: string | number;
}

/**
 * The position of the value at this path: `spanOf(text, 'result', 'tools', 0, 'name')`. If a key is repeated, the last
 * one counts.
 */
export function spanOf(text: string, ...path: readonly (string | number)[]): Span | undefined {
  let span: Span | undefined = trimmed(text, { start: 0, end: text.length });
  for (const key of path) span &&= membersOf(text, span).findLast((member) => member.key === key);
  return span && { start: span.start, end: span.end };
}

/** The text of the value at this path. */
export function textAt(text: string, ...path: readonly (string | number)[]): string | undefined {
  const span = spanOf(text, ...path);
  return span && text.slice(span.start, span.end);
}

/** The texts of the items of the list at this path; undefined if there is no list. */
export function itemsAt(text: string, ...path: readonly (string | number)[]): string[] | undefined {
  const span = spanOf(text, ...path);
  if (span === undefined || text[span.start] !== '[') return undefined;
  return membersOf(text, span).map(({ start, end }) => text.slice(start, end));
}

/** The text with the value at this path replaced; unchanged if there is none. */
export function replaceAt(
  text: string,
  path: readonly (string | number)[],
  change: (raw: string) => string,
): string {
  const span = spanOf(text, ...path);
  if (span === undefined) return text;
  return text.slice(0, span.start) + change(text.slice(span.start, span.end)) + text.slice(span.end);
}

/**
 * One member or item per line, for reading and comparing. Keeps every character, and two different texts without
 * newlines give two different results.
 */
export function fold(text: string): string {
  let depth = 0;
  let out = '';
  const newLine = (): string => `\n${'  '.repeat(Math.min(depth, 12))}`;
  for (let at = 0; at < text.length;) {
    const char = text[at]!;
    if (char === '"') {
      const end = endOfString(text, at);
      out += text.slice(at, end);
      at = end;
      continue;
    }
    if (char === '}' || char === ']') depth--;
    out += char;
    if (char === '{' || char === '[') depth++;
    if ('{[,'.includes(char)) out += newLine();
    at++;
  }
  return out;
}

/** The members of an object or the items of a list; none for anything else. */
function membersOf(text: string, { start, end }: Span): Member[] {
  const open = text[start];
  if (open !== '{' && open !== '[') return [];
  const members: Member[] = [];
  let at = skipSpace(text, start + 1);
  while (at < end - 1) {
    let key: string | number = members.length;
    if (open === '{') {
      const keyEnd = endOfString(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1); // Skips the colon.
    }
    const valueEnd = endOfValue(text, at);
    members.push({ key, start: at, end: valueEnd });
    at = skipSpace(text, skipSpace(text, valueEnd) + 1); // Skips the comma or the closing bracket.
  }
  return members;
}

function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') at = endOfString(text, at) - 1;
    else if (char === '{' || char === '[') depth++;
    else if (depth === 0 && (',}]'.includes(char) || isSpace(char))) return at;
    else if ((char === '}' || char === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function trimmed(text: string, { start, end }: Span): Span {
  while (end > start && isSpace(text[end - 1]!)) end--;
  return { start: skipSpace(text, start), end };
}

function skipSpace(text: string, at: number): number {
  while (at < text.length && isSpace(text[at]!)) at++;
  return at;
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\r' || char === '\n';
}
