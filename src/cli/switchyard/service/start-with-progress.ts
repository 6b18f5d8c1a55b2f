import type { UpOptions, UpResult } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import type { Style } from '../../kit/style.ts';
import type { YardInvocation } from '../invocation.ts';
import { withInterrupt } from '../progress.ts';
import { asLines } from '../../kit/text.ts';

/** Starts services and shows their progress; Ctrl-C stops the waiting. */
export function startWithProgress(
  invocation: YardInvocation,
  start: (hooks: Pick<UpOptions, 'signal' | 'onEvent'>) => Promise<UpResult>,
): Promise<CommandOutcome> {
  return withInterrupt(invocation, RUNS_ON, async ({ onEvent }, interrupt) => {
    const result = await start({ signal: interrupt.signal, onEvent });
    const exitCode = interrupt.exitCode();
    return {
      exitCode: exitCode ?? (result.ok ? Exit.ok : Exit.failed),
      data: result,
      text: (style) => textOf(result, style),
      ...(exitCode === undefined ? {} : { complaint: RUNS_ON }),
    };
  });
}

const RUNS_ON =
  'Stopped waiting. The services keep running: `switchyard status` shows them, `switchyard down` stops them.\n';

function textOf({ messages, outcomes }: UpResult, style: Style): string {
  const bad = new Set(outcomes.filter(isBad).map(({ message }) => message));
  const lines = messages.map((message) => {
    const line = printableLine(message);
    if (bad.has(message)) return style.bad(line);
    if (line.startsWith('warning: ')) return style.caution(line);
    return line.startsWith(' ') ? style.dim(line) : line;
  });
  return asLines(lines);
}

function isBad({ result }: UpResult['outcomes'][number]): boolean {
  return result === 'not-ready' || result === 'exited' || result === 'not-started';
}
