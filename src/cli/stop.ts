import type { Logger } from '../shared/log.ts';
import { Exit } from './failure.ts';

export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/**
 * Resolves at the first signal; the second one, or a bug, ends everything at once. Where `hangup` is given, SIGHUP means
 * that instead.
 */
export function onStop(killNow: () => void, log: Logger, hangup?: () => void): Promise<StopSignal> {
  return new Promise((resolve) => {
    let asked = false;
    if (hangup) process.on('SIGHUP', hangup);
    for (const signal of ['SIGINT', 'SIGTERM', ...(hangup ? [] : (['SIGHUP'] as const))] as const) {
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
