import type { SpawnAttempt } from './spawn-error.ts';
import { windows } from './windows.ts';

/** What Node's `spawn` needs to start a command without a shell. */
export interface Spawnable {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are already written as Windows wants them, and must not be quoted again. */
  readonly windowsVerbatimArguments: boolean;
  /** What its environment has besides the given one. */
  readonly env: Readonly<Record<string, string>>;
}

export interface SpawnOptions extends SpawnAttempt {
  readonly args: readonly string[];
}

/** Throws a SwitchboardError for what Windows cannot start; elsewhere the system looks for the command. */
export function spawnable(command: SpawnOptions): Spawnable {
  return (
    windows()?.windowsCommand(command) ?? {
      file: command.command,
      args: command.args,
      windowsVerbatimArguments: false,
      env: {},
    }
  );
}
