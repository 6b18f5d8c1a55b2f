import { isDeepStrictEqual } from 'node:util';
import type { LoadedConfig } from '../config/index.ts';

/** What is read of a configuration at the start and never again. */
const FIXED = {
  http: ({ settings, writtenHttpToken }: LoadedConfig) => [settings.http, writtenHttpToken],
  logLevel: ({ settings }: LoadedConfig) => settings.logLevel,
  logDirectory: ({ logDirectory }: LoadedConfig) => logDirectory,
  'timeouts.drainMs': ({ settings }: LoadedConfig) => settings.timeouts.drainMs,
} as const;

export type FixedSetting = keyof typeof FIXED;

/** The settings that differ from those at the start, and hold only from the next one. */
export function settingsNeedingRestart(started: LoadedConfig, now: LoadedConfig): FixedSetting[] {
  return (Object.keys(FIXED) as FixedSetting[]).filter(
    (setting) => !isDeepStrictEqual(FIXED[setting](started), FIXED[setting](now)),
  );
}
