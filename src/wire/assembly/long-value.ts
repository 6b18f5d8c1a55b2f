/**
 * Checks one JSON value, 64 bytes at a time. This is AssemblyScript: the build compiles it to WebAssembly with 128-bit
 * vectors. `../long-value.ts` copies the bytes to INPUT, piece by piece, and calls it.
 *
 * In each block, vector comparisons produce bit masks with one bit per byte: quotes, backslashes and so on. A few 64-bit
 * operations on them tell which bytes are inside strings, where tokens start outside of them, and whether each token may
 * follow the one before it. Only braces, brackets, numbers and words are looked at one by one. The masks for strings are
 * those of simdjson (Langdale and Lemire, "Parsing Gigabytes of JSON per Second"), the UTF-8 check is by Keiser and Lemire
 * ("Validating UTF-8 In Less Than One Instruction Per Byte").
 */

import { bits, canBeEscaped, equal, isPlain, parity } from './block';
import { utf8Errors } from './utf8';

/** Address of a piece of up to 64 kB. Three bytes before it are the end of the previous one, 64 after it are zero. */
export const INPUT: usize = memory.data(64 + 64 * 1024 + 64) + 64;

// What `checkBlocks` returns instead of an address; the first two are negated ScanOutcomes.
const MALFORMED: i32 = -2;
const TOO_DEEP: i32 = -3;
/** A number does not end within the piece. */
const GIVE_UP: i32 = -100;
const GO_ON: i32 = 0;

const MAX_DEPTH: usize = 256;
const ODD_BITS: u64 = 0xaaaaaaaaaaaaaaaa;
const ALL: u64 = 0xffffffffffffffff;

/** 1 for bytes that may follow a number or a word. */
const ENDS_SCALAR: usize = memory.data(256);
const IS_HEX: usize = memory.data(256);
/** For each open container, OBJECT or 0. */
const STACK: usize = memory.data(256);
/** The bit in which a brace differs from a bracket. */
const OBJECT: u8 = 0x20;

mark(' \t\n\r,:{}[]', ENDS_SCALAR);
mark('0123456789abcdefABCDEF', IS_HEX);

function mark(characters: string, table: usize): void {
  for (let at = 0; at < characters.length; at++) store<u8>(table + characters.charCodeAt(at), 1);
}

// The value: whether it is a string, and the number of containers around it.
let isString: bool = false;
let outerDepth: usize = 0;

// The state after the last block.
let depth: usize = 0;
/** All ones while inside a string, else zero. */
let inString: u64 = 0;
/** 1 if the last byte was a backslash that escapes the next. */
let escapesNext: u64 = 0;
/** 1 if the last byte was part of a number or word. */
let inScalar: u64 = 0;
/** Whether the last block contained non-ASCII bytes. */
let beyondAscii: bool = false;
let lineBreak: bool = false;
/** 1 if the last token was a string, a number, a word, or the end of a container. */
let valueWasLast: u64 = 0;
/** 1 if it was an opening brace or bracket. */
let openingWasLast: u64 = 0;
/** 1 if it was a brace, or a comma in an object. */
let keyIsNext: u64 = 0;
/** 1 if it was a key. */
let keyWasLast: u64 = 0;

/**
 * Prepares for a value with so many containers around it. It starts at this address, with its brace or bracket; a string
 * starts after its opening quote.
 */
export function beginValue(at: usize, containers: usize, string: bool): void {
  isString = string;
  outerDepth = depth = containers;
  inString = string ? ALL : 0;
  escapesNext = 0;
  inScalar = 0;
  beyondAscii = false;
  lineBreak = false;
  valueWasLast = 0;
  openingWasLast = 0;
  keyIsNext = 0;
  keyWasLast = 0;
  // The UTF-8 check looks at the three bytes before each byte.
  store<u8>(at - 1, 0);
  store<u8>(at - 2, 0);
  store<u8>(at - 3, 0);
}

export function hadLineBreak(): bool {
  return lineBreak;
}

/**
 * Checks all blocks that start before `stop`. Returns the address after the value if it ends there, GO_ON if it does not,
 * or the reason to refuse it. The piece ends at `known`, at least 64 bytes after each block.
 */
export function checkBlocks(at: usize, stop: usize, known: usize): i32 {
  for (; at < stop; at += 64) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    if (inString != 0 && escapesNext == 0 && !beyondAscii && isPlain(a, b, c, d)) continue;

    /** Each error is a bit at its byte, so that those after the end of the value do not count. */
    let errors: u64 = 0;
    let quotes = equal(a, b, c, d, 0x22);
    const backslashes = equal(a, b, c, d, 0x5c);
    if ((backslashes | escapesNext) != 0) {
      const escaped = escapedBytes(backslashes);
      quotes &= ~escaped;
      errors = escaped & ~bits(canBeEscaped(a), canBeEscaped(b), canBeEscaped(c), canBeEscaped(d));
      for (let rest = escaped & equal(a, b, c, d, 0x75); rest != 0; rest &= rest - 1)
        if (!hasFourHex(at + (ctz(rest) as usize) + 1)) errors |= rest & (0 - rest);
    }

    /** Bytes in strings, including the opening quotes. */
    const strings = (quotes == 0 ? 0 : parity(quotes)) ^ inString;
    inString = ((strings as i64) >> 63) as u64;
    const space = i8x16.splat(0x20);
    const controls = bits(
      i8x16.lt_u(a, space),
      i8x16.lt_u(b, space),
      i8x16.lt_u(c, space),
      i8x16.lt_u(d, space),
    );
    errors |= controls & strings;

    const hasMore = i8x16.bitmask(v128.or(v128.or(a, b), v128.or(c, d))) != 0;
    // A sequence that started in the last block may be cut off here.
    if (hasMore || beyondAscii) errors |= utf8Errors(at);
    beyondAscii = hasMore;

    if (quotes == 0 && inString != 0) {
      if (errors != 0) return MALFORMED;
      continue;
    }
    if (isString) {
      const place = ctz(quotes);
      return errors << (63 - place) != 0 ? MALFORMED : ((at + (place as usize) + 1) as i32);
    }

    let lineBreaks: u64 = 0;
    let spaces = equal(a, b, c, d, 0x20);
    if ((controls & ~strings) != 0) {
      lineBreaks = (equal(a, b, c, d, 0x0a) | equal(a, b, c, d, 0x0d)) & ~strings;
      spaces |= equal(a, b, c, d, 0x09) | lineBreaks;
    }
    const outside = ~(strings ^ quotes);
    const colons = equal(a, b, c, d, 0x3a) & outside;
    const commas = equal(a, b, c, d, 0x2c) & outside;
    // Braces and brackets differ in one bit.
    const a2 = v128.or(a, space);
    const b2 = v128.or(b, space);
    const c2 = v128.or(c, space);
    const d2 = v128.or(d, space);
    const openings = equal(a2, b2, c2, d2, 0x7b) & outside;
    const closings = equal(a2, b2, c2, d2, 0x7d) & outside;
    const scalarBytes = ~(spaces | quotes | strings | colons | commas | openings | closings);
    const scalars = scalarBytes & ~((scalarBytes << 1) | inScalar);
    inScalar = scalarBytes >> 63;

    const end = walkContainers(at, openings, closings);
    if (end == MALFORMED) return MALFORMED;
    const upToEnd = ALL >> (63 - endPlace);
    errors |= orderErrors(quotes & strings, scalars, openings, closings, colons, commas);
    if ((errors & upToEnd) != 0) return MALFORMED;
    for (let rest = scalars & upToEnd; rest != 0; rest &= rest - 1) {
      const after = scalarEnd(at + (ctz(rest) as usize));
      if ((abs(after) as usize) >= known) return GIVE_UP;
      if (after < 0 || load<u8>(ENDS_SCALAR + load<u8>(after)) == 0) return MALFORMED;
    }
    if ((lineBreaks & upToEnd) != 0) lineBreak = true;
    if (end != GO_ON) return end;
  }
  return GO_ON;
}

// What `walkContainers` found besides: the place where it ended, the bytes directly in objects, the opening braces.
let endPlace: u64 = 0;
let inObjects: u64 = 0;
let braces: u64 = 0;

/** Follows the braces and brackets of a block. Returns the address after the value if it ends, GO_ON, or a refusal. */
function walkContainers(at: usize, openings: u64, closings: u64): i32 {
  let isObject = isInObject();
  inObjects = isObject;
  braces = 0;
  for (let rest = openings | closings; rest != 0; rest &= rest - 1) {
    endPlace = ctz(rest);
    const byte = load<u8>(at + (endPlace as usize));
    const kind = byte & OBJECT;
    if (byte == 0x7b || byte == 0x5b) {
      if (depth == MAX_DEPTH) return TOO_DEEP;
      store<u8>(STACK + depth++, kind);
      if (kind == OBJECT) braces |= rest & (0 - rest);
    } else {
      if (load<u8>(STACK + --depth) != kind) return MALFORMED;
      if (depth == outerDepth) return (at + (endPlace as usize) + 1) as i32;
    }
    const wasObject = isObject;
    isObject = isInObject();
    inObjects ^= (isObject ^ wasObject) & ((-2 as u64) << endPlace);
  }
  endPlace = 63;
  return GO_ON;
}

/** All ones if the innermost container is an object, zero if it is an array. */
function isInObject(): u64 {
  return depth > outerDepth && load<u8>(STACK + depth - 1) == OBJECT ? ALL : 0;
}

/** The tokens of a block that must not follow the one before them. A string is one token, at its opening quote. */
function orderErrors(
  strings: u64,
  scalars: u64,
  openings: u64,
  closings: u64,
  colons: u64,
  commas: u64,
): u64 {
  const tokens = strings | scalars | openings | closings | colons | commas;
  const afterValue = next(strings | scalars | closings, tokens, valueWasLast);
  valueWasLast = carry;
  const afterOpening = next(openings, tokens, openingWasLast);
  openingWasLast = carry;
  const keys = next(braces | (commas & inObjects), tokens, keyIsNext);
  keyIsNext = carry;
  const afterKey = next(keys & strings, tokens, keyWasLast);
  keyWasLast = carry;
  return (
    ((strings | scalars | openings) & afterValue) |
    ((colons | commas) & ~afterValue) |
    (closings & ~(afterValue | afterOpening)) |
    // An empty object has no key.
    (keys & ~(strings | closings)) |
    (colons ^ afterKey)
  );
}

/** 1 if the token after the last bit of the mask is in the next block. */
let carry: u64 = 0;

/** The token after each bit of the mask: adding a bit to the run of ones between two tokens carries it to the second. */
function next(mask: u64, tokens: u64, carried: u64): u64 {
  const between = ~tokens;
  const sum = ((mask << 1) | carried) + between;
  carry = (mask >> 63) | ((sum < between) as u64);
  return sum & tokens;
}

/**
 * The bytes after an odd number of backslashes. Subtracting a run of backslashes from alternating bits carries through
 * the run and flips every second bit of it, starting with the first.
 */
function escapedBytes(backslashes: u64): u64 {
  const starts = backslashes & ~escapesNext;
  const flipped = (((starts << 1) | ODD_BITS) - starts) ^ ODD_BITS;
  const escaped = flipped ^ (backslashes | escapesNext);
  escapesNext = (flipped & backslashes) >> 63;
  return escaped;
}

function hasFourHex(at: usize): bool {
  return (
    (load<u8>(IS_HEX + load<u8>(at)) &
      load<u8>(IS_HEX + load<u8>(at, 1)) &
      load<u8>(IS_HEX + load<u8>(at, 2)) &
      load<u8>(IS_HEX + load<u8>(at, 3))) !=
    0
  );
}

/** The address after a number or word. If it is malformed, the negated address of the offending byte. */
function scalarEnd(at: usize): isize {
  const byte = load<u8>(at);
  if (byte == 0x2d || byte - 0x30 < 10) return numberEnd(at);
  const four = load<u32>(at);
  if (four == 0x65757274 || four == 0x6c6c756e) return (at + 4) as isize; // true, null
  if (four == 0x736c6166 && load<u8>(at, 4) == 0x65) return (at + 5) as isize; // false
  return -(at as isize);
}

function numberEnd(at: usize): isize {
  if (load<u8>(at) == 0x2d) at++;
  if (load<u8>(at) == 0x30) at++;
  else {
    const end = digitsEnd(at);
    if (end == at) return -(at as isize);
    at = end;
  }
  if (load<u8>(at) == 0x2e) {
    const end = digitsEnd(++at);
    if (end == at) return -(at as isize);
    at = end;
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    at++;
    const sign = load<u8>(at);
    if (sign == 0x2b || sign == 0x2d) at++;
    const end = digitsEnd(at);
    if (end == at) return -(at as isize);
    at = end;
  }
  return at as isize;
}

function digitsEnd(at: usize): usize {
  while (load<u8>(at) - 0x30 < 10) at++;
  return at;
}
