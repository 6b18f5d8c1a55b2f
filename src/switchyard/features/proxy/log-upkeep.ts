import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { reviveLogWriter, writtenLogs } from '../../../process/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import { withLock } from '../../../shared/lock.ts';
import { insideLogs, type Home } from '../../records/state/home.ts';
import { openRegistry } from '../../records/state/registry.ts';
import { logLimit } from '../../runtime/logs/log-limit.ts';
import { trimLog } from '../../runtime/logs/trim.ts';
import { observeServices } from '../../runtime/processes/observe.ts';

/** Check interval, in milliseconds. */
const EVERY = 60_000;

/**
 * Looks after the logs of this home. The log of a service is limited while it is written; the proxy trims the others:
 * those of our own daemons, and of services without a log writer. Returns a function that stops it.
 */
export function keepUpLogs(home: Home, log: (text: string) => void, every = EVERY): () => void {
  const timer = setInterval(() => void inTurn(home, log), every);
  timer.unref();
  return () => clearInterval(timer);
}

/** Each port has its own proxy, and two of them must not work on the same log. */
async function inTurn(home: Home, log: (text: string) => void): Promise<void> {
  try {
    await withLock(
      home.lockName('log-writers'),
      () => {
        trimLogs(home, log);
        return reviveLogWriters(home, log);
      },
      { what: 'checking the logs' },
    );
  } catch (error) {
    log(`could not check the logs: ${messageOf(error)}`);
  }
}

function trimLogs(home: Home, log: (text: string) => void): void {
  let names: string[];
  try {
    names = readdirSync(home.logs, { recursive: true, encoding: 'utf8' });
  } catch {
    // There are no logs yet, or a directory disappeared in the meantime.
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

/**
 * A service whose log writer was killed waits as soon as the pipe is full. Starts a new writer for each of them. Call it
 * under the lock of the logs.
 */
async function reviveLogWriters(home: Home, log: (text: string) => void): Promise<void> {
  const records = Object.values(openRegistry(home).read().projects).flatMap(({ services }) =>
    Object.values(services),
  );
  if (records.length === 0) return;
  const written = writtenLogs();
  const without = records.filter(({ log_file: file }) => !written.has(file) && insideLogs(home, file));
  for (const { record, root } of observeServices(without)) {
    // The outputs of a process that the service itself started may go anywhere.
    if (root === undefined || root.pid !== record.pid) continue;
    const { log_file: logFile, cookie } = record;
    const options = { logFile, limit: logLimit(logFile), home: home.root, cookie };
    if (await reviveLogWriter(root.pid, options)) log(`restarted the log writer of ${record.service}`);
  }
}
