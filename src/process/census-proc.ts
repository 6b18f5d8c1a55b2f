import { Buffer } from 'node:buffer';
import { readdirSync } from 'node:fs';
import type { Census, LivingProcess } from './census.ts';
import { deliver } from './deliver.ts';
import { parseStat, readStat } from './identity.ts';
import { DAEMON_COOKIE, SERVICE_COOKIE } from './outliving.ts';
import { readProcFile, valueIn } from './proc-file.ts';

/** Linux: everything is in /proc. */
export function createProcCensus(cookieName: string): Census {
  const wanted = Buffer.from(`${cookieName}=`);
  return {
    take(since) {
      const living: LivingProcess[] = [];
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
      return deliver(target.pid, signal);
    },
    collected: () => undefined,
  };
}

const OUTLIVING = [SERVICE_COOKIE, DAEMON_COOKIE].map((name) => Buffer.from(`${name}=`));
