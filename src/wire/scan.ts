import { forgetPiece, GIVE_UP, sawLineBreakInside, skipLongValue } from './long-value.ts';
import type { MemoizedObject, ObjectMemo } from './object-memo.ts';
import type { Offsets, Shape, ShapeNode } from './shape.ts';

/**
 * A strict JSON scanner that checks every byte once, builds no values, and records the offsets of chosen members.
 *
 * Only this code decides whether bytes are JSON text. It accepts exactly what JSON.parse accepts of valid UTF-8 (a
 * property test keeps the two together), so forwarding the scanned bytes sends what a full parse would have seen. A
 * member in the shape must not be duplicated in its object: a scan could use the first one and a parser the last.
 *
 * Values are checked in WebAssembly if they start at least `longFrom` bytes before the end, otherwise in JavaScript.
 */
// eslint-disable-next-line @typescript-eslint/max-params -- runs for every message; an object for these would be the only one it makes
export function scan(
  bytes: Uint8Array,
  start: number,
  end: number,
  shape: Shape,
  offsets: Offsets,
  longFrom: number = LONG_VALUE,
): ScanOutcome {
  longValue = longFrom;
  lineBreak = false;
  memoized = undefined;
  forgetPiece();
  let at = skipSpace(bytes, start, end);
  if (at >= end) return ScanOutcome.Malformed;
  const objectNode = bytes[at] === OPEN_BRACE ? shape.root : undefined;
  at = objectNode ? scanMembers(bytes, at, end, 1, objectNode, offsets) : skipValue(bytes, at, end, 0);
  if (at < 0) return -at;
  at = skipSpace(bytes, at, end);
  if (at !== end) {
    return ScanOutcome.Trailing;
  }
  return objectNode ? ScanOutcome.Object : ScanOutcome.OtherValue;
}

/**
 * The outcome of a scan; everything from Malformed on is a refusal. Trailing: a complete value followed by something
 * else.
 */
export const ScanOutcome = {
  Object: 0,
  OtherValue: 1,
  Malformed: 2,
  TooDeep: 3,
  Duplicate: 4,
  Trailing: 5,
  TooMany: 6,
} as const;
export type ScanOutcome = number;

/** Whether the bytes scanned last had a raw line break between tokens, which a line-framed wire cannot carry. */
export function sawLineBreak(): boolean {
  return lineBreak;
}

/** The memoized object in the bytes scanned last, if there is one. */
export function memoizedObject(): object | undefined {
  return memoized;
}

/**
 * The shortest value that is worth checking in WebAssembly: calling it costs as much as checking about 200 bytes in
 * JavaScript.
 */
const LONG_VALUE = 256;

/** Deeper nesting is refused: no real message comes close, and a later reader may be recursive. */
export const MAX_DEPTH = 256;

/**
 * The most members of an object that are compared with the shape. An object with more is refused, because each takes
 * time.
 */
export const MAX_MEMBERS = 100_000;

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const MINUS = 0x2d;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;

// Only one scan runs at a time (the program has one thread and a scan never waits), so its by-products are kept here.
// The functions below can then return just a number: the offset they reached, or a negated ScanOutcome.
let longValue = LONG_VALUE;
let lineBreak = false;
let memoized: MemoizedObject | undefined;

/** Bytes that end a run of plain string characters: controls, quote, backslash, and everything non-ASCII. */
const STOPS_STRING = new Uint8Array(256);
STOPS_STRING.fill(1, 0, 0x20);
STOPS_STRING[QUOTE] = 1;
STOPS_STRING[BACKSLASH] = 1;
STOPS_STRING.fill(1, 0x80);

/** Characters that may follow a backslash, except `u`. */
const ESCAPABLE = new Uint8Array(256);
for (const char of '"\\/bfnrt') ESCAPABLE[char.charCodeAt(0)] = 1;

const IS_HEX = new Uint8Array(256);
for (const char of '0123456789abcdefABCDEF') IS_HEX[char.charCodeAt(0)] = 1;

const MALFORMED = -ScanOutcome.Malformed;

function skipSpace(bytes: Uint8Array, at: number, end: number): number {
  while (at < end) {
    const byte = bytes[at]!;
    if (byte > 0x20) return at;
    if (byte === 0x20 || byte === 0x09) at++;
    else if (byte === 0x0a || byte === 0x0d) {
      lineBreak = true;
      at++;
    } else return at;
  }
  return at;
}

/** Scans an object with members to find; `at` is the offset of its brace. */
// eslint-disable-next-line @typescript-eslint/max-params -- runs for every object of interest in every message
function scanMembers(
  bytes: Uint8Array,
  at: number,
  end: number,
  depth: number,
  node: ShapeNode,
  offsets: Offsets,
): number {
  at++;
  if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
  if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
  for (let members = 0; ; members++) {
    if (members === MAX_MEMBERS) return -ScanOutcome.TooMany;
    if (at >= end || bytes[at] !== QUOTE) return MALFORMED;
    const keyStart = at + 1;
    at = skipString(bytes, keyStart, end);
    if (at < 0) return at;
    const index = findKey(bytes, keyStart, at, node);
    if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
    if (at >= end || bytes[at] !== COLON) return MALFORMED;
    at++;
    if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
    if (index < 0) at = skipValue(bytes, at, end, depth);
    else {
      const place = node.slots[index]! * 2;
      if (offsets[place] !== -1) return -ScanOutcome.Duplicate;
      offsets[place] = at;
      const child = node.children[index];
      at =
        child !== undefined && at < end && bytes[at] === OPEN_BRACE
          ? child.memo === undefined
            ? scanMembers(bytes, at, end, depth + 1, child, offsets)
            : scanRepeated(bytes, at, end, depth + 1, child, child.memo, offsets)
          : skipValue(bytes, at, end, depth);
      offsets[place + 1] = at;
    }
    if (at < 0) return at;
    if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
    if (at >= end) return MALFORMED;
    const byte = bytes[at];
    if (byte === CLOSE_BRACE) return at + 1;
    if (byte !== COMMA) return MALFORMED;
    at++;
    if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
  }
}

/** The same for an object that usually equals an earlier one. */
// eslint-disable-next-line @typescript-eslint/max-params -- runs for every `params` in every message
function scanRepeated(
  bytes: Uint8Array,
  at: number,
  end: number,
  depth: number,
  node: ShapeNode,
  repeats: ObjectMemo,
  offsets: Offsets,
): number {
  const known = repeats.find(bytes, at, end, offsets);
  if (known !== undefined) {
    memoized = known;
    return at + known.length;
  }
  const behind = scanMembers(bytes, at, end, depth, node, offsets);
  // A line break in such an object would have to be reported each time.
  if (behind >= 0 && !lineBreak) repeats.store(bytes, at, behind, offsets);
  return behind;
}

/** The index of the name that the key bytes spell, including the closing quote, or −1. */
function findKey(bytes: Uint8Array, start: number, end: number, node: ShapeNode): number {
  const { keys } = node;
  const length = end - start;
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]!;
    if (key.length !== length) continue;
    let offset = 0;
    while (offset < length && key[offset] === bytes[start + offset]) offset++;
    if (offset === length) return index;
  }
  // A parser reads "\u0069d" as id, and so must we. Escapes in keys are rare, and only then is the key decoded.
  for (let offset = start; offset < end; offset++) {
    if (bytes[offset] !== BACKSLASH) continue;
    const spelled: unknown = JSON.parse(Buffer.from(bytes.subarray(start - 1, end)).toString());
    return node.names.indexOf(spelled as string);
  }
  return -1;
}

/** Checks one value; `depth` is the number of containers around it. */
function skipValue(bytes: Uint8Array, at: number, end: number, depth: number): number {
  if (end - at < longValue) return skipValueInJs(bytes, at, end, depth);
  const byte = bytes[at];
  if (byte === QUOTE) {
    // Most strings are short, even in long messages.
    const behind = skipString(bytes, at + 1, at + (longValue >> 2));
    if (behind >= 0) return behind;
  } else if (byte !== OPEN_BRACE && byte !== OPEN_BRACKET) return skipValueInJs(bytes, at, end, depth);
  const behind = skipLongValue(bytes, at, { end, depth });
  if (behind === GIVE_UP) return skipValueInJs(bytes, at, end, depth);
  if (sawLineBreakInside()) lineBreak = true;
  return behind;
}

/** The kinds of the containers around the current value, by level, outermost first. */
const stack = new Uint8Array(MAX_DEPTH + 1);

/**
 * The same in JavaScript. White space is rare on a wire, so each place that allows it checks the byte before calling.
 */
function skipValueInJs(bytes: Uint8Array, at: number, end: number, depth: number): number {
  const outer = depth;
  for (;;) {
    if (at >= end) return MALFORMED;
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = skipString(bytes, at + 1, end);
      if (at < 0) return at;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth >= MAX_DEPTH) return -ScanOutcome.TooDeep;
      stack[depth++] = byte;
      at++;
      if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
      // In ASCII, a closing brace or bracket is two after the opening one.
      if (at < end && bytes[at] === byte + 2) {
        depth--;
        at++;
      } else if (byte === OPEN_BRACE) {
        at = skipKey(bytes, at, end);
        if (at < 0) return at;
        continue;
      } else continue;
    } else {
      at =
        byte === MINUS || (byte >= ZERO && byte <= NINE)
          ? skipNumber(bytes, at, end)
          : skipWord(bytes, at, end);
      if (at < 0) return at;
    }
    // A value has ended: close the containers that end here, then move on to the next value.
    for (;;) {
      if (depth === outer) return at;
      if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
      if (at >= end) return MALFORMED;
      const next = bytes[at]!;
      const container = stack[depth - 1]!;
      if (next === COMMA) {
        at++;
        if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
        if (container === OPEN_BRACE) {
          at = skipKey(bytes, at, end);
          if (at < 0) return at;
        }
        break;
      }
      if (next !== container + 2) return MALFORMED;
      depth--;
      at++;
    }
  }
}

/** Checks a key and its colon; returns the offset of the value after it. */
function skipKey(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end || bytes[at] !== QUOTE) return MALFORMED;
  at = skipString(bytes, at + 1, end);
  if (at < 0) return at;
  if (at < end && bytes[at]! <= SPACE) at = skipSpace(bytes, at, end);
  if (at >= end || bytes[at] !== COLON) return MALFORMED;
  at++;
  return at < end && bytes[at]! <= SPACE ? skipSpace(bytes, at, end) : at;
}

/** Checks a string, from after its opening quote to after its closing quote. */
function skipString(bytes: Uint8Array, at: number, end: number): number {
  for (;;) {
    while (at < end && STOPS_STRING[bytes[at]!] === 0) at++;
    if (at >= end) return MALFORMED;
    const byte = bytes[at]!;
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) {
      if (at + 1 >= end) return MALFORMED;
      const escaped = bytes[at + 1]!;
      if (ESCAPABLE[escaped] === 1) at += 2;
      else if (escaped === 0x75 && at + 5 < end && isHex4(bytes, at + 2)) at += 6;
      else return MALFORMED;
    } else if (byte >= 0x80) {
      const length = sequenceLength(bytes, at, end);
      if (length === 0) return MALFORMED;
      at += length;
    } else return MALFORMED;
  }
}

function isHex4(bytes: Uint8Array, at: number): boolean {
  return (
    (IS_HEX[bytes[at]!]! & IS_HEX[bytes[at + 1]!]! & IS_HEX[bytes[at + 2]!]! & IS_HEX[bytes[at + 3]!]!) === 1
  );
}

/**
 * The length of the well-formed multi-byte UTF-8 sequence at `at`, or 0 for overlong forms, surrogates, and anything
 * above U+10FFFF.
 */
function sequenceLength(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at]!;
  const second = at + 1 < end ? bytes[at + 1]! : 0;
  if ((second & 0xc0) !== 0x80) return 0;
  if (first >= 0xc2 && first <= 0xdf) return 2;
  const third = at + 2 < end ? bytes[at + 2]! : 0;
  if ((third & 0xc0) !== 0x80) return 0;
  if ((first & 0xf0) === 0xe0) {
    if (first === 0xe0 && second < 0xa0) return 0;
    if (first === 0xed && second > 0x9f) return 0;
    return 3;
  }
  const fourth = at + 3 < end ? bytes[at + 3]! : 0;
  if ((fourth & 0xc0) !== 0x80) return 0;
  if (first < 0xf0 || first > 0xf4) return 0;
  if (first === 0xf0 && second < 0x90) return 0;
  if (first === 0xf4 && second > 0x8f) return 0;
  return 4;
}

function skipNumber(bytes: Uint8Array, at: number, end: number): number {
  if (bytes[at] === MINUS) at++;
  if (at >= end) return MALFORMED;
  if (bytes[at] === ZERO) at++;
  else {
    const digits = skipDigits(bytes, at, end);
    if (digits === at) return MALFORMED;
    at = digits;
  }
  if (at < end && bytes[at] === 0x2e) {
    const digits = skipDigits(bytes, at + 1, end);
    if (digits === at + 1) return MALFORMED;
    at = digits;
  }
  if (at < end && (bytes[at] === 0x65 || bytes[at] === 0x45)) {
    let exponent = at + 1;
    if (exponent < end && (bytes[exponent] === 0x2b || bytes[exponent] === MINUS)) exponent++;
    const digits = skipDigits(bytes, exponent, end);
    if (digits === exponent) return MALFORMED;
    at = digits;
  }
  return at;
}

function skipDigits(bytes: Uint8Array, at: number, end: number): number {
  while (at < end && bytes[at]! >= ZERO && bytes[at]! <= NINE) at++;
  return at;
}

/** Checks true, false or null. */
function skipWord(bytes: Uint8Array, at: number, end: number): number {
  switch (bytes[at]) {
    case 0x74:
      return at + 4 <= end && bytes[at + 1] === 0x72 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x65
        ? at + 4
        : MALFORMED;
    case 0x66:
      return at + 5 <= end &&
        bytes[at + 1] === 0x61 &&
        bytes[at + 2] === 0x6c &&
        bytes[at + 3] === 0x73 &&
        bytes[at + 4] === 0x65
        ? at + 5
        : MALFORMED;
    case 0x6e:
      return at + 4 <= end && bytes[at + 1] === 0x75 && bytes[at + 2] === 0x6c && bytes[at + 3] === 0x6c
        ? at + 4
        : MALFORMED;
    default:
      return MALFORMED;
  }
}
