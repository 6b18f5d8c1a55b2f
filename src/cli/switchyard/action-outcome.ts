import { printableLine } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';
import { Exit } from '../failure.ts';

interface Action {
  readonly ok: boolean;
  readonly messages: readonly string[];
}

/** The outcome of an action: prints its messages, one per line. */
export function actionOutcome(action: Action, exitCode?: number): CommandOutcome {
  return {
    exitCode: exitCode ?? (action.ok ? Exit.ok : Exit.failed),
    data: action,
    text: () => action.messages.map((message) => `${printableLine(message)}\n`).join(''),
  };
}
