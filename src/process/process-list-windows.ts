import { spawnSync } from 'node:child_process';
import type { ProcessList } from './process-list.ts';

/**
 * Windows: only our direct children are visible, and `taskkill /T` ends what is still connected below them. Node holds
 * a handle on a child until its exit is collected, which keeps the pid from being reused, so the pid alone identifies
 * it.
 */
export function createWindowsProcessList(): ProcessList {
  const children = new Set<number>();
  return {
    read: () =>
      [...children].map((pid) => ({
        pid,
        parent: process.pid,
        session: pid,
        startTime: 0,
        cookie: undefined,
      })),
    identify(pid) {
      children.add(pid);
      return { pid, startTime: 0 };
    },
    signal({ pid }) {
      if (!children.has(pid)) return 'gone';
      // Without /F, taskkill only asks windows to close, and a stdio program has none.
      const { status } = spawnSync('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true });
      return status === 0 ? 'sent' : 'refused';
    },
    collected: (pid) => void children.delete(pid),
  };
}
