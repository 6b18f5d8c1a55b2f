import type { LogFormat, LogLevel } from '../shared/log.ts';

/** The exposures of a server: one tool, all its tools, through search, in scripts, or not at all. */
export const EXPOSURES = ['suite', 'flat', 'search', 'code', 'hidden'] as const;
/** Which tools require a person's approval before they run. */
export const APPROVE = ['destructive', 'all'] as const;
/** What happens to tools that have changed. */
export const PINS = ['warn', 'block', 'off'] as const;
/** How a suite may be divided into several tools. */
export const SPLITS = ['effect'] as const;
/** The names of flat tools: `server__tool`, or the tool's own. */
export const NAMINGS = ['prefixed', 'plain'] as const;
/** Whether a person is asked before a server is added at run time. */
export const APPROVALS = ['ask', 'auto'] as const;
/** The tools that add and remove servers. While they exist, no compound tool may have one of these names. */
export const MANAGEMENT_TOOLS = ['add_server', 'remove_server', 'reload_server', 'list_servers'] as const;
/** How a service logs in to a server. */
export const GRANTS = ['client_credentials', 'jwt_bearer', 'token_exchange'] as const;
/** Whether the tokens of a login are bound to a key. */
export const DPOP = ['auto', 'required', 'off'] as const;
/** What a server can offer. */
export const KINDS = ['tools', 'resources', 'prompts'] as const;
/** The servers that are part of this program. */
export const BUILTINS = ['switchyard'] as const;
/** Whether each client gets its own server, or all share one. */
export const ISOLATIONS = ['session', 'shared', 'call'] as const;

/** The providers of language models. `openai` is any service with that API; `host` is the client's own model. */
export const PROVIDERS = ['anthropic', 'openai', 'host'] as const;

/** A cut result must have room for the note about its remainder, in tokens. */
export const LEAST_RESULT_TOKENS = 300;

/** The defaults of the configuration. The schema takes them from here, too. */
export const DEFAULTS = {
  /** Relative to the directory of the configuration. */
  discoverGlobs: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'],
  /** For the program `switchboard`; other programs may have different defaults. */
  exposure: 'suite',
  naming: 'prefixed',
  pin: 'warn',
  offer: KINDS,
  instructions: { maxChars: 2000 },
  isolation: 'session',
  http: { maxSessions: 1000, sessionIdleMs: 1_800_000, maxProcesses: 256 },
  /** Of `http.oauth`. */
  oauth: { principalClaim: 'sub', clockToleranceMs: 30_000, introspectionCacheMs: 30_000 },
  replica: { group: 'default' },
  management: { enabled: false, approval: 'ask', persist: false },
  /** In milliseconds. */
  timeouts: {
    childSpawnMs: 60_000,
    rpcMs: 60_000,
    idleMs: 600_000,
    drainMs: 3_000,
    callMaxMs: 3_600_000,
    firstListMs: 10_000,
    hookMs: 10_000,
  },
  /** In milliseconds. A remote server is already running, so it answers soon or not at all. */
  remoteStartMs: 8_000,
  introspection: { mode: 'summary', summaryMaxChars: 160 },
  /** What a script may use. */
  code: {
    timeoutMs: 300_000,
    cpuMs: 5_000,
    memoryMb: 64,
    maxCalls: 1000,
    concurrency: 8,
    maxTokens: 10_000,
  },
  inheritEnv: true,
  logLevel: 'info' as LogLevel,
  logFormat: 'text' as LogFormat,
  logArguments: false,
  limits: { messageBytes: 16 * 1024 * 1024, callsInFlight: 64, callsQueued: 4096 },
  audit: { arguments: false, maxBytes: 10 * 1024 * 1024, files: 5 },
  /** The port that OpenTelemetry's exporters for Prometheus use. */
  metrics: { host: '127.0.0.1', port: 9464 },
  framing: 'auto',
  /** For a language model in front of a server. */
  language: { allowDestructive: false, maxSteps: 12, maxTokens: 100_000, timeoutMs: 180_000 },
} as const;

/** Never searched: the natural-language wrapper keeps the original definition of its server there. */
export const ALWAYS_EXCLUDED = ['**/original/**'] as const;
