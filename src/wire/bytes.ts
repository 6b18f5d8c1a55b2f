/**
 * A run of bytes as it arrived: a stretch of one buffer, nearly always, or several pieces in order. Offsets count in
 * that buffer, or from the first piece. Pieces are never joined just to be passed on: joining a megabyte costs more
 * than relaying it.
 */
export type Bytes = Stretch | Pieces;

export interface Stretch {
  readonly buffer: Buffer;
  readonly pieces?: undefined;
  readonly from: number;
  readonly to: number;
}

export interface Pieces {
  readonly buffer?: undefined;
  readonly pieces: readonly Buffer[];
  readonly from: 0;
  readonly to: number;
}

export function inPieces(pieces: readonly Buffer[]): Bytes {
  if (pieces.length === 1) return { buffer: pieces[0]!, from: 0, to: pieces[0]!.length };
  let to = 0;
  for (const piece of pieces) to += piece.length;
  return { pieces, from: 0, to };
}

/** The views that make up a range, one for each piece it touches. */
export function viewsOf(bytes: Bytes, start: number, end: number): Buffer[] {
  if (bytes.buffer) return [bytes.buffer.subarray(start, end)];
  const views: Buffer[] = [];
  let offset = 0;
  for (const piece of bytes.pieces) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, piece.length);
    if (from < to) views.push(piece.subarray(from, to));
    offset += piece.length;
    if (offset >= end) break;
  }
  return views;
}

export function textOf(bytes: Bytes, start: number, end: number): string {
  if (bytes.buffer) return bytes.buffer.toString('utf8', start, end);
  return Buffer.concat(viewsOf(bytes, start, end)).toString();
}

export function byteAt(bytes: Bytes, offset: number): number {
  if (bytes.buffer) return bytes.buffer[offset]!;
  for (const piece of bytes.pieces) {
    if (offset < piece.length) return piece[offset]!;
    offset -= piece.length;
  }
  return -1;
}

/** Memory that is already warm: fresh pages for every large message would cost more than scanning it. */
const SCRATCH_BYTES = 2 * 1024 * 1024;
let scratch: Buffer | undefined;

/** The same bytes in one run, to be read at once: the next call may overwrite them. */
export function asOneRun(bytes: Bytes): Stretch {
  if (bytes.buffer) return bytes;
  const { pieces, to } = bytes;
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  const buffer = to <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(to);
  let filled = 0;
  for (const piece of pieces) filled += piece.copy(buffer, filled);
  return { buffer, from: 0, to };
}
