import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import type { Home } from '../../records/state/home.ts';
import { trimLog } from '../../runtime/logs/trim.ts';

/** Check interval, in milliseconds. */
const EVERY = 60_000;

/**
 * Keeps the logs of this home from growing without limit. The proxy does it, because services write to their files
 * directly. Returns how to stop.
 */
export function keepLogsShort(home: Home, log: (text: string) => void, every = EVERY): () => void {
  const timer = setInterval(() => trimLogs(home, log), every);
  timer.unref();
  return () => clearInterval(timer);
}

function trimLogs(home: Home, log: (text: string) => void): void {
  let names: string[];
  try {
    names = readdirSync(home.logs, { recursive: true, encoding: 'utf8' });
  } catch {
    // There are no logs yet, or a directory disappeared meanwhile.
    return;
  }
  for (const name of names) {
    if (!name.endsWith('.log')) continue;
    try {
      if (trimLog(join(home.logs, name))) log(`shortened ${name}`);
    } catch (error) {
      log(`could not shorten ${name}: ${messageOf(error)}`);
    }
  }
}
