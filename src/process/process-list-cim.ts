import { spawnSync } from 'node:child_process';
import { askSystem } from './ask-system.ts';
import type { ProcessList, RunningProcess } from './process-list.ts';

/** Start times are in milliseconds since the epoch. */
const LIST = `Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object {
  '{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, ([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }`;

/**
 * Windows, for processes that another program of ours may have started. Environments of others are not visible and
 * there are no sessions, so a tree is whatever is still connected by parent pids.
 */
export function createCimProcessList(): ProcessList {
  const list = (): RunningProcess[] =>
    parseCim(askSystem('powershell', ['-NoProfile', '-NonInteractive', '-Command', LIST]));
  const identify = (pid: number): RunningProcess | undefined => list().find((entry) => entry.pid === pid);
  return {
    read: (since) => list().filter((entry) => entry.startTime >= since),
    identify,
    signal({ pid, startTime }) {
      if (identify(pid)?.startTime !== startTime) return 'gone';
      // Without /F, taskkill only asks windows to close, and a service has none.
      const { status } = spawnSync('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true });
      return status === 0 ? 'sent' : 'refused';
    },
    collected: () => undefined,
  };
}

/** Lines of `pid parent start`. */
export function parseCim(text: string): RunningProcess[] {
  const living: RunningProcess[] = [];
  for (const line of text.split('\n')) {
    const match = /^(\d+) (\d+) (\d+)\s*$/.exec(line);
    if (match === null) continue;
    const [pid, parent, startTime] = match.slice(1).map(Number) as [number, number, number];
    living.push({ pid, parent, session: pid, startTime, cookie: undefined });
  }
  return living;
}
