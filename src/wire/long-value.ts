import wasm from './assembly/long-value.wasm';

/** Returned instead of an offset if a number is too long for this check, or if WebAssembly is not available. */
export const GIVE_UP = -100;

/**
 * Checks a value that starts with a quote, brace or bracket, with the same result as `skipValueInJs`. The bytes are
 * copied into the memory of the WebAssembly module in pieces, so its size does not depend on the value.
 */
export function skipLongValue(bytes: Uint8Array, start: number, options: LongValueOptions): number {
  const { end, depth, pieceBytes = PIECE_BYTES } = options;
  checker ??= instantiate();
  if (checker === 'unavailable') return GIVE_UP;
  const { memory, input, beginValue, checkBlocks } = checker;
  const range = { end, pieceBytes };
  let at = start;
  if (at < from || at >= enough) load(bytes, at, range, checker);
  const isString = bytes[at] === QUOTE;
  if (isString) at++;
  beginValue(input + at - from, depth, isString);
  for (;;) {
    // A number at the end of the piece may continue, unless this is the last piece.
    const known = to === end ? memory.length : input + to - from;
    const reached = checkBlocks(input + at - from, input + enough - from, known);
    if (reached > 0) return reached - input + from;
    if (reached < 0) return reached;
    at += Math.ceil((enough - at) / BLOCK) * BLOCK;
    if (at >= end) return MALFORMED;
    load(bytes, at, range, checker);
  }
}

export interface LongValueOptions {
  /** The end of the bytes that may belong to it. */
  readonly end: number;
  /** The number of containers around it. */
  readonly depth: number;
  /** How many bytes are copied at a time. Default 64 KiB. */
  readonly pieceBytes?: number | undefined;
}

/** Whether the last value had a raw line break between tokens. */
export function sawLineBreakInside(): boolean {
  return checker !== undefined && checker !== 'unavailable' && checker.hadLineBreak() === 1;
}

/** Must be called before checking other bytes: otherwise the last piece would be reused for the next value. */
export function forgetPiece(): void {
  from = to = enough = 0;
}

const MALFORMED = -2;
const QUOTE = 0x22;
const BLOCK = 64;
const PIECE_BYTES = 64 * 1024;
/** The bytes that must follow the start of each block, so that short tokens can be read completely. */
const AHEAD = 2 * BLOCK;

let checker: Checker | 'unavailable' | undefined;
// The current piece: its offsets in the bytes, and the offset where the next piece is needed.
let from = 0;
let to = 0;
let enough = 0;

function load(
  bytes: Uint8Array,
  at: number,
  { end, pieceBytes }: { end: number; pieceBytes: number },
  checker: Checker,
): void {
  const { memory, input } = checker;
  from = at;
  to = Math.min(at + pieceBytes, end);
  enough = to === end ? end : to - AHEAD;
  // A character may have started before this offset.
  const before = Math.min(at, 3);
  memory.set(bytes.subarray(at - before, to), input - before);
  memory.fill(0, input + to - from, input + to - from + BLOCK);
}

/** The exports of assembly/long-value.ts. */
interface Checker {
  readonly memory: Uint8Array;
  /** The address of the piece in memory. */
  readonly input: number;
  readonly beginValue: (at: number, containers: number, isString: boolean) => void;
  readonly checkBlocks: (at: number, stop: number, known: number) => number;
  readonly hadLineBreak: () => number;
}

interface Exports extends Omit<Checker, 'memory' | 'input'> {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly INPUT: { readonly value: number };
}

/** WebAssembly is not available with `--jitless`, or if address space is limited. */
function instantiate(): Checker | 'unavailable' {
  try {
    const module = new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    const exports = new WebAssembly.Instance(module).exports as Exports;
    return { ...exports, memory: new Uint8Array(exports.memory.buffer), input: exports.INPUT.value };
  } catch {
    return 'unavailable';
  }
}
