import { readdirSync } from 'node:fs';
import { cookieOfCgroup } from './cgroup-cookie.ts';
import { readStat } from './process-identity.ts';
import { readProcFile, variableIn } from './proc-file.ts';
import type { ProcessList, RunningProcess } from './process-list.ts';
import { sendSignal } from './send-signal.ts';
import { createServiceProof } from './service-cookies.ts';

/**
 * The process list of Linux, which exposes everything in /proc. With `cgroups`, a process also carries the cookie in
 * the name of its cgroup.
 */
export function createProcProcessList(cookieName: string, cgroups = () => false): ProcessList {
  return {
    read(since) {
      const living: RunningProcess[] = [];
      const isService = createServiceProof();
      for (const name of readdirSync('/proc')) {
        const stat = /^\d+$/.test(name) ? readStat(Number(name)) : undefined;
        if (stat === undefined || !stat.alive || stat.startTime < since) continue;
        const { pid, parent, session, startTime } = stat;
        const environment = readProcFile(`/proc/${pid}/environ`);
        const carried = variableIn(environment, cookieName);
        const outlives = carried === undefined && isService(environment);
        const cookie = carried ?? (outlives || !cgroups() ? undefined : cookieOfCgroup(pid, cookieName));
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
