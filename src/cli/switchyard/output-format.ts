import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { Exit } from '../../shared/exit-codes.ts';
import { printable } from '../../shared/printable.ts';
import type { OutputFormat } from '../kit/output.ts';
import { createStyle } from '../kit/style.ts';

/** How `switchyard` prints: JSON with sorted keys, errors as `error:` and `hint:`. */
export const yardFormat: OutputFormat = {
  dataOf: sortKeys,
  failureData: (thrown) => {
    const error = explained(thrown);
    if (!(error instanceof SwitchboardError)) return { ok: false, error: messageOf(error) };
    const { message, hint } = error;
    return { ok: false, error: message, ...(hint === undefined ? {} : { hint }) };
  },
  failureText: (thrown) => {
    const error = explained(thrown);
    const style = createStyle(process.stderr, process.env);
    const title = style.bad('error:');
    if (!(error instanceof SwitchboardError)) {
      const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return `${title} this is a bug in Switchyard: ${printable(trace)}\n`;
    }
    const hint = error.hint === undefined ? '' : `${style.dim('hint:')} ${printable(error.hint)}\n`;
    return `${title} ${printable(error.message)}\n${hint}`;
  },
  /** 2 for usage errors, 1 for other failures. */
  exitCodeOf: (thrown) => {
    const error = explained(thrown);
    if (!(error instanceof SwitchboardError)) return Exit.bug;
    return error.code === 'USAGE' ? Exit.usage : Exit.failed;
  },
};

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

/** The same value with the keys of every object sorted, so that outputs can be compared. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, sortKeys(each)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
