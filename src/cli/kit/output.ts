import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { ERROR_CODES, type ErrorCode } from '../../shared/error-codes.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { Exit } from '../../shared/exit-codes.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { plain } from '../../shared/printable.ts';
import { explained } from '../../shared/system-error.ts';
import type { CommandOutcome } from './command.ts';
import { writeStderr } from './stderr.ts';
import { createStyle } from './style.ts';
import { visible } from './visible.ts';

const STDOUT = 1;

/** How a program prints results and errors. */
export interface OutputFormat {
  /** The value that `--json` prints for an outcome's data. Default: the data itself. */
  readonly dataOf?: (data: unknown) => unknown;
  /** The same for anything that was thrown. */
  readonly failureData: (error: unknown) => object;
  readonly failureText: (error: unknown) => string;
  readonly exitCodeOf: (error: unknown) => number;
}

/** The format of all programs that serve clients. */
export function standardFormat(program: string): OutputFormat {
  return {
    failureData: (error) => ({ error: failureDataOf(error) }),
    failureText: (error) => describeFailure(error, program),
    exitCodeOf(thrown) {
      const error = explained(thrown);
      return error instanceof SwitchboardError ? ERROR_CODES[error.code].exit : Exit.bug;
    },
  };
}

/**
 * The only function that writes to stdout: prints the outcome of a command, for a person or as JSON. A person sees
 * every character.
 */
export async function writeOutcome(
  outcome: CommandOutcome,
  json: boolean,
  { dataOf = (data) => data }: Pick<OutputFormat, 'dataOf'> = {},
): Promise<void> {
  const text = json
    ? `${safeJson(dataOf(outcome.data))}\n`
    : visible(outcome.text(createStyle(isatty(STDOUT) ? process.stdout : { isTTY: false }, process.env)));
  if (outcome.remark) writeStderr(outcome.remark);
  if (outcome.complaint && !json) writeStderr(outcome.complaint);
  if (text !== '') await write(text);
}

/** Prints an error and returns the exit code. With `--json`, the error goes to stdout. */
export async function writeFailure(error: unknown, json: boolean, format: OutputFormat): Promise<number> {
  const exitCode = format.exitCodeOf(error);
  if (json) await writeOutcome({ data: format.failureData(error), text: () => '' }, json, format);
  else writeStderr(format.failureText(error));
  return exitCode;
}

/** For stderr: `program: what is wrong`, and the next step on a separate line. */
export function describeFailure(thrown: unknown, program: string): string {
  const error = explained(thrown);
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

function failureDataOf(thrown: unknown): FailureData {
  const error = explained(thrown);
  if (error instanceof SwitchboardError) return failureData(error);
  return { code: 'BUG', message: error instanceof Error ? error.message : String(error) };
}

/**
 * Resolves when the text is written, or when the reader has gone: `switchboard tools | head` is not an error. If stdout
 * accepts it immediately, no stream is created, which would take a millisecond.
 */
function write(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  // A Windows console would interpret the bytes in its own code page; the stream passes it characters.
  const rest = isatty(STDOUT) ? bytes : writeNow(bytes);
  return rest.length === 0 ? Promise.resolve() : writeLater(rest);
}

/** Writes as much as possible immediately and returns the rest. Writing the rest will report any error. */
function writeNow(bytes: Buffer): Buffer {
  try {
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(STDOUT, bytes));
  } catch {
    // The reader has gone, or is too slow.
  }
  return bytes;
}

function writeLater(bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error | null): void => {
      if (!error || nodeErrorCode(error) === 'EPIPE') resolve();
      else
        reject(
          new SwitchboardError('OUTPUT_FAILED', `stdout could not be written: ${error.message}.`, {
            cause: error,
          }),
        );
    };
    process.stdout.once('error', settle);
    process.stdout.write(bytes, settle);
  });
}

/** JSON with everything escaped that could move a cursor or hide text; the values stay the same. */
function safeJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2).replace(
    UNSAFE,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

// JSON escapes the C0 controls itself. Characters of the tag block are escaped as two halves.
const UNSAFE = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g;
