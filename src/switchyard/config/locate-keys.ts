import { parse } from 'smol-toml';

/** Where the keys of a TOML text stand. The parser tells values only, and a message without a line is half a message. */
export interface KeyLocations {
  /** The line of a key, or of the nearest key above it that stands in the text; 1 when there is none. */
  lineOf(path: readonly string[]): number;
  /** Where a key begins, to put keys in the order of the text; undefined for one that is not there. */
  positionOf(path: readonly string[]): number | undefined;
  /** A number, date or boolean as it is written. */
  writtenAt(path: readonly string[]): string | undefined;
}

interface Place {
  readonly position: number;
  readonly line: number;
  written?: string;
}

const VOID = /(?:[ \t\r\n]|#[^\n]*)*/y;
const KEY_PART = /"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+/y;
const DOT = /[ \t]*\.[ \t]*/y;
const EQUALS = /[ \t]*=[ \t]*/y;
const HEADER_END = /[ \t]*\]\]?/y;
const STRING = /"""(?:[^"\\]|\\[^]|"(?!""))*"{3,5}|'''(?:[^']|'(?!''))*'{3,5}|"(?:[^"\\]|\\.)*"|'[^']*'/y;
const BARE_VALUE = /[^,\]}#\r\n]+/y;

/**
 * Walks over a text that the parser has accepted. Items of a list have their index as key. A text that it does not
 * understand ends the walk: the keys found until then are still right.
 */
export function locateKeys(text: string): KeyLocations {
  const places = new Map<string, Place>();
  let at = text.startsWith('\ufeff') ? 1 : 0;
  const line = lineCounter(text);

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const match = pattern.exec(text)?.[0];
    if (match !== undefined) at += match.length;
    return match;
  };

  /** Dotted keys name tables on the way, which count from there unless they stood earlier. */
  const note = (table: readonly string[], key: readonly string[], position: number): string[] => {
    for (let length = 1; length <= key.length; length++) {
      const name = nameOf([...table, ...key.slice(0, length)]);
      if (!places.has(name)) places.set(name, { position, line: line(position) });
    }
    return [...table, ...key];
  };

  const dottedKey = (): string[] => {
    const key: string[] = [];
    do {
      const part = take(KEY_PART);
      if (part === undefined) return key;
      key.push(unquoted(part));
    } while (take(DOT) !== undefined);
    return key;
  };

  const assignment = (table: readonly string[]): boolean => {
    const position = at;
    const key = dottedKey();
    if (key.length === 0 || take(EQUALS) === undefined) return false;
    return value(note(table, key, position));
  };

  const value = (path: readonly string[]): boolean => {
    const first = text[at];
    if (first === '[' || first === '{') {
      at++;
      return items(path, first === '[' ? ']' : '}');
    }
    if (take(STRING) !== undefined) return true;
    const written = take(BARE_VALUE)?.trim();
    const place = places.get(nameOf(path));
    if (place !== undefined && written !== undefined) place.written = written;
    return written !== undefined;
  };

  const items = (path: readonly string[], end: ']' | '}'): boolean => {
    for (let index = 0; ; index++) {
      take(VOID);
      if (text[at] === end) {
        at++;
        return true;
      }
      const understood = end === '}' ? assignment(path) : value(note(path, [String(index)], at));
      if (!understood) return false;
      take(VOID);
      if (text[at] === ',') at++;
      else if (text[at] !== end) return false;
    }
  };

  let table: readonly string[] = [];
  for (;;) {
    take(VOID);
    if (at >= text.length) break;
    if (text[at] !== '[') {
      if (!assignment(table)) break;
      continue;
    }
    const position = at;
    at += text[at + 1] === '[' ? 2 : 1;
    take(/[ \t]*/y);
    table = note([], dottedKey(), position);
    if (take(HEADER_END) === undefined) break;
  }

  return {
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const place = places.get(nameOf(path.slice(0, length)));
        if (place !== undefined) return place.line;
      }
      return 1;
    },
    positionOf: (path) => places.get(nameOf(path))?.position,
    writtenAt: (path) => places.get(nameOf(path))?.written,
  };
}

/** The line of a position; to be asked in ascending order, so that the text is counted through only once. */
function lineCounter(text: string): (position: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (position) => {
    for (; next !== -1 && next < position; next = text.indexOf('\n', next + 1)) line++;
    return line;
  };
}

function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}

/** A key as the parser gives it. Escapes are rare in keys, so the parser itself undoes them. */
function unquoted(part: string): string {
  if (!/^["']/.test(part)) return part;
  if (part.startsWith('"') && part.includes('\\')) {
    try {
      return Object.keys(parse(`${part} = 0`))[0]!;
    } catch {
      // Not in a text that it has accepted.
    }
  }
  return part.slice(1, -1);
}
