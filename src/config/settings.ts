import { DEFAULTS } from './defaults.ts';
import type { ConfigInput, ConfigOutput } from './schema/config.ts';

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** What the configuration says about everything but single servers, with every default applied. */
export type Settings = DeepReadonly<Omit<ConfigOutput, '$schema' | 'mcpServers'>>;

/**
 * Fills in the defaults. Plain code instead of the schema's parse, because loading the schema costs 26 ms; the return
 * type comes from the schema, so a setting that is added there and forgotten here does not compile.
 */
export function applyDefaults(config: ConfigInput): Settings {
  const { introspection = {}, limits = {} } = config;
  return {
    discoverGlobs: config.discoverGlobs ?? DEFAULTS.discoverGlobs,
    // Without a prototype: a server may be called "constructor".
    suites: Object.assign(Object.create(null) as Record<string, never>, config.suites),
    timeouts: overrideTimeouts(DEFAULTS.timeouts, config.timeouts),
    introspection: {
      mode: introspection.mode ?? DEFAULTS.introspection.mode,
      summaryMaxChars: introspection.summaryMaxChars ?? DEFAULTS.introspection.summaryMaxChars,
    },
    inheritEnv: config.inheritEnv ?? DEFAULTS.inheritEnv,
    logLevel: config.logLevel ?? DEFAULTS.logLevel,
    limits: {
      messageBytes: limits.messageBytes ?? DEFAULTS.limits.messageBytes,
      callsInFlight: limits.callsInFlight ?? DEFAULTS.limits.callsInFlight,
      callsQueued: limits.callsQueued ?? DEFAULTS.limits.callsQueued,
    },
  };
}

/** The time limits given, and where one is left out, that of `base`. */
export function overrideTimeouts(
  base: Settings['timeouts'],
  given: ConfigInput['timeouts'],
): Settings['timeouts'] {
  if (given === undefined) return base;
  return {
    childSpawnMs: given.childSpawnMs ?? base.childSpawnMs,
    rpcMs: given.rpcMs ?? base.rpcMs,
    idleMs: given.idleMs ?? base.idleMs,
    drainMs: given.drainMs ?? base.drainMs,
    callMaxMs: given.callMaxMs ?? base.callMaxMs,
  };
}
