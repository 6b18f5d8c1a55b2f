import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';

export interface BackwardsOptions {
  /** How much is read at once, in bytes. Default 64 KB. */
  readonly blockSize?: number;
  /** Where the first of the files ends for us, in bytes. Default its end. */
  readonly upTo?: number | undefined;
  /** Called when there would be more to read, but not for us. */
  readonly onLimit?: () => void;
}

/** A line longer than this is shown by its beginning, in bytes. */
export const LINE_LIMIT = 16 * 1024;

/** Nobody reads further back than this, in bytes: a service that never stops talking must not fill our memory. */
const SCAN_LIMIT = 32 * 1024 * 1024;

/** What stands at the end of a line that was cut. */
export const CUT = '…';

/**
 * The lines of a log from the last to the first, as they are in the file but for bytes that are no UTF-8, which are
 * replaced. `files` are read as one text that begins in the last of them; one that does not exist is empty.
 */
export function* linesBackwards(files: readonly string[], options: BackwardsOptions = {}): Generator<string> {
  const line = createPieces();
  let begun = false;
  for (const block of blocksBackwards(files, options)) {
    let end = block.length;
    // The newline at the very end ends the last line; it does not begin another.
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
/** Systems that cannot ask for it have no such number. */
const NO_LINK = constants.O_RDONLY | ((constants.O_NOFOLLOW as number | undefined) ?? 0);

/** The line whose beginning is not found yet. */
function createPieces(): { prepend(piece: Buffer): void; take(): string } {
  let pieces: Buffer[] = [];
  let size = 0;
  return {
    prepend(piece) {
      pieces.unshift(piece);
      size += piece.length;
      // Only its beginning will be shown, with one byte more to know that it goes on.
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

/** The text of a line; of a long one its beginning, never with half a character at the end. */
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
    // Mostly there is no earlier part, and an error takes longer to make than a look.
    if (!existsSync(file)) continue;
    try {
      // We have made the further parts ourselves, and they are no links.
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
        // Less than asked for: the file was truncated under us.
        if (got > 0) yield got === length ? block : block.subarray(0, got);
      }
    } finally {
      closeSync(descriptor);
    }
  }
}
