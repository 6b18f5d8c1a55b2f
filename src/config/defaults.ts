import type { LogLevel } from '../shared/log.ts';

/** What holds where the configuration says nothing. The schema takes its defaults from here. */
export const DEFAULTS = {
  /** Relative to the configuration's directory. */
  discoverGlobs: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'],
  /** In milliseconds. */
  timeouts: {
    childSpawnMs: 8_000,
    rpcMs: 60_000,
    idleMs: 600_000,
    drainMs: 3_000,
    callMaxMs: 3_600_000,
  },
  introspection: { mode: 'summary', summaryMaxChars: 160 },
  inheritEnv: true,
  logLevel: 'info' as LogLevel,
  limits: { messageBytes: 16 * 1024 * 1024, callsInFlight: 64, callsQueued: 4096 },
  framing: 'auto',
} as const;

/** Never searched: the natural-language wrapper keeps the definition of the server it wraps there. */
export const ALWAYS_EXCLUDED = ['**/original/**'] as const;
