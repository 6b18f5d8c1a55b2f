import { statSync } from 'node:fs';
import { linesBackwards, type BackwardsOptions } from '../../runtime/logs/read-backwards.ts';
import { partsOf } from '../../runtime/logs/run-files.ts';
import { stripAnsi } from '../../runtime/logs/strip.ts';
import { lastThatFit, sizeOf } from './fit-lines.ts';
import { createMatcher, type Matcher } from './grep.ts';
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
  /** When the run began, in milliseconds since the epoch. Default: the creation time of the file. */
  readonly began?: number | undefined;
  /** Maximum size of all lines, in bytes. Default no limit. */
  readonly maxBytes?: number | undefined;
  /** Where to treat the log as ended, in bytes. Default: its end. */
  readonly upTo?: number | undefined;
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
export function readLog(file: string, question: LogQuery = {}): LogQueryResult {
  const { lines: most = Infinity, maxBytes = Infinity } = question;
  const age = { undated: false };
  let truncated = false;
  let lines: Iterable<string> = plainLines(file, { upTo: question.upTo, onLimit: () => (truncated = true) });
  if (question.since !== undefined) lines = writtenSince(file, lines, question.since, question.began, age);
  if (question.grep !== undefined) lines = matching(lines, createMatcher(question.grep, question));
  const last: string[] = [];
  let size = 0;
  for (const line of lines) {
    if (last.length >= most || size > maxBytes) {
      truncated = true;
      break;
    }
    last.push(line);
    size += sizeOf(line);
  }
  last.reverse();
  if (size <= maxBytes) return { lines: last, truncated, ...age };
  return { lines: lastThatFit(last, maxBytes), truncated: true, ...age };
}

function* plainLines(file: string, options: BackwardsOptions): Generator<string> {
  for (const line of linesBackwards(partsOf(file), options)) yield stripAnsi(line);
}

/**
 * Log lines have no time of their own, so it is inferred. If the run began since then, all lines match; if the file was
 * not written since then, none do. Otherwise a line with a timestamp has that time, a line without one has the time of
 * the nearest line above it that has one, and the first lines have the start time of the run. If no line has a
 * timestamp, the time is unknown and all lines are kept.
 */
function* writtenSince(
  file: string,
  newestFirst: Iterable<string>,
  since: number,
  began: number | undefined,
  age: { undated: boolean },
): Generator<string> {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.mtimeMs < since) return;
  if ((began ?? stat.birthtimeMs) >= since) {
    yield* newestFirst;
    return;
  }
  let anyTime = false;
  let below: string[] = [];
  for (const line of newestFirst) {
    const time = lineTime(line);
    if (time === undefined) {
      below.push(line);
      continue;
    }
    anyTime = true;
    if (time < since) return;
    yield* below;
    below = [];
    yield line;
  }
  if (anyTime) return;
  age.undated = below.length > 0;
  yield* below;
}

/** Checking many lines at once costs hardly more than checking one. */
const BATCH = 1000;

function* matching(lines: Iterable<string>, matcher: Matcher): Generator<string> {
  let batch: string[] = [];
  for (const line of lines) {
    if (batch.push(line) < BATCH) continue;
    yield* matcher.matching(batch);
    batch = [];
  }
  yield* matcher.matching(batch);
}
