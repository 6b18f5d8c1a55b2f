import { Buffer } from 'node:buffer';
import type { Readable } from 'node:stream';
import { plainLine } from '../shared/printable.ts';

export interface OutputOptions {
  /** The name in the prefix `[name] ` of each line. */
  readonly name: string;
  /** Called with each complete line, without the newline and safe to print. */
  readonly sink: (line: string) => void;
  /** Longer lines are truncated, in bytes. Default 4096. */
  readonly longestLine?: number;
  /** The most lines passed on per window. Default 200. */
  readonly linesPerWindow?: number;
  /** The most bytes of lines passed on per window. Default 65536. */
  readonly bytesPerWindow?: number;
  /** The most bytes read per window; the child then has to wait for the next one. Default 4194304. */
  readonly readsPerWindow?: number;
  /** The length of a window in milliseconds. Default 100. */
  readonly window?: number;
  /** The number of lines kept for error messages. Default 20. */
  readonly kept?: number;
}

export interface Output {
  /** The last lines, oldest first, safe to print and without the name. Includes dropped lines. */
  tail(): string[];
  /** The number of dropped lines. */
  readonly dropped: number;
}

interface Line {
  readonly bytes: Buffer;
  /** The number of truncated bytes. */
  readonly missing: number;
}

/**
 * Reads what a child writes for people (its stderr) and passes it on line by line. A flood is sampled: the first lines
 * of each window pass, and the rest are counted. Reading is limited too, so that a flood does not use up our own time.
 */
export function captureOutput(stream: Readable, options: OutputOptions): Output {
  const { name, sink, longestLine = 4096, linesPerWindow = 200, bytesPerWindow = 64 * 1024 } = options;
  const { readsPerWindow = 4 * 1024 * 1024, window = 100, kept = 20 } = options;
  const tail: Line[] = [];
  let partial: Line = { bytes: Buffer.alloc(0), missing: 0 };
  let timer: NodeJS.Timeout | undefined;
  let lines = 0;
  let bytes = 0;
  let reads = 0;
  let dropped = 0;
  let droppedInWindow = 0;

  const keep = (line: Line): void => {
    tail.push(line);
    if (tail.length > kept) tail.shift();
  };
  const full = (): boolean => lines >= linesPerWindow || bytes >= bytesPerWindow;

  /** The partial line plus `more`, copied so that a kept line does not keep a whole chunk alive. */
  const joined = (more: Buffer): Line => {
    const taken = more.subarray(0, Math.max(0, longestLine - partial.bytes.length));
    return {
      bytes: Buffer.concat([partial.bytes, taken]),
      missing: partial.missing + more.length - taken.length,
    };
  };
  const finish = (more: Buffer): Line => {
    const line = joined(more);
    partial = { bytes: Buffer.alloc(0), missing: 0 };
    keep(line);
    return line;
  };

  const pass = (line: Line): void => {
    lines += 1;
    bytes += line.bytes.length;
    sink(`[${name}] ${shown(line)}`);
  };

  const read = (chunk: Buffer): void => {
    let from = 0;
    while (from < chunk.length && !full()) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end === -1) break;
      pass(finish(chunk.subarray(from, end)));
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    const start = full() ? drop(rest) : 0;
    partial = joined(rest.subarray(start));
  };

  /** Counts the lines of a chunk and keeps only the last ones; returns the start of its incomplete line. */
  const drop = (chunk: Buffer): number => {
    const count = countNewlines(chunk);
    if (count === 0) return 0;
    const ends = lastNewlines(chunk, kept + 1);
    // The first line completes the partial line, unless it would have left the tail anyway because so many follow.
    if (ends.length <= kept) finish(chunk.subarray(0, ends[0]));
    else partial = { bytes: Buffer.alloc(0), missing: 0 };
    let from = (ends[0] ?? -1) + 1;
    for (const end of ends.slice(1)) {
      finish(chunk.subarray(from, end));
      from = end + 1;
    }
    dropped += count;
    droppedInWindow += count;
    return from;
  };

  const turn = (): void => {
    timer = undefined;
    if (droppedInWindow > 0) sink(`[${name}] ${droppedInWindow} lines dropped`);
    lines = bytes = reads = droppedInWindow = 0;
    if (stream.isPaused()) stream.resume();
  };

  stream.on('data', (chunk: Buffer | string) => {
    const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    timer ??= setTimeout(turn, window).unref();
    reads += data.length;
    read(data);
    if (reads >= readsPerWindow) stream.pause();
  });
  stream.once('close', () => {
    clearTimeout(timer);
    if (droppedInWindow > 0) turn();
    if (partial.bytes.length > 0) pass(finish(Buffer.alloc(0)));
  });

  return {
    tail: () => (partial.bytes.length > 0 ? [...tail, partial].slice(-kept) : tail).map(shown),
    get dropped() {
      return dropped;
    },
  };
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;

function shown({ bytes, missing }: Line): string {
  const end = bytes.at(-1) === CARRIAGE_RETURN ? bytes.length - 1 : bytes.length;
  // Decoded as a stream, so that a character split by the cut is omitted rather than shown as broken.
  const text = new TextDecoder().decode(bytes.subarray(0, end), { stream: missing > 0 });
  return plainLine(text) + (missing > 0 ? ` … (${missing} bytes more)` : '');
}

function countNewlines(chunk: Buffer): number {
  let count = 0;
  // Byte by byte, because for short lines one search per line is ten times slower.
  for (let i = 0; i < chunk.length; i++) if (chunk[i] === NEWLINE) count++;
  return count;
}

/** The positions of the last newlines, at most `limit`, in order. */
function lastNewlines(chunk: Buffer, limit: number): number[] {
  const found: number[] = [];
  let at = chunk.length;
  while (found.length < limit && at > 0) {
    at = chunk.lastIndexOf(NEWLINE, at - 1);
    if (at === -1) break;
    found.unshift(at);
  }
  return found;
}
