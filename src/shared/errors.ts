import type { ErrorCode } from './error-codes.ts';

/**
 * An error that a person can act on: a stable code, one sentence, the next step, and its cause. A bug stays a plain
 * Error.
 */
export class SwitchboardError extends Error {
  readonly code: ErrorCode;
  /** What the reader can do about it, as a sentence. */
  readonly hint: string | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    details: { hint?: string | undefined; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'SwitchboardError';
    this.code = code;
    this.hint = details.hint;
  }

  /** The sentence and the next step in one string. */
  get explained(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }
}

/** The sentence to show for anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof SwitchboardError) return error.explained;
  return error instanceof Error ? error.message : String(error);
}

/** Returns a thrown value as an error that a person can act on. Throws a bug again. */
export function expectedError(error: unknown): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  throw error;
}
