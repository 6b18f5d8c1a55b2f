import { Exit } from '../../shared/exit-codes.ts';
import type { Logger } from '../../shared/log.ts';

export type StopSignal = keyof typeof SIGNAL_EXIT;

/** As shells report them: 128 plus the number of the signal. SIGBREAK is Ctrl-Break, which only Windows has. */
export const SIGNAL_EXIT = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143, SIGBREAK: 149 } as const;

export function isStopSignal(why: string): why is StopSignal {
  return Object.hasOwn(SIGNAL_EXIT, why);
}

/**
 * How long the program may continue after a signal, in milliseconds. On Windows, SIGHUP means that the console window
 * was closed, and the system ends us about five seconds later.
 */
export function timeLeftAfter(why: string, platform: NodeJS.Platform = process.platform): number {
  return platform === 'win32' && why === 'SIGHUP' ? 2000 : Infinity;
}

/**
 * Resolves at the first signal; a second one, or a bug, ends everything immediately. With `hangup`, SIGHUP calls that
 * instead, except on Windows.
 */
export function onStop(
  killNow: () => void,
  log: Logger,
  hangup?: () => void,
  platform: NodeJS.Platform = process.platform,
): Promise<StopSignal> {
  return new Promise((resolve) => {
    let asked = false;
    const signals: StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGBREAK'];
    if (hangup && platform !== 'win32') process.on('SIGHUP', hangup);
    else signals.push('SIGHUP');
    for (const signal of signals) {
      process.on(signal, () => {
        if (asked) {
          killNow();
          process.exit(1);
        }
        asked = true;
        resolve(signal);
      });
    }
    const fatal = (error: unknown): never => {
      log.error('a bug in Switchboard ended it', {
        error: error instanceof Error ? error.stack : String(error),
      });
      killNow();
      process.exit(Exit.bug);
    };
    process.on('uncaughtException', fatal);
    process.on('unhandledRejection', fatal);
  });
}

/** Handles Ctrl-C while a command waits, so that it can end cleanly and report what keeps running. */
export interface Interrupt {
  /** Aborted by the first signal; the second one ends the program immediately. */
  readonly signal: AbortSignal;
  /** The exit code for the signal; undefined if none was received. */
  exitCode(): number | undefined;
  /** Restores the default handling of signals. */
  close(): void;
}

export function catchInterrupt(): Interrupt {
  const controller = new AbortController();
  let exitCode: number | undefined;
  const handlers = Object.entries(SIGNAL_EXIT).map(([name, code]) => {
    const handler = (): void => {
      if (exitCode !== undefined) process.exit(code);
      exitCode = code;
      controller.abort();
    };
    process.on(name, handler);
    return [name, handler] as const;
  });
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    close: () => {
      for (const [name, handler] of handlers) process.off(name, handler);
    },
  };
}
