import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { printable } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';
import { Exit } from '../failure.ts';
import { writeOutcome } from '../output.ts';
import { writeStderr } from '../stderr.ts';
import { createStyle } from '../style.ts';

/** Prints the outcome of a command: text, or JSON with sorted keys. */
export async function printYardOutcome(outcome: CommandOutcome, json: boolean): Promise<void> {
  await writeOutcome(json ? { ...outcome, data: sortKeys(outcome.data) } : outcome, json);
}

/** Prints the error and returns the exit code. With --json, stderr stays empty. */
export async function printYardFailure(thrown: unknown, json: boolean): Promise<number> {
  const error = explained(thrown);
  const exitCode = exitCodeOf(error);
  if (json) await printYardOutcome({ exitCode, data: failureOf(error), text: () => '' }, true);
  else writeStderr(failureText(error));
  return exitCode;
}

/** System errors (disk full, permission denied) are not bugs of ours. */
function explained(error: unknown): unknown {
  const { code, syscall, path } = (error ?? {}) as NodeJS.ErrnoException;
  if (error instanceof SwitchboardError || code === undefined || syscall === undefined) return error;
  const where = path === undefined ? '' : ` ${path}`;
  return new SwitchboardError('SYSTEM', `${syscall}${where} failed: ${code}.`, {
    hint: 'Check the free disk space and the permissions of that path, then try again.',
    cause: error,
  });
}

/** 2 for usage errors, 1 for other failures. */
function exitCodeOf(error: unknown): number {
  if (!(error instanceof SwitchboardError)) return Exit.bug;
  return error.code === 'USAGE' ? Exit.usage : Exit.failed;
}

function failureOf(error: unknown): object {
  if (!(error instanceof SwitchboardError)) return { ok: false, error: messageOf(error) };
  const { message, hint } = error;
  return { ok: false, error: message, ...(hint === undefined ? {} : { hint }) };
}

function failureText(error: unknown): string {
  const style = createStyle(process.stderr, process.env);
  const title = style.bad('error:');
  if (!(error instanceof SwitchboardError)) {
    const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${title} this is a bug in Switchyard: ${printable(trace)}\n`;
  }
  const hint = error.hint === undefined ? '' : `${style.dim('hint:')} ${printable(error.hint)}\n`;
  return `${title} ${printable(error.message)}\n${hint}`;
}

/** The same value with the keys of every object sorted, so that outputs can be compared. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sortKeys(each)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
