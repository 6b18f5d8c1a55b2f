import { stripAnsi } from '../../runtime/logs/strip.ts';
import { FollowedLog } from './followed-log.ts';
import { createMatcher } from './grep.ts';
import { readLog } from './read.ts';
import { watchFiles } from './watch-files.ts';

export interface FollowOptions {
  /** The logs; missing ones are waited for. */
  readonly files: readonly string[];
  /** Number of existing lines to report first, for each log. Default 0. */
  readonly lines?: number | undefined;
  /** Of the existing lines, only those since then, see `readLog`. */
  readonly since?: number | undefined;
  /** Only lines that match this pattern, see `createMatcher`. */
  readonly grep?: string | undefined;
  /** Whether the pattern is plain text. Default false. */
  readonly fixed?: boolean | undefined;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** New lines of one log, without color codes. Nothing more is read until it resolves. */
  readonly onLines: (file: string, lines: readonly string[]) => void | Promise<void>;
  /** Polling interval where the system does not report changes, in milliseconds. Default 1000. */
  readonly poll?: number;
}

/**
 * Reports lines added to logs until aborted. A log that was truncated or replaced by a new run is reported from its
 * beginning.
 */
export async function followLogs(options: FollowOptions): Promise<void> {
  const { files, signal, onLines, lines = 0, since, grep, fixed, poll = 1000 } = options;
  const logs = files.map((file) => new FollowedLog(file));
  const changes = watchFiles(files, poll, signal);
  try {
    for (const log of lines > 0 ? logs : []) {
      const { lines: before } = readLog(log.file, { lines, since, grep, fixed, upTo: log.position });
      if (before.length > 0) await onLines(log.file, before);
    }
    let quiet = false;
    while (!signal.aborted) {
      let found = false;
      for (const log of logs) {
        const added = log.more(quiet).map(stripAnsi);
        if (added.length === 0) continue;
        found = true;
        const wanted = grep === undefined ? added : createMatcher(grep, { fixed }).matching(added);
        if (wanted.length > 0) await onLines(log.file, wanted);
        if (isAborted(signal)) return;
      }
      quiet = !found && (await changes.next());
    }
  } finally {
    changes.close();
    for (const log of logs) log.close();
  }
}

/** Reads the flag again: the compiler would assume that a flag once false stays false. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
