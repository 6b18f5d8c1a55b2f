import { spawnSync } from 'node:child_process';

/** What a command of the system answers, in English; empty when there is no such command or it takes too long. */
export function askSystem(command: string, args: readonly string[]): string {
  const { stdout } = spawnSync(command, args, {
    encoding: 'utf8',
    // Of use on macOS, where lsof is not among the usual places of every PATH.
    env: { ...process.env, LC_ALL: 'C', PATH: `/usr/bin:/bin:/usr/sbin:/sbin:${process.env['PATH'] ?? ''}` },
    maxBuffer: 16 * 1024 * 1024,
    timeout: 5000,
    windowsHide: true,
  }) as { stdout: string | null };
  return stdout ?? '';
}
