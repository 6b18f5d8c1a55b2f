import { isTooDeep, MAX_NESTING, TOO_DEEP } from './depth.ts';
import { isObject } from './is-object.ts';

/**
 * Parses JSON as people write it in configuration files: comments, trailing commas and a byte-order mark are accepted.
 * Plain JSON, the usual case, is handled by JSON.parse and costs nothing extra.
 */
export function parseJsonc(text: string): unknown {
  const body = withoutMark(text);
  try {
    const value: unknown = JSON.parse(body);
    if (!isTooDeep(value)) return value;
  } catch {
    // V8's message quotes the text around the fault, which may be a secret. Our own message is created below.
  }
  return parseTolerantly(body).value;
}

/** A key that occurs more than once in an object. */
export interface RepeatedKey {
  /** Keys and list positions from the top of the file. */
  readonly path: readonly (string | number)[];
  /** The lines of both, counted from 1. */
  readonly lines: readonly [number, number];
}

/** Parses the same texts, but reports duplicate keys instead of rejecting them; the last one counts. */
export function parseJsoncWithRepeats(text: string, onRepeat: (repeated: RepeatedKey) => void): unknown {
  const body = withoutMark(text);
  const plain = plainWithoutRepeats(body);
  if (plain !== undefined) return plain.value;
  return parseTolerantly(body, (path, first, second) =>
    onRepeat({ path: [...path], lines: [lineAt(body, first), lineAt(body, second)] }),
  ).value;
}

/**
 * The value of plain JSON; undefined if the text is not plain, or has a duplicate key, which JSON.parse does not
 * report.
 */
function plainWithoutRepeats(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) return undefined;
    // Each member has a colon. Of members with the same key, only the last one is in the value.
    const colons = text.replace(STRINGS, '').split(':').length - 1;
    return membersIn(value) === colons ? { value } : undefined;
  } catch {
    return undefined;
  }
}

const STRINGS = /"[^"\\]*(?:\\.[^"\\]*)*"/g;

function membersIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + membersIn(item), 0);
  if (!isObject(value)) return 0;
  const members = Object.values(value);
  return members.reduce<number>((sum, member) => sum + membersIn(member), members.length);
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** A value and its position in the text. */
export type JsoncNode = JsoncObject | JsoncValue;

interface JsoncValue {
  readonly value: unknown;
  /** The offsets of its first character and after its last one. */
  readonly start: number;
  readonly end: number;
  readonly members?: undefined;
  /** For a list; undefined for any other value. */
  readonly items?: readonly JsoncItem[];
}

export interface JsoncObject extends Omit<JsoncValue, 'members'> {
  /** In the order written. */
  readonly members: readonly JsoncMember[];
}

export interface JsoncItem {
  readonly node: JsoncNode;
  /** The position of the comma after it, if there is one. */
  readonly comma: number | undefined;
}

export interface JsoncMember extends JsoncItem {
  readonly key: string;
  /** The position of the key, quotes included. */
  readonly start: number;
}

/**
 * Parses a text into a tree with the offset of every value, for editing. Accepts and rejects the same texts as
 * parseJsonc. Offsets do not count the byte-order mark. Of duplicate keys in plain JSON, the last one counts.
 * `onComment` is called with the offset of each comment.
 */
export function locateJsonc(text: string, onComment?: (offset: number) => void): JsoncNode {
  const body = withoutMark(text);
  let plain = true;
  try {
    JSON.parse(body);
  } catch {
    plain = false;
  }
  return parseTolerantly(body, plain ? () => undefined : undefined, onComment);
}

/** Where and why a text is not JSON. The excerpt shows structure and keys but never a value. */
export class JsoncError extends Error {
  /** What was expected, without the position. */
  readonly reason: string;
  /** Counted from 1. */
  readonly line: number;
  /** Counted from 1, in UTF-16 units as editors do. */
  readonly column: number;
  /** The faulty line with every value replaced by `…`. */
  readonly excerpt: string;

  constructor(reason: string, text: string, offset: number) {
    const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
    const lineEnd = text.indexOf('\n', offset);
    const line = text.slice(0, lineStart).split('\n').length;
    const column = offset - lineStart + 1;
    const excerpt = withoutValues(text.slice(lineStart, lineEnd === -1 ? undefined : lineEnd).trim());
    super(`line ${line}, column ${column}: ${reason}${excerpt === '' ? '' : ` in: ${excerpt}`}`);
    this.name = 'JsoncError';
    this.reason = reason;
    this.line = line;
    this.column = column;
    this.excerpt = excerpt;
  }
}

const BYTE_ORDER_MARK = 0xfeff;

function withoutMark(text: string): string {
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** The reason if there are only white space and comments. */
export const EMPTY_TEXT = 'the file is empty';
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /[A-Za-z]+/y;
const PLAIN = { writable: true, enumerable: true, configurable: true };
const WORDS = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Called with a duplicate key and the offsets of both. */
type OnRepeat = (path: readonly (string | number)[], first: number, second: number) => void;

/** Without `onRepeat`, duplicate keys are rejected. */
function parseTolerantly(text: string, onRepeat?: OnRepeat, onComment?: (offset: number) => void): JsoncNode {
  let at = 0;
  const path: (string | number)[] = [];
  const fail = (reason: string, offset = at): never => {
    throw new JsoncError(reason, text, offset);
  };

  skipBlank();
  if (at >= text.length) fail(EMPTY_TEXT);
  const root = parseValue(0);
  skipBlank();
  if (at < text.length) fail('unexpected text after the end of the value');
  return root;

  function parseValue(depth: number): JsoncNode {
    const start = at;
    if (depth === MAX_NESTING && (text[at] === '{' || text[at] === '[')) fail(TOO_DEEP);
    if (text[at] === '{') return parseObject(depth);
    if (text[at] === '[') return parseArray(depth);
    const value = text[at] === '"' ? parseString() : parseNumberOrWord();
    return { value, start, end: at };
  }

  function parseObject(depth: number): JsoncNode {
    const value: Record<string, unknown> = {};
    const members: JsoncMember[] = [];
    const open = at++;
    for (;;) {
      skipBlank();
      if (text[at] === '}') break;
      if (at >= text.length) fail('this "{" is never closed', open);
      if (text[at] !== '"') fail('expected a key in double quotes, or "}"');
      const start = at;
      const key = parseString();
      path.push(key);
      const earlier = Object.hasOwn(value, key)
        ? members.findLast((member) => member.key === key)
        : undefined;
      if (earlier !== undefined) {
        if (onRepeat === undefined) fail(`the key ${JSON.stringify(key)} appears twice`, start);
        else onRepeat(path, earlier.start, start);
      }
      skipBlank();
      if (text[at] !== ':') fail('expected ":" after the key');
      at++;
      skipBlank();
      const node = parseValue(depth + 1);
      path.pop();
      // Defined instead of assigned, because assigning to "__proto__" would replace the prototype.
      Object.defineProperty(value, key, { ...PLAIN, value: node.value });
      skipBlank();
      members.push({ key, start, node, comma: text[at] === ',' ? at : undefined });
      if (text[at] === ',') at++;
      else if (at >= text.length) fail('this "{" is never closed', open);
      else if (text[at] !== '}') fail('expected "," or "}" after the value');
    }
    at++;
    return { value, start: open, end: at, members };
  }

  function parseArray(depth: number): JsoncNode {
    const items: JsoncItem[] = [];
    const open = at++;
    for (;;) {
      skipBlank();
      if (text[at] === ']') break;
      if (at >= text.length) fail('this "[" is never closed', open);
      path.push(items.length);
      const node = parseValue(depth + 1);
      path.pop();
      skipBlank();
      items.push({ node, comma: text[at] === ',' ? at : undefined });
      if (text[at] === ',') at++;
      else if (at >= text.length) fail('this "[" is never closed', open);
      else if (text[at] !== ']') fail('expected "," or "]" after the value');
    }
    at++;
    return { value: items.map(({ node }) => node.value), start: open, end: at, items };
  }

  function parseString(): string {
    const start = at++;
    for (; text[at] !== '"'; at++) {
      if (at >= text.length || text[at] === '\n') fail('this string is never closed', start);
      if (text[at] === '\\') at++;
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      return fail('this string contains an unknown escape or a control character', start);
    }
  }

  function parseNumberOrWord(): unknown {
    NUMBER.lastIndex = at;
    const number = NUMBER.exec(text)?.[0];
    if (number !== undefined) {
      at += number.length;
      return Number(number);
    }
    WORD.lastIndex = at;
    const word = WORD.exec(text)?.[0] ?? '';
    if (!WORDS.has(word)) fail(text[at] === "'" ? 'strings need double quotes' : 'expected a value');
    at += word.length;
    return WORDS.get(word);
  }

  function skipBlank(): void {
    for (;;) {
      const char = text[at];
      if (char === ' ' || char === '\n' || char === '\r' || char === '\t') {
        at++;
      } else if (char === '/' && text[at + 1] === '/') {
        onComment?.(at);
        const end = text.indexOf('\n', at);
        at = end === -1 ? text.length : end;
      } else if (char === '/' && text[at + 1] === '*') {
        const end = text.indexOf('*/', at + 2);
        if (end === -1) fail('this comment is never closed');
        onComment?.(at);
        at = end + 2;
      } else {
        return;
      }
    }
  }
}

/** The keys and punctuation of a line. Values may be secrets and become `…`, even if the line is malformed. */
function withoutValues(line: string): string {
  const masked = line
    .slice(0, 500)
    .replace(/"(?:[^"\\]|\\.)*"(\s*:)?|[^\s{}[\],:"]+|"/g, (token, colon: string | undefined) => {
      if (colon !== undefined) return token;
      return token.startsWith('"') ? (token.length > 1 ? '"…"' : '"') : '…';
    })
    .replace(/\u2026(?:\s*\u2026)+/g, '…');
  return masked.length > 80 ? `${masked.slice(0, 79)}…` : masked;
}
