import { existsSync, writeSync } from 'node:fs';
import { printableLine } from '../../shared/printable.ts';
import type { Home } from '../state/home.ts';
import { timestamp } from '../state/timestamp.ts';

export interface DaemonLifetimeOptions {
  readonly home: Home;
  /** Ends it. Default: SIGTERM and SIGINT do. */
  readonly signal?: AbortSignal | undefined;
  /** Takes a line for each thing that happened. Default: stdout, which is its log file. */
  readonly log?: ((text: string) => void) | undefined;
}

export interface DaemonLifetime {
  readonly log: (text: string) => void;
  /** Resolves, with the reason, when the daemon shall end. */
  readonly end: Promise<string>;
}

/** How often it is looked whether the home is still there, in milliseconds. */
const POLL_MS = 30_000;

/**
 * How long a daemon lives. The end of a terminal is nothing to it. Its home may be deleted under it; then there is
 * nothing left to serve.
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
    // A full disk must not end what others rely on.
  }
}
