import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';

export interface BackwardsOptions {
  /** Read size, in bytes. Default 64 KB. */
  readonly blockSize?: number;
  /** Where to treat the first file as ended, in bytes. Default: its end. */
  readonly upTo?: number | undefined;
  /** Called if reading stops at the limit although there is more. */
  readonly onLimit?: () => void;
}

/** Longer lines are truncated to their beginning, in bytes. */
export const LINE_LIMIT = 16 * 1024;

/** How far back to read at most, in bytes: an endless log must not fill our memory. */
const SCAN_LIMIT = 32 * 1024 * 1024;

/** Ends a truncated line. */
export const CUT = '…';

/**
 * The lines of a log from last to first, unchanged except that invalid UTF-8 is replaced. `files` are read as one text
 * that begins in the last of them; missing files are empty.
 */
export function* linesBackwards(files: readonly string[], options: BackwardsOptions = {}): Generator<string> {
  const line = createPieces();
  let begun = false;
  for (const block of blocksBackwards(files, options)) {
    let end = block.length;
    // The newline at the very end ends the last line; it does not begin another one.
    if (!begun && block[end - 1] === NEWLINE) end -= 1;
    begun = true;
    let newline: number;
    while ((newline = end === 0 ? -1 : block.lastIndexOf(NEWLINE, end - 1)) !== -1) {
      line.prepend(block.subarray(newline + 1, end));
      yield line.take();
      end = newline;
    }
    line.prepend(block.subarray(0, end));
  }
  if (begun) yield line.take();
}

const NEWLINE = 0x0a;
/** Some systems do not define O_NOFOLLOW. */
const NO_LINK = constants.O_RDONLY | ((constants.O_NOFOLLOW as number | undefined) ?? 0);

/** Collects a line whose beginning was not found yet. */
function createPieces(): { prepend(piece: Buffer): void; take(): string } {
  let pieces: Buffer[] = [];
  let size = 0;
  return {
    prepend(piece) {
      pieces.unshift(piece);
      size += piece.length;
      // Only the beginning is shown, plus one byte to know that there is more.
      while (pieces.length > 1 && size - pieces.at(-1)!.length > LINE_LIMIT) size -= pieces.pop()!.length;
    },
    take() {
      const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
      pieces = [];
      size = 0;
      return decodeLine(bytes);
    },
  };
}

/** Decodes a line; truncates a long one, never in the middle of a character. */
export function decodeLine(bytes: Buffer): string {
  if (bytes.length <= LINE_LIMIT) return bytes.toString('utf8');
  let end = LINE_LIMIT;
  while (end > LINE_LIMIT - 4 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + CUT;
}

function* blocksBackwards(files: readonly string[], options: BackwardsOptions): Generator<Buffer> {
  const { blockSize = 64 * 1024, upTo = Infinity, onLimit } = options;
  let left = SCAN_LIMIT;
  for (const file of files) {
    let descriptor: number;
    // Usually there is no earlier part, and an error is slower than a check.
    if (!existsSync(file)) continue;
    try {
      // The other parts are created by us and are not links.
      descriptor = openSync(file, file === files[0] ? 'r' : NO_LINK);
    } catch {
      continue;
    }
    try {
      const { size } = fstatSync(descriptor);
      let position = file === files[0] ? Math.min(size, upTo) : size;
      while (position > 0) {
        if (left <= 0) {
          onLimit?.();
          return;
        }
        const length = Math.min(blockSize, position);
        position -= length;
        left -= length;
        const block = Buffer.allocUnsafe(length);
        const got = readSync(descriptor, block, 0, length, position);
        // Fewer bytes than requested: the file was truncated meanwhile.
        if (got > 0) yield got === length ? block : block.subarray(0, got);
      }
    } finally {
      closeSync(descriptor);
    }
  }
}
