import { spawnSync } from 'node:child_process';

/** The output of a system command, in English; empty if the command is missing or takes too long. */
export function askSystem(command: string, args: readonly string[]): string {
  const { stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    // For macOS, where not every PATH contains the directory of lsof.
    env: { ...process.env, LC_ALL: 'C', PATH: `/usr/bin:/bin:/usr/sbin:/sbin:${process.env['PATH'] ?? ''}` },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 5000,
    windowsHide: true,
  }) as { stdout: string | null };
  return stdout ?? '';
}
