import { statSync, type Stats } from 'node:fs';
import { Turns } from '../../../shared/turns.ts';
import { linesBackwards, type BackwardsOptions } from '../../runtime/logs/read-backwards.ts';
import { partsOf } from '../../runtime/logs/run-files.ts';
import { stripAnsi } from '../../runtime/logs/strip-ansi.ts';
import { lastThatFit, sizeOf } from './fit-lines.ts';
import { createMatcher } from '../../../shared/line-matcher.ts';
import { lineTime } from './since.ts';

export interface LogQuery {
  /** Maximum lines, counted from the end. Default all. */
  readonly lines?: number | undefined;
  /** Only lines that match this pattern, see `createMatcher`. */
  readonly grep?: string | undefined;
  /** Whether the pattern is plain text. Default false. */
  readonly fixed?: boolean | undefined;
  /** Only lines written since then, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** When the run began, in milliseconds since the epoch. Default: the creation time of its oldest part. */
  readonly began?: number | undefined;
  /** Maximum size of all lines, in bytes. Default no limit. */
  readonly maxBytes?: number | undefined;
  /** Where to treat the log as ended, in bytes. Default: its end. */
  readonly upTo?: number | undefined;
  /** Hides secrets, before lines are searched: a pattern must not find what is hidden. Default: changes nothing. */
  readonly mask?: ((line: string) => string) | undefined;
}

export interface LogQueryResult {
  /** Oldest first, without color codes. */
  readonly lines: readonly string[];
  /** Whether more lines match than are returned. */
  readonly truncated: boolean;
  /** Whether `since` could not be applied because no line has a timestamp; lines may then be older. */
  readonly undated: boolean;
}

/** The lines of a log that match a query. Empty if the file does not exist. */
export async function readLog(file: string, question: LogQuery = {}): Promise<LogQueryResult> {
  const { lines: most = Infinity, maxBytes = Infinity, grep } = question;
  const matcher = grep === undefined ? undefined : createMatcher(grep, question);
  const age = { undated: false };
  let truncated = false;
  let lines: Iterable<string> = plainLines(file, { upTo: question.upTo, onLimit: () => (truncated = true) });
  if (question.mask !== undefined) lines = masked(lines, question.mask);
  let batches = inBatches(lines);
  if (question.since !== undefined)
    batches = writtenSince(file, batches, { since: question.since, began: question.began }, age);
  const last: string[] = [];
  let size = 0;
  let isFull = false;
  try {
    for await (const batch of batches) {
      for (const line of matcher === undefined ? batch : await matcher.matching(batch)) {
        isFull = last.length >= most || size > maxBytes;
        if (isFull) break;
        last.push(line);
        size += sizeOf(line);
      }
      if (isFull) break;
    }
  } finally {
    matcher?.close();
  }
  truncated ||= isFull;
  last.reverse();
  if (size <= maxBytes) return { lines: last, truncated, ...age };
  return { lines: lastThatFit(last, maxBytes), truncated: true, ...age };
}

/** Batches of lines, newest first. Logs may be long, so other work runs between two batches. */
type Batches = AsyncIterable<readonly string[]>;

const BATCH = 1000;
/** In UTF-16 units. */
const BATCH_SIZE = 256 * 1024;

async function* inBatches(lines: Iterable<string>): Batches {
  const turns = new Turns();
  let batch: string[] = [];
  let size = 0;
  for (const line of lines) {
    size += line.length;
    if (batch.push(line) < BATCH && size < BATCH_SIZE) continue;
    yield batch;
    batch = [];
    size = 0;
    await turns.next();
  }
  yield batch;
}

function* plainLines(file: string, options: BackwardsOptions): Generator<string> {
  for (const line of linesBackwards(partsOf(file), options)) yield stripAnsi(line);
}

function* masked(lines: Iterable<string>, mask: (line: string) => string): Generator<string> {
  for (const line of lines) yield mask(line);
}

/**
 * Log lines have no time of their own, so it is inferred. If the run began since then, all lines match; if the file was
 * not written since then, none do. Otherwise a line with a timestamp has that time, a line without one has the time of
 * the nearest line above it that has one, and the first lines have the start time of the run. If no line has a
 * timestamp, the time is unknown and all lines are kept.
 */
async function* writtenSince(
  file: string,
  newestFirst: Batches,
  { since, began }: { readonly since: number; readonly began: number | undefined },
  age: { undated: boolean },
): Batches {
  if (lastWritten(file) < since) return;
  if ((began ?? beginningOf(file)) >= since) {
    yield* newestFirst;
    return;
  }
  let anyTime = false;
  let below: string[] = [];
  for await (const batch of newestFirst) {
    const dated: string[] = [];
    for (const line of batch) {
      const time = lineTime(line);
      below.push(line);
      if (time === undefined) continue;
      anyTime = true;
      if (time < since) {
        yield dated;
        return;
      }
      for (const each of below) dated.push(each);
      below = [];
    }
    yield dated;
  }
  if (anyTime) return;
  age.undated = below.length > 0;
  yield below;
}

/** When its newest part was written. While a long log is moved aside, there is only its earlier part. */
function lastWritten(file: string): number {
  return Math.max(...statsOf(file).map(({ mtimeMs }) => mtimeMs));
}

/** The creation time of its oldest part. */
function beginningOf(file: string): number {
  return Math.min(...statsOf(file).map(({ birthtimeMs }) => birthtimeMs));
}

function statsOf(file: string): readonly Stats[] {
  return partsOf(file).flatMap((part) => statSync(part, { throwIfNoEntry: false }) ?? []);
}
