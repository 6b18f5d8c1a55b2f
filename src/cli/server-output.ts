import type { StatusLine } from './status-line.ts';
import { writeStderr } from './stderr.ts';

/** What the servers of a command write to stderr: shown as it comes, or kept for the case that one fails. */
export interface ServerOutput {
  /** The names of the servers there are. */
  expect(names: readonly string[]): void;
  /** Takes a line that starts with `[name] `. */
  readonly take: (line: string) => void;
  /** The last lines of a server, unless all were shown when they came. */
  readonly unseen: (server: string) => readonly string[];
}

const KEPT = 20;

export function createServerOutput(show: boolean, status: StatusLine): ServerOutput {
  const kept = new Map<string, string[]>();
  return {
    expect(names) {
      for (const name of names) kept.set(`[${name}] `, []);
    },
    take(line) {
      if (show) {
        status.clear();
        writeStderr(`${line}\n`);
        return;
      }
      for (const [prefix, lines] of kept) {
        if (!line.startsWith(prefix)) continue;
        lines.push(line);
        if (lines.length > KEPT) lines.shift();
      }
    },
    unseen: (server) => kept.get(`[${server}] `) ?? [],
  };
}
