import { existsSync, writeSync } from 'node:fs';
import { printableLine } from '../../../shared/printable.ts';
import type { Home } from '../../records/state/home.ts';
import { timestamp } from '../../records/state/records.ts';

export interface DaemonLifetimeOptions {
  readonly home: Home;
  /** Ends the daemon. Default: only SIGTERM and SIGINT do. */
  readonly signal?: AbortSignal | undefined;
  /** Gets one line per event. Default: stdout, which is its log file. */
  readonly log?: ((text: string) => void) | undefined;
}

export interface DaemonLifetime {
  readonly log: (text: string) => void;
  /** Resolves with the reason when the daemon must end. */
  readonly end: Promise<string>;
}

/** How often to check whether the home still exists, in milliseconds. */
const POLL_MS = 30_000;

/**
 * Decides how long a daemon lives. Ignores the end of its terminal. Ends if its home is deleted, because nothing is
 * left to serve.
 */
export function daemonLifetime({ home, signal, log = writeLine }: DaemonLifetimeOptions): DaemonLifetime {
  const end = new Promise<string>((resolve) => {
    const timer = setInterval(() => {
      if (!existsSync(home.root)) resolve('its home is gone');
    }, POLL_MS);
    timer.unref();
    if (signal !== undefined) {
      if (signal.aborted) resolve('stopped');
      signal.addEventListener('abort', () => resolve('stopped'), { once: true });
      return;
    }
    process.on('SIGTERM', resolve);
    process.on('SIGINT', resolve);
    process.on('SIGHUP', () => undefined);
  });
  return { log, end };
}

function writeLine(text: string): void {
  try {
    writeSync(process.stdout.fd, `${timestamp()} ${printableLine(text)}\n`);
  } catch {
    // A full disk must not end a daemon that others rely on.
  }
}
