import type { App } from '../app.ts';
import { describeWarning, type LoadedConfig } from '../config/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';

export interface ReloaderOptions {
  readonly app: Pick<App, 'reconfigure'>;
  readonly log: Logger;
  readonly read: () => Promise<LoadedConfig>;
  /** Told of each configuration that holds from now on. */
  readonly applied: (config: LoadedConfig) => void;
}

/** Reads the configuration again and does what is new in it, one at a time; one that is wrong changes nothing. */
export interface Reloader {
  readonly reload: () => void;
  /** Nothing changes any more, not even by what is being read. */
  readonly stop: () => void;
}

export function createReloader({ app, log, read, applied }: ReloaderOptions): Reloader {
  let last = Promise.resolve();
  let stopped = false;
  const reload = async (): Promise<void> => {
    try {
      const config = await read();
      if (stopped) return;
      for (const warning of config.warnings) log[warning.level](describeWarning(warning));
      const { added, removed, restarted, reshown, kept } = await app.reconfigure(config);
      applied(config);
      log.info('the configuration was read again', {
        added: added.join(',') || undefined,
        removed: removed.join(',') || undefined,
        restarted: restarted.join(',') || undefined,
        reshown: reshown.join(',') || undefined,
        kept: kept.length,
      });
    } catch (error) {
      log.error(`the configuration was not read again, nothing has changed: ${messageOf(error)}`);
    }
  };
  return {
    reload: () => {
      last = last.then(reload);
    },
    stop: () => {
      stopped = true;
    },
  };
}
