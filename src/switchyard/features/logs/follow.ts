import { stripAnsi } from '../../runtime/logs/strip-ansi.ts';
import { FollowedLog } from './followed-log.ts';
import { createMatcher } from '../../../shared/line-matcher.ts';
import { readLog, type LogQuery } from './read.ts';
import { watchFiles } from './watch-files.ts';

export interface FollowOptions extends Pick<LogQuery, 'grep' | 'fixed' | 'mask'> {
  /** The logs; missing ones are waited for. */
  readonly files: readonly string[];
  /** Number of existing lines to report first, for each log. Default 0. */
  readonly lines?: number | undefined;
  /** Only existing lines written since then, see `readLog`. */
  readonly since?: number | undefined;
  /** Stops following. */
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
  const { mask = (line) => line } = options;
  const logs = files.map((file) => new FollowedLog(file));
  const changes = watchFiles(files, poll, signal);
  try {
    for (const log of lines > 0 ? logs : []) {
      const { lines: before } = await readLog(log.file, {
        lines,
        since,
        grep,
        fixed,
        mask,
        upTo: log.position,
      });
      if (before.length > 0) await onLines(log.file, before);
    }
    let quiet = false;
    while (!signal.aborted) {
      let found = false;
      for (const log of logs) {
        const added = log.more(quiet).map((line) => mask(stripAnsi(line)));
        if (added.length === 0) continue;
        found = true;
        const wanted = grep === undefined ? added : await search(grep, fixed, added);
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

async function search(
  grep: string,
  fixed: boolean | undefined,
  lines: readonly string[],
): Promise<readonly string[]> {
  const matcher = createMatcher(grep, { fixed });
  try {
    return await matcher.matching(lines);
  } finally {
    matcher.close();
  }
}

/** Reads the flag again: the compiler would assume that a flag once false stays false. */
function isAborted(signal: AbortSignal): boolean {
  return signal.aborted;
}
