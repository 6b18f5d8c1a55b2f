import { ERROR_CODES, type ErrorCode } from '../shared/error-codes.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { Exit } from '../shared/exit-codes.ts';
import { plain } from '../shared/printable.ts';

export { Exit };

/** What the program ends with when this was thrown. */
export function exitCodeOf(error: unknown): number {
  if (!(error instanceof SwitchboardError)) return Exit.bug;
  return ERROR_CODES[error.code].exit;
}

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
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}
