import type { SpawnAttempt } from './spawn-error.ts';
import { windows } from './windows.ts';

/** What Node's `spawn` needs to start a command without a shell. */
export interface Spawnable {
  readonly file: string;
  readonly args: readonly string[];
  /** Whether the arguments are already quoted for Windows and must not be quoted again. */
  readonly windowsVerbatimArguments: boolean;
  /** Variables to add to the given environment. */
  readonly env: Readonly<Record<string, string>>;
}

export interface SpawnOptions extends SpawnAttempt {
  readonly args: readonly string[];
}

/**
 * Throws a SwitchboardError for anything that Windows cannot start; on other systems, the system resolves the command.
 */
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
