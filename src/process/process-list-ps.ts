import { spawnSync } from 'node:child_process';
import type { ProcessList, RunningProcess } from './process-list.ts';
import { sendSignal } from './send-signal.ts';

const COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=';

/**
 * macOS and BSD: environments and sessions of other processes are not visible, so the tree of a child is its process
 * group and its descendants by parent.
 */
export function createPsProcessList(): ProcessList {
  const list = (selection: readonly string[]): RunningProcess[] => {
    const { stdout } = spawnSync('ps', [...selection, '-o', COLUMNS], {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C' },
      maxBuffer: 16 * 1024 * 1024,
      timeout: 2000,
    });
    return parsePs(stdout);
  };
  const identify = (pid: number): RunningProcess | undefined => list(['-p', String(pid)])[0];
  return {
    read: (since) => list(['-ax']).filter((entry) => entry.startTime >= since),
    identify,
    signal(target, signal) {
      if (identify(target.pid)?.startTime !== target.startTime) return 'gone';
      return sendSignal(target.pid, signal);
    },
    collected: () => undefined,
  };
}

/** Lines of `pid ppid pgid stat Sat Nov 15 09:07:01 2025`, without zombies. */
export function parsePs(text: string): RunningProcess[] {
  const living: RunningProcess[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line);
    const [, pid, parent, session, stat = '', started = ''] = match ?? [];
    const startTime = Date.parse(started) / 1000;
    if (Number.isNaN(startTime) || stat.startsWith('Z')) continue;
    living.push({
      pid: Number(pid),
      parent: Number(parent),
      session: Number(session),
      startTime,
      cookie: undefined,
    });
  }
  return living;
}
