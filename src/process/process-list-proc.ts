import { Buffer } from 'node:buffer';
import { readdirSync } from 'node:fs';
import type { ProcessList, RunningProcess } from './process-list.ts';
import { sendSignal } from './send-signal.ts';
import { parseStat, readStat } from './pid-start.ts';
import { DAEMON_COOKIE, SERVICE_COOKIE } from './service-cookies.ts';
import { readProcFile, valueIn } from './proc-file.ts';

/** Linux: everything is in /proc. */
export function createProcProcessList(cookieName: string): ProcessList {
  const wanted = Buffer.from(`${cookieName}=`);
  return {
    read(since) {
      const living: RunningProcess[] = [];
      for (const name of readdirSync('/proc')) {
        if (!/^\d+$/.test(name)) continue;
        const stat = parseStat(readProcFile(`/proc/${name}/stat`).toString('latin1'));
        if (stat === undefined || !stat.alive || stat.startTime < since) continue;
        const { pid, parent, session, startTime } = stat;
        const environment = readProcFile(`/proc/${pid}/environ`);
        const cookie = valueIn(environment, wanted);
        const outlives =
          cookie === undefined && OUTLIVING.some((name) => valueIn(environment, name) !== undefined);
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

const OUTLIVING = [SERVICE_COOKIE, DAEMON_COOKIE].map((name) => Buffer.from(`${name}=`));
