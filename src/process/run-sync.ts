import { spawnSync } from 'node:child_process';

export interface RunSyncOptions {
  readonly cwd: string;
  /** The complete environment. */
  readonly env: NodeJS.ProcessEnv;
  /** In milliseconds. */
  readonly timeout: number;
  /** The most that it may say, in bytes. */
  readonly maxBytes: number;
}

/**
 * What a short command says, or undefined where it fails, for whatever reason. Nothing else happens meanwhile, so it is for
 * programs that have nothing else to do: there it takes two milliseconds less than `run`, which has to make streams.
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
    // It is waited for until it is gone, and it may not care for less.
    killSignal: 'SIGKILL',
    maxBuffer: maxBytes,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    windowsHide: true,
  });
  return status === 0 ? stdout : undefined;
}
