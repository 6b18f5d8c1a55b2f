import { statSync } from 'node:fs';
import { linesBackwards, type BackwardsOptions } from './read-backwards.ts';
import { lastThatFit, sizeOf } from './fit-lines.ts';
import { createMatcher, type Matcher } from './grep.ts';
import { partsOf } from './run-files.ts';
import { lineTime } from './since.ts';
import { stripAnsi } from './strip.ts';

export interface LogQuery {
  /** How many lines at most; the last ones count. Default all. */
  readonly lines?: number | undefined;
  /** Only lines with this pattern, see `createMatcher`. */
  readonly grep?: string | undefined;
  /** Whether the pattern is plain text. Default false. */
  readonly fixed?: boolean | undefined;
  /** Only what was written since this moment, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** When the run began, in milliseconds since the epoch. Default: when the file was made. */
  readonly began?: number | undefined;
  /** How much all lines may take, in bytes. Default no limit. */
  readonly maxBytes?: number | undefined;
  /** Where the log ends for us, in bytes. Default its end. */
  readonly upTo?: number | undefined;
}

export interface LogQueryResult {
  /** Oldest first, without colours. */
  readonly lines: readonly string[];
  /** Whether there is more that answers the question than is shown. */
  readonly truncated: boolean;
  /** Whether `since` could not be applied because no line says its time; the lines may be older then. */
  readonly undated: boolean;
}

/** The lines of a log that answer a question. No lines when there is no such file. */
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
 * Lines carry no time of their own, so this is what we go by. A run that began since is wanted whole; of a file that was
 * not written to since, nothing is. Between the two, a line that says its time has that time, one that does not has that
 * of the nearest line above it that does, and the first lines have the time at which the run began. When no line says
 * its time we cannot know, and keep all.
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

/** A look at many lines at once costs hardly more than a look at one. */
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
