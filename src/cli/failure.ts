import { SwitchboardError } from '../shared/errors.ts';
import { plain } from '../shared/printable.ts';

/** The exit codes there are; the help explains them from here. */
export const Exit = {
  ok: 0,
  /** What was asked for was tried and something of it failed. */
  failed: 1,
  /** The command line is wrong; nothing was tried. */
  usage: 2,
  /** The server could not be started. */
  notStarted: 3,
  /** A bug in Switchboard. */
  bug: 70,
  /** The configuration cannot be used. */
  config: 78,
  /** The person pressed Ctrl-C. */
  cancelled: 130,
} as const;

/** What the program ends with when this was thrown. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SwitchboardError)) return Exit.bug;
  if (MISTAKES.has(error.code)) return Exit.usage;
  return /^(?:CONFIG|GLOB|LOG)_|^(?:TOKEN_UNUSABLE|SERVER_UNUSABLE)$/.test(error.code)
    ? Exit.config
    : Exit.failed;
}

/** Codes of what was asked for wrongly. */
const MISTAKES = new Set([
  'USAGE',
  'SERVER_UNKNOWN',
  'SERVER_INVALID',
  'SERVER_EXISTS',
  'SERVER_ELSEWHERE',
  'TOOL_UNKNOWN',
]);

/** For stderr: `program: what is wrong`, and the next step on a line of its own. */
export function describeFailure(error: unknown, program: string): string {
  if (!(error instanceof SwitchboardError)) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${program}: this is a bug in Switchboard: ${plain(trace)}\n`;
  }
  const hint = error.hint === undefined ? '' : `  ${plain(error.hint)}\n`;
  return `${program}: ${plain(error.message)}\n${hint}`;
}

/** For `--json`. */
export function failureData({ code, message, hint }: SwitchboardError): FailureData {
  return { code, message, ...(hint === undefined ? {} : { hint }) };
}

export interface FailureData {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}
