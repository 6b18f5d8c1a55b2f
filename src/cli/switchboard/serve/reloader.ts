import { isDeepStrictEqual } from 'node:util';
import type { App } from '../../../app/index.ts';
import { describeWarning, type LoadedConfig } from '../../../config/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';

export interface ReloaderOptions {
  readonly app: Pick<App, 'alone' | 'reconfigure'>;
  readonly log: Logger;
  readonly read: () => Promise<LoadedConfig>;
  /** What to do once the file is corrected, as the end of a sentence. */
  readonly again: string;
  /** The settings of a configuration that come too late for this run. */
  readonly tooLate: (config: LoadedConfig) => readonly string[];
  /** Called with each configuration that takes effect. */
  readonly applied: (config: LoadedConfig) => void;
}

/**
 * Reloads the configuration and applies the changes, one reload at a time; an invalid configuration changes nothing.
 */
export interface Reloader {
  readonly reload: () => void;
  /** The same; resolves when it is done, successfully or not. Servers that replace others may still be starting. */
  readonly reloadNow: () => Promise<void>;
  /** From now on nothing changes, even if a reload is in progress. */
  readonly stop: () => void;
}

type Changes = Awaited<ReturnType<App['reconfigure']>>;

export function createReloader({ app, log, read, again, tooLate, applied }: ReloaderOptions): Reloader {
  let stopped = false;
  const logChanges = (changes: Changes, failed: readonly string[]): void => {
    const { added, removed, restarted, reshown, kept } = changes;
    const names = (list: readonly string[]): string | undefined => list.join(',') || undefined;
    log.info('configuration reloaded', {
      added: names(added),
      removed: names(removed),
      restarted: names(restarted.filter((name) => !failed.includes(name))),
      reshown: names(reshown),
      failed: names(failed),
      kept: kept.length,
    });
  };
  const reload = async (): Promise<void> => {
    try {
      const config = await read();
      if (stopped) return;
      for (const warning of config.warnings) log[warning.level](describeWarning(warning));
      const changes = await app.reconfigure(config);
      applied(config);
      // Not awaited: the next reload may fix a server that does not start.
      void changes.failed.then((failed) => {
        logChanges(changes, failed);
        const late = tooLate(config);
        if (late.length > 0)
          log.warn('some changes take effect after a restart', { settings: late.join(', ') });
      });
    } catch (error) {
      for (const line of problemsIn(error)) log.error(line);
      log.error(`configuration not reloaded, nothing has changed. Correct it and ${again}`);
    }
  };
  return {
    reload: () => void app.alone(reload),
    reloadNow: () => app.alone(reload),
    stop: () => {
      stopped = true;
    },
  };
}

/** One line for each problem. The hint to correct the file appears once. */
function problemsIn(error: unknown): string[] {
  const isList = error instanceof SwitchboardError && error.code === 'CONFIG_INVALID';
  return isList ? error.message.split('\n') : [messageOf(error)];
}

/** Settings that are read at the start and never again. */
const FIXED = {
  http: ({ settings, writtenHttpToken }: LoadedConfig) => [settings.http, writtenHttpToken],
  store: ({ settings, writtenStore }: LoadedConfig) => [settings.replica, writtenStore],
  logLevel: ({ settings }: LoadedConfig) => settings.logLevel,
  logDirectory: ({ logDirectory }: LoadedConfig) => logDirectory,
  logFormat: ({ settings }: LoadedConfig) => settings.logFormat,
  metrics: ({ settings }: LoadedConfig) => settings.metrics,
  telemetry: ({ settings }: LoadedConfig) => settings.telemetry,
  'timeouts.drainMs': ({ settings }: LoadedConfig) => settings.timeouts.drainMs,
} as const;

export type FixedSetting = keyof typeof FIXED;

/** The settings that have changed since the start, and take effect only at the next start. */
export function settingsNeedingRestart(started: LoadedConfig, now: LoadedConfig): FixedSetting[] {
  return (Object.keys(FIXED) as FixedSetting[]).filter(
    (setting) => !isDeepStrictEqual(FIXED[setting](started), FIXED[setting](now)),
  );
}
