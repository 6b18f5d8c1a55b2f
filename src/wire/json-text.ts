/**
 * Takes the text of a JSON object or array apart without parsing its values, so that the text of numbers, escapes, the
 * order of members and unknown members are preserved when it is put together again.
 *
 * The text must have been accepted by the scanner. It is not checked again beyond what is necessary to navigate it; a
 * text that is obviously something else is a bug of the caller and throws a plain Error.
 *
 * The returned texts are slices: keeping one keeps the whole text in memory. They are unchanged, including line breaks
 * between tokens, which a line-framed wire cannot carry.
 */
export function jsonMembers(object: string): Member[] {
  const members: Member[] = [];
  walkMembers(object, ({ key, start, keyEnd, valueStart, end }) => {
    members.push({ key, keyText: object.slice(start, keyEnd), valueText: object.slice(valueStart, end) });
  });
  return members;
}

/** A member of an object: the key as a (decoded) string, and key and value as written. */
export interface Member {
  readonly key: string;
  readonly keyText: string;
  readonly valueText: string;
}

/** The texts of an array's items, in order. Each is found only when it is requested, because there may be millions. */
export function* jsonItems(array: string): Generator<string, void, undefined> {
  let at = opening(array, OPEN_BRACKET, 'array');
  if (array.charCodeAt(at) === CLOSE_BRACKET) {
    expectEnd(array, at + 1, 'array');
    return;
  }
  for (;;) {
    const end = skipValue(array, at, 'array');
    yield array.slice(at, end);
    at = skipSpace(array, end);
    const code = array.charCodeAt(at);
    if (code === CLOSE_BRACKET) break;
    if (code !== COMMA) throw notA('array', at);
    at = skipSpace(array, at + 1);
  }
  expectEnd(array, at + 1, 'array');
}

/**
 * The text of one member's value; undefined if it is absent. If the key is duplicated, the last one counts, as in
 * JSON.parse.
 */
export function memberText(object: string, key: string): string | undefined {
  let from = -1;
  let to = -1;
  walkMembers(object, (found) => {
    if (found.key !== key) return;
    from = found.valueStart;
    to = found.end;
  });
  return from === -1 ? undefined : object.slice(from, to);
}

/**
 * The same object with some members replaced or removed (undefined); members that it lacks are appended in the given
 * order. Everything unchanged keeps its text, except for whitespace next to a change. A duplicate key that is replaced
 * is kept only once, at its first position: otherwise its last copy would override the replacement.
 *
 * Use a Map if keys come from outside: in an object literal, `__proto__` is not a key.
 */
export function withMembers(object: string, changes: MemberChanges): string {
  const entries: Iterable<readonly [string, string | undefined]> =
    changes instanceof Map ? changes : Object.entries(changes);
  const waiting = new Map(entries);
  return spliced(object, waiting) ?? rebuilt(object, waiting);
}

/** Most changes only replace a value or add a member; then everything else stays exactly as it is. */
function spliced(object: string, changes: ReadonlyMap<string, string | undefined>): string | undefined {
  const places = new Map<string, { readonly from: number; readonly to: number }>();
  const found: string[] = [];
  let last = -1;
  walkMembers(object, ({ key, valueStart, end }) => {
    last = end;
    if (!changes.has(key)) return;
    found.push(key);
    places.set(key, { from: valueStart, to: end });
  });
  // One copy of a duplicate key has to be removed.
  if (found.length > places.size || last === -1) return undefined;
  let text = '';
  let at = 0;
  // Members are visited in order, so their offsets are in order too.
  for (const [key, { from, to }] of places) {
    const value = changes.get(key);
    if (value === undefined) return undefined;
    text += object.slice(at, from) + value;
    at = to;
  }
  text += object.slice(at, last);
  for (const [key, value] of changes) {
    if (!places.has(key) && value !== undefined) text += `,${JSON.stringify(key)}:${value}`;
  }
  return text + object.slice(last);
}

function rebuilt(object: string, waiting: Map<string, string | undefined>): string {
  const changed = new Set(waiting.keys());
  const parts: string[] = [];
  const put = (key: string, keyText: string): void => {
    const valueText = waiting.get(key);
    waiting.delete(key);
    if (valueText !== undefined) parts.push(`${keyText}:${valueText}`);
  };
  // Unchanged neighbours are copied as one range.
  let from = -1;
  let to = -1;
  const takeOver = (): void => {
    if (from !== -1) parts.push(object.slice(from, to));
    from = -1;
  };
  walkMembers(object, ({ key, start, keyEnd, end }) => {
    if (changed.has(key)) {
      takeOver();
      put(key, object.slice(start, keyEnd));
    } else {
      if (from === -1) from = start;
      to = end;
    }
  });
  takeOver();
  for (const key of [...waiting.keys()]) put(key, JSON.stringify(key));
  return `{${parts.join(',')}}`;
}

/** Value texts by key; undefined removes a member. */
export type MemberChanges =
  Readonly<Record<string, string | undefined>> | ReadonlyMap<string, string | undefined>;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

type Container = 'object' | 'array';

/** A member found in an object: its decoded key, and the start and end of the member, its key and its value. */
interface MemberPosition {
  readonly key: string;
  readonly start: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly end: number;
}

function walkMembers(object: string, visit: (member: MemberPosition) => void): void {
  let at = opening(object, OPEN_BRACE, 'object');
  if (object.charCodeAt(at) === CLOSE_BRACE) {
    expectEnd(object, at + 1, 'object');
    return;
  }
  for (;;) {
    if (object.charCodeAt(at) !== QUOTE) throw notA('object', at);
    const start = at;
    const keyEnd = skipString(object, start, 'object');
    at = skipSpace(object, keyEnd);
    if (object.charCodeAt(at) !== COLON) throw notA('object', at);
    at = skipSpace(object, at + 1);
    const end = skipValue(object, at, 'object');
    visit({ key: decodedKey(object, start, keyEnd), start, keyEnd, valueStart: at, end });
    at = skipSpace(object, end);
    const code = object.charCodeAt(at);
    if (code === CLOSE_BRACE) break;
    if (code !== COMMA) throw notA('object', at);
    at = skipSpace(object, at + 1);
  }
  expectEnd(object, at + 1, 'object');
}

function decodedKey(text: string, start: number, end: number): string {
  const inner = text.slice(start + 1, end - 1);
  return inner.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : inner;
}

/** The offset of the first token inside. */
function opening(text: string, bracket: number, container: Container): number {
  const at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== bracket) throw notA(container, at);
  return skipSpace(text, at + 1);
}

function expectEnd(text: string, at: number, container: Container): void {
  at = skipSpace(text, at);
  if (at !== text.length) throw notA(container, at);
}

/** Names the offset but not the text, which may contain secrets. */
function notA(container: Container, at: number): Error {
  return new Error(`Not the text of a JSON ${container}: offset ${at}`);
}

function skipSpace(text: string, at: number): number {
  // Beyond the end, charCodeAt returns NaN, which compares as false.
  while (text.charCodeAt(at) <= SPACE) at++;
  return at;
}

/** The end of the value at `at`: the position of the space, comma or closing bracket after it. */
function skipValue(text: string, at: number, container: Container): number {
  const code = text.charCodeAt(at);
  if (code === QUOTE) return skipString(text, at, container);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return skipNested(text, at, container);
  const end = skipScalar(text, at);
  if (end === at) throw notA(container, at);
  return end;
}

/** Brackets are counted, not matched, because the scanner has already matched them. Depth therefore costs nothing. */
function skipNested(text: string, at: number, container: Container): number {
  const { length } = text;
  let depth = 0;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = skipString(text, at, container);
      continue;
    }
    at++;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at;
  }
  throw notA(container, at);
}

/**
 * The end of the string whose quote is at `at`. Jumps from quote to quote: most strings contain none except the last.
 */
function skipString(text: string, at: number, container: Container): number {
  const start = at + 1;
  for (let end = text.indexOf('"', start); end !== -1; end = text.indexOf('"', end + 1)) {
    // An odd number of backslashes before a quote escapes it. Runs before different quotes do not overlap, so
    // looking back stays linear.
    let before = end;
    while (before > start && text.charCodeAt(before - 1) === BACKSLASH) before--;
    if (((end - before) & 1) === 0) return end + 1;
  }
  throw notA(container, at);
}

/** A number, true, false or null. */
function skipScalar(text: string, at: number): number {
  const { length } = text;
  while (at < length) {
    const code = text.charCodeAt(at);
    if (code <= SPACE || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) break;
    at++;
  }
  return at;
}
