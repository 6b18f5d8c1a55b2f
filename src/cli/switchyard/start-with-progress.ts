import type { UpOptions, UpResult } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';
import { Exit } from '../failure.ts';
import type { Style } from '../style.ts';
import type { YardInvocation } from './command.ts';
import { catchInterrupt } from './interrupt.ts';
import { showProgress } from './progress.ts';

/** Starts services and shows their progress; Ctrl-C stops the waiting. */
export async function startWithProgress(
  invocation: YardInvocation,
  start: (hooks: Pick<UpOptions, 'signal' | 'onEvent'>) => Promise<UpResult>,
): Promise<CommandOutcome> {
  const progress = showProgress(invocation);
  const interrupt = catchInterrupt();
  try {
    const { onEvent } = progress;
    const result = await start({ signal: interrupt.signal, onEvent });
    const exitCode = interrupt.exitCode();
    return {
      exitCode: exitCode ?? (result.ok ? Exit.ok : Exit.failed),
      data: result,
      text: (style) => textOf(result, style),
      ...(exitCode === undefined ? {} : { complaint: RUNS_ON }),
    };
  } catch (error) {
    const exitCode = interrupt.exitCode();
    if (exitCode === undefined) throw error;
    // Stopped while waiting for another command, before anything was started.
    return { exitCode, data: { ok: false, error: 'stopped' }, text: () => '', complaint: RUNS_ON };
  } finally {
    progress.end();
    interrupt.close();
  }
}

const RUNS_ON =
  'Stopped waiting. The services keep running: `switchyard status` shows them, `switchyard down` stops them.\n';

function textOf({ messages, outcomes }: UpResult, style: Style): string {
  const bad = new Set(outcomes.filter(isBad).map(({ message }) => message));
  return messages
    .map((message) => {
      const line = printableLine(message);
      if (bad.has(message)) return style.bad(line);
      if (line.startsWith('warning: ')) return style.caution(line);
      return line.startsWith(' ') ? style.dim(line) : line;
    })
    .map((line) => `${line}\n`)
    .join('');
}

function isBad({ result }: UpResult['outcomes'][number]): boolean {
  return result === 'not-ready' || result === 'exited' || result === 'not-started';
}
