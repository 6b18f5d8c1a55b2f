/**
 * Bytes as they arrived: nearly always a slice of one buffer, otherwise several chunks in order. Offsets count within
 * that buffer, or from the first chunk. Chunks are never joined just to be relayed: joining a megabyte costs more than
 * relaying it.
 */
export type Bytes = ByteSlice | ByteChunks;

export interface ByteSlice {
  readonly buffer: Buffer;
  readonly chunks?: undefined;
  readonly from: number;
  readonly to: number;
}

export interface ByteChunks {
  readonly buffer?: undefined;
  readonly chunks: readonly Buffer[];
  readonly from: 0;
  readonly to: number;
}

export function fromChunks(chunks: readonly Buffer[]): Bytes {
  if (chunks.length === 1) return { buffer: chunks[0]!, from: 0, to: chunks[0]!.length };
  let to = 0;
  for (const chunk of chunks) to += chunk.length;
  return { chunks, from: 0, to };
}

/** The views that make up a range, one for each chunk that it touches. */
export function viewsOf(bytes: Bytes, start: number, end: number): Buffer[] {
  if (bytes.buffer) return [bytes.buffer.subarray(start, end)];
  const views: Buffer[] = [];
  let offset = 0;
  for (const chunk of bytes.chunks) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end - offset, chunk.length);
    if (from < to) views.push(chunk.subarray(from, to));
    offset += chunk.length;
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
  for (const chunk of bytes.chunks) {
    if (offset < chunk.length) return chunk[offset]!;
    offset -= chunk.length;
  }
  return -1;
}

/** Reused memory that is already warm: fresh pages for every large message would cost more than scanning it. */
const SCRATCH_BYTES = 2 * 1024 * 1024;
let scratch: Buffer | undefined;

/** The same bytes in one buffer. Use them at once: the next call may overwrite them. */
export function contiguous(bytes: Bytes): ByteSlice {
  if (bytes.buffer) return bytes;
  const { chunks, to } = bytes;
  scratch ??= Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  const buffer = to <= SCRATCH_BYTES ? scratch : Buffer.allocUnsafeSlow(to);
  let filled = 0;
  for (const chunk of chunks) filled += chunk.copy(buffer, filled);
  return { buffer, from: 0, to };
}
