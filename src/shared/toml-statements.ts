import { parse } from 'smol-toml';

/** A statement of a TOML text: a header or a key with its value, on one or more lines. */
export type TomlStatement = TomlHeader | TomlPair;

interface TomlHeader {
  readonly kind: 'table' | 'list-of-tables';
  /** From the top of the document. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly value?: undefined;
}

export interface TomlPair extends Omit<TomlHeader, 'kind' | 'value'> {
  readonly kind: 'pair';
  readonly value: TomlNode;
}

export type TomlNode = TomlBraces | TomlValue;

interface TomlValue {
  readonly start: number;
  readonly end: number;
  readonly members?: undefined;
  /** For a list; undefined for any other value. */
  readonly items?: readonly TomlNode[];
}

/** An inline table. */
export interface TomlBraces extends Omit<TomlValue, 'members'> {
  /** In the order written. */
  readonly members: readonly TomlMember[];
}

export interface TomlMember {
  /** More than one for a dotted key. */
  readonly key: readonly string[];
  readonly start: number;
  readonly node: TomlNode;
}

const VOID = /(?:[ \t\r\n]|#[^\n]*)*/y;
const BLANKS = /[ \t]*/y;
const KEY_PART = /"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'.=[\]{}#,]+/y;
const STRING = /"""(?:[^"\\]|\\[^]|"(?!""))*"{3,5}|'''(?:[^']|'(?!''))*'{3,5}|"(?:[^"\\]|\\.)*"|'[^']*'/y;
const BARE = /[^,\]}#\r\n]+/y;

/**
 * Splits a text that the parser has accepted, without a byte-order mark, into statements. Comments and white space are
 * between them. A statement that is not understood is an error, thrown after the statements before it.
 */
export function* tomlStatements(text: string): Generator<TomlStatement> {
  let at = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [''];
    at += found.length;
    return found;
  };
  const takeKey = (): string[] => {
    const key: string[] = [];
    for (;;) {
      take(BLANKS);
      key.push(unquoted(take(KEY_PART)));
      const end = at;
      take(BLANKS);
      if (text[at] !== '.') {
        at = end;
        return key;
      }
      at++;
    }
  };
  const takeValue = (): TomlNode => {
    const start = at;
    const open = text[at];
    if (open !== '[' && open !== '{') {
      if (take(STRING) === '') {
        const bare = take(BARE);
        if (bare.trim() === '') throw new Error('This is not the TOML that was parsed.');
        at -= bare.length - bare.trimEnd().length;
      }
      return { start, end: at };
    }
    const members: TomlMember[] = [];
    const items: TomlNode[] = [];
    at++;
    for (take(VOID); at < text.length && text[at] !== (open === '[' ? ']' : '}'); take(VOID)) {
      if (text[at] === ',') at++;
      else if (open === '[') items.push(takeValue());
      else members.push(takePair());
    }
    at++;
    return open === '{' ? { start, end: at, members } : { start, end: at, items };
  };
  const takePair = (): TomlMember => {
    const start = at;
    const key = takeKey();
    take(BLANKS);
    at++;
    take(BLANKS);
    return { key, start, node: takeValue() };
  };

  let header: readonly string[] = [];
  for (take(VOID); at < text.length; take(VOID)) {
    const start = at;
    if (text[at] !== '[') {
      const { key, node } = takePair();
      yield { kind: 'pair', path: [...header, ...key], start, end: node.end, value: node };
      continue;
    }
    const isList = text[at + 1] === '[';
    at += isList ? 2 : 1;
    header = takeKey();
    take(BLANKS);
    at += isList ? 2 : 1;
    const kind = isList ? 'list-of-tables' : 'table';
    yield { kind, path: header, start, end: at };
  }
}

/** A key without quotes. Escapes are rare in keys, so the parser itself decodes them. */
function unquoted(part: string): string {
  if (!/^["']/.test(part)) return part;
  const escaped = part.includes('\\') && part.startsWith('"') ? Object.keys(parse(`${part} = 0`)) : [];
  return escaped[0] ?? part.slice(1, -1);
}
