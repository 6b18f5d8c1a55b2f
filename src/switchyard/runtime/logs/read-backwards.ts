import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';

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
      for (
        let last = pieces.at(-1);
        last !== undefined && size - last.length > LINE_LIMIT;
        last = pieces.at(-1)
      ) {
        pieces.pop();
        size -= last.length;
      }
    },
    take() {
      const [only = Buffer.alloc(0), ...others] = pieces;
      const bytes = others.length === 0 ? only : Buffer.concat(pieces);
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
  while (end > LINE_LIMIT - 4 && (bytes.readUInt8(end) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end) + CUT;
}

function* blocksBackwards(files: readonly string[], options: BackwardsOptions): Generator<Buffer> {
  const { blockSize = 64 * 1024, upTo = Infinity, onLimit } = options;
  let left = SCAN_LIMIT;
  const parts = openTogether(files);
  try {
    for (const { descriptor, file, size } of parts) {
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
        // Fewer bytes than requested: the file was truncated in the meantime.
        if (got > 0) yield got === length ? block : block.subarray(0, got);
      }
    }
  } finally {
    close(parts);
  }
}

interface OpenPart {
  readonly file: string;
  readonly descriptor: number;
  readonly ino: number;
  readonly size: number;
}

/** How often to open the parts of a log that is moved aside again and again. */
const OPEN_ATTEMPTS = 20;

/**
 * The files that exist, as they are at one moment: if a log is moved aside after we opened it, what is then next to it
 * is not what came before.
 */
function openTogether(files: readonly string[]): readonly OpenPart[] {
  for (let attempt = 1; ; attempt++) {
    const parts = files.flatMap((file) => openPart(file, file !== files[0]) ?? []);
    if (attempt === OPEN_ATTEMPTS || areStillThere(files, parts)) return withoutRepeats(parts);
    close(parts);
  }
}

function openPart(file: string, isOurs: boolean): OpenPart | undefined {
  // Usually there is no earlier part, and an error is slower than a check.
  if (!existsSync(file)) return undefined;
  try {
    // The other parts are created by us and are not links.
    const descriptor = openSync(file, isOurs ? NO_LINK : 'r');
    const { ino, size } = fstatSync(descriptor);
    return { file, descriptor, ino, size };
  } catch {
    return undefined;
  }
}

function areStillThere(files: readonly string[], parts: readonly OpenPart[]): boolean {
  return files.every(
    (file) =>
      statSync(file, { throwIfNoEntry: false })?.ino === parts.find((part) => part.file === file)?.ino,
  );
}

/** Nothing is read twice, whatever happened in the meantime. */
function withoutRepeats(parts: readonly OpenPart[]): readonly OpenPart[] {
  const isFirst = ({ ino }: OpenPart, index: number): boolean =>
    parts.findIndex((part) => part.ino === ino) === index;
  close(parts.filter((part, index) => !isFirst(part, index)));
  return parts.filter(isFirst);
}

function close(parts: readonly OpenPart[]): void {
  for (const { descriptor } of parts) closeSync(descriptor);
}
