import { spawnSync } from 'node:child_process';
import { pathBehind } from './search-path.ts';

/** The output of a command that every Unix has, in English; empty if it is missing or takes too long. */
export function askSystem(command: string, args: readonly string[]): string {
  // Windows would search the working directory first.
  if (process.platform === 'win32') return '';
  const { stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    // On macOS, not every PATH contains the directory of lsof.
    env: { ...process.env, LC_ALL: 'C', PATH: pathBehind('/usr/bin', '/bin', '/usr/sbin', '/sbin') },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 5000,
  }) as { stdout: string | null };
  return stdout ?? '';
}
