import type { StatusLine } from '../kit/live-block.ts';
import { writeStderr } from '../kit/stderr.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import { asLines } from '../kit/text.ts';

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

/** What a failed server wrote to stderr, for our stderr, where the error itself does not say all of it. */
export function unreportedStderr(lines: readonly string[], error: SwitchboardError): string {
  const message = comparable(error.message);
  const told = lines.every((line) => message.includes(comparable(line.slice(line.indexOf('] ') + 2)).trim()));
  return told ? '' : asLines(lines);
}

/** The error has it on one line, in quotes. */
function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('"', "'");
}
