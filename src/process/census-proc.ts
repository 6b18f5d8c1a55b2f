import { Buffer } from 'node:buffer';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import type { Census, LivingProcess } from './census.ts';
import { deliver } from './deliver.ts';
import { parseStat, readStat } from './identity.ts';
import { DAEMON_COOKIE, SERVICE_COOKIE } from './outliving.ts';

/** Linux: everything is in /proc. */
export function createProcCensus(cookieName: string): Census {
  const wanted = Buffer.from(`${cookieName}=`);
  return {
    take(since) {
      const living: LivingProcess[] = [];
      for (const name of readdirSync('/proc')) {
        if (!/^\d+$/.test(name)) continue;
        const stat = parseStat(readWhole(`/proc/${name}/stat`).toString('latin1'));
        if (stat === undefined || !stat.alive || stat.startTime < since) continue;
        const { pid, parent, session, startTime } = stat;
        const environment = readWhole(`/proc/${pid}/environ`);
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

function valueIn(environment: Buffer, wanted: Buffer): string | undefined {
  for (let at = environment.indexOf(wanted); at !== -1; at = environment.indexOf(wanted, at + 1)) {
    // The variable itself, not its text inside the value of another one.
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('latin1', at + wanted.length, end === -1 ? environment.length : end);
  }
  return undefined;
}

let scratch = Buffer.allocUnsafe(16 * 1024);

/**
 * A file of /proc, valid until the next call; empty when it is gone or not ours to read. One buffer for all
 * reads: a census reads hundreds of these files in a row, and `readFileSync` costs twice as much for each.
 */
function readWhole(path: string): Buffer {
  let file: number | undefined;
  let length = 0;
  try {
    file = openSync(path, 'r');
    for (;;) {
      if (length === scratch.length) scratch = Buffer.concat([scratch, Buffer.allocUnsafe(scratch.length)]);
      const count = readSync(file, scratch, length, scratch.length - length, null);
      if (count === 0) break;
      length += count;
    }
  } catch {
    // It ended while we looked, or belongs to another user: then it is none of ours.
    length = 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return scratch.subarray(0, length);
}
