import { spawnSync } from 'node:child_process';
import { psColumns } from './ps-columns.ts';
import type { ProcessList, RunningProcess } from './process-list.ts';
import { sendSignal } from './send-signal.ts';

const COLUMNS = psColumns('pid', 'ppid', 'pgid', 'stat', 'lstart');

/**
 * The process list of macOS and BSD. Environments and sessions of other processes are not visible there, so the tree of
 * a child consists of its process group and its descendants by parent.
 */
export function createPsProcessList(): ProcessList {
  const list = (selection: readonly string[]): ListedProcess[] => {
    const { stdout } = spawnSync('ps', [...selection, ...COLUMNS], {
      encoding: 'utf8',
      // Start times are compared with those read by programs in other time zones.
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
      maxBuffer: 16 * 1024 * 1024,
      timeout: 2000,
    });
    return parsePs(stdout);
  };
  const identify = (pid: number): ListedProcess | undefined => list(['-p', String(pid)])[0];
  return {
    read: (since) => list(['-ax']).filter((entry) => entry.alive && entry.startTime >= since),
    identify,
    signal(target, signal) {
      const now = identify(target.pid);
      if (now?.alive !== true || now.startTime !== target.startTime) return 'gone';
      return sendSignal(target.pid, signal);
    },
    collected: () => undefined,
  };
}

interface ListedProcess extends RunningProcess {
  /** False for a zombie. */
  readonly alive: boolean;
}

/** Parses lines of `pid ppid pgid stat Sat Nov 15 09:07:01 2025`, with the time in UTC. */
export function parsePs(text: string): ListedProcess[] {
  const listed: ListedProcess[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S.*)$/.exec(line);
    const [, pid, parent, session, stat = '', started = ''] = match ?? [];
    const startTime = Date.parse(`${started.trim()} UTC`) / 1000;
    if (Number.isNaN(startTime)) continue;
    listed.push({
      pid: Number(pid),
      parent: Number(parent),
      session: Number(session),
      startTime,
      cookie: undefined,
      alive: !stat.startsWith('Z'),
    });
  }
  return listed;
}
