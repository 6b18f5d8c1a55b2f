import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../shared/errors.ts';
import { trimLog } from '../logs/trim.ts';
import type { Home } from '../state/home.ts';

/** How often it is looked at, in milliseconds. */
const EVERY = 60_000;

/**
 * Keeps the logs of this home from growing without end. Nobody else is there to do it: services write to their files
 * themselves. Returns how to stop.
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
    // There are none yet, or a directory went away while we looked.
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
