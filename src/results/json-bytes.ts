/** A value in the bytes of valid JSON. */
export interface JsonRange {
  readonly start: number;
  readonly end: number;
}

/** The items of the array that begins at `at`. */
export function* itemsIn(bytes: Buffer, at: number): Generator<JsonRange, void, undefined> {
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== CLOSE_BRACKET) {
    const end = skipValue(bytes, at);
    yield { start: at, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== CLOSE_BRACKET) throw notJson(at);
  }
}

/** The value of a member of the object that begins at `at`; undefined if it has none of that name. */
export function memberIn(bytes: Buffer, at: number, name: string): JsonRange | undefined {
  // If a name is repeated, the last one counts, as in JSON.parse.
  let found: JsonRange | undefined;
  for (const { key, start, end } of membersIn(bytes, at)) {
    const isShort = key.end - key.start <= MAX_KEY_BYTES;
    if (isShort && JSON.parse(bytes.toString('utf8', key.start, key.end)) === name) found = { start, end };
  }
  return found;
}

interface MemberRange extends JsonRange {
  readonly key: JsonRange;
}

/** The members of the object that begins at `at`, each with the range of its value; none if no object begins there. */
export function* membersIn(bytes: Buffer, at: number): Generator<MemberRange, void, undefined> {
  if (bytes[at] !== OPEN_BRACE) return;
  at = skipSpace(bytes, at + 1);
  while (bytes[at] !== CLOSE_BRACE) {
    const keyEnd = skipString(bytes, at);
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = skipValue(bytes, start);
    yield { key: { start: at, end: keyEnd }, start, end };
    at = skipSpace(bytes, end);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
    else if (bytes[at] !== CLOSE_BRACE) throw notJson(at);
  }
}

/** Room for a short name with every letter written as an escape. */
const MAX_KEY_BYTES = 128;

export function isString(bytes: Buffer, range: JsonRange | undefined): range is JsonRange {
  return range !== undefined && bytes[range.start] === QUOTE;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

function skipSpace(bytes: Buffer, at: number): number {
  while ((bytes[at] ?? QUOTE) <= 0x20) at++;
  return at;
}

function skipValue(bytes: Buffer, at: number): number {
  const first = bytes[at];
  if (first === QUOTE) return skipString(bytes, at);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, at);
  const start = at;
  while (at < bytes.length && !ENDS_SCALAR.has(bytes[at] ?? COMMA)) at++;
  if (at === start) throw notJson(at);
  return at;
}

const ENDS_SCALAR = new Set([0x20, 0x09, 0x0a, 0x0d, COMMA, CLOSE_BRACE, CLOSE_BRACKET]);

/** Brackets are counted, not matched: the scanner has checked them. So depth costs nothing. */
function skipNested(bytes: Buffer, at: number): number {
  for (let depth = 0; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  throw notJson(at);
}

function skipString(bytes: Buffer, at: number): number {
  for (at++; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  throw notJson(at);
}

function notJson(at: number): Error {
  return new Error(`Not the text of JSON: offset ${at}`);
}
