import { spawnSync } from 'node:child_process';

export interface RunSyncOptions {
  readonly cwd: string;
  /** The complete environment. */
  readonly env: NodeJS.ProcessEnv;
  /** In milliseconds. */
  readonly timeout: number;
  /** Maximum output, in bytes. */
  readonly maxBytes: number;
}

/**
 * Returns the output of a short command, or undefined if it fails for any reason. Blocks, so it is for programs that
 * have nothing else to do; there it saves the two milliseconds that `run` needs to create streams.
 */
export function runSync(
  command: string,
  args: readonly string[],
  options: RunSyncOptions,
): string | undefined {
  const { cwd, env, timeout, maxBytes } = options;
  const { status, stdout } = spawnSync(command, args, {
    cwd,
    env,
    timeout,
    // We wait until it has exited, and it may ignore weaker signals.
    killSignal: 'SIGKILL',
    maxBuffer: maxBytes,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsHide: true,
  });
  return status === 0 ? stdout : undefined;
}
