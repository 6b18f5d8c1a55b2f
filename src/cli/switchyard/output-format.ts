import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { Exit } from '../../shared/exit-codes.ts';
import { printable } from '../../shared/printable.ts';
import { sortKeys } from '../../shared/sort-keys.ts';
import { explained } from '../../shared/system-error.ts';
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
