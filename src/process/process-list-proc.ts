import { readdirSync } from 'node:fs';
import { readStat } from './process-identity.ts';
import { readProcFile, variableIn } from './proc-file.ts';
import type { ProcessList, RunningProcess } from './process-list.ts';
import { sendSignal } from './send-signal.ts';
import { DAEMON_COOKIE, SERVICE_COOKIE } from './service-cookies.ts';

/** Linux: everything is in /proc. */
export function createProcProcessList(cookieName: string): ProcessList {
  return {
    read(since) {
      const living: RunningProcess[] = [];
      for (const name of readdirSync('/proc')) {
        const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
        if (stat === undefined || !stat.alive || stat.startTime < since) continue;
        const { pid, parent, session, startTime } = stat;
        const environment = readProcFile(`/proc/${pid}/environ`);
        const cookie = variableIn(environment, cookieName);
        const outlives =
          cookie === undefined && OUTLIVING.some((name) => variableIn(environment, name) !== undefined);
        living.push({ pid, parent, session, startTime, cookie, outlives });
      }
      return living;
    },
    identify: (pid) => readStat(pid),
    signal(target, signal) {
      const now = readStat(target.pid);
      if (now?.alive !== true || now.startTime !== target.startTime) return 'gone';
      return sendSignal(target.pid, signal);
    },
    collected: () => undefined,
  };
}

const OUTLIVING = [SERVICE_COOKIE, DAEMON_COOKIE];
