import { resolveAudit, type AuditSettings } from './audit.ts';
import { DEFAULTS } from './defaults.ts';
import { SWITCHBOARD, type ProgramVariant } from './program-variant.ts';
import { resolveOAuth, resolveRoles } from './access.ts';
import { resolveManagement, type Management } from './management.ts';
import type { ConfigInput, ConfigOutput } from './schema/config.ts';

type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T;

/** All settings except those of single servers and tools, with every default applied. */
export type Settings = DeepReadonly<
  Omit<
    ConfigOutput,
    | '$schema'
    | 'extends'
    | 'allowProjects'
    | 'mcpServers'
    | 'tools'
    | 'logDirectory'
    | 'management'
    | 'http'
    | 'store'
    | 'audit'
    | 'metrics'
    | 'telemetry'
  >
> & {
  /** Without the token; see httpTokenOf. */
  readonly http: DeepReadonly<Omit<ConfigOutput['http'], 'token'>>;
  readonly management: Management;
  /** The settings of the user file that protect its user. Default: none. */
  readonly user?: UserGuards | undefined;
  /** How calls are recorded; false: not at all. */
  readonly audit: false | AuditSettings;
  /** Where metrics are served; false: nowhere. */
  readonly metrics: false | { readonly host: string; readonly port: number };
  /** How traces are sent; false: not at all. Members that are left out are determined by the standard variables. */
  readonly telemetry:
    false | { readonly endpoint?: string | undefined; readonly sampleRatio?: number | undefined };
  /** timeouts.idleMs of flat servers: "never", unless the configuration itself sets it. */
  readonly flatIdleMs: ConfigOutput['timeouts']['idleMs'];
  /** timeouts.childSpawnMs of remote servers: shorter, unless the configuration itself sets it. */
  readonly remoteStartMs: number;
};

/** A project may be stricter than this but not less strict. */
export type UserGuards = DeepReadonly<Pick<ConfigInput, 'approve' | 'pin' | 'suites'>>;

/** The time limits of one server, in milliseconds. */
export type ServerTimeouts = Omit<Settings['timeouts'], 'firstListMs' | 'hookMs'>;

/**
 * Applies the defaults. Plain code instead of the schema's parse, because loading the schema takes 26 ms. The return
 * type comes from the schema, so forgetting a new setting here does not compile.
 */
export function applyDefaults(config: ConfigInput, variant: ProgramVariant = SWITCHBOARD): Settings {
  const { introspection = {}, code = {}, limits = {}, http = {}, replica = {} } = config;
  return {
    discoverGlobs: globsOf(config, variant),
    exposure: config.exposure ?? variant.defaults.exposure,
    naming: config.naming ?? variant.defaults.naming,
    offer: config.offer ?? DEFAULTS.offer,
    instructions: { maxChars: config.instructions?.maxChars ?? DEFAULTS.instructions.maxChars },
    isolation: config.isolation ?? DEFAULTS.isolation,
    http: {
      allowedHosts: http.allowedHosts ?? [],
      allowedOrigins: http.allowedOrigins ?? [],
      maxSessions: http.maxSessions ?? DEFAULTS.http.maxSessions,
      sessionIdleMs: http.sessionIdleMs ?? DEFAULTS.http.sessionIdleMs,
      console: http.console ?? 'on',
      maxProcesses: http.maxProcesses ?? DEFAULTS.http.maxProcesses,
      oauth: http.oauth && resolveOAuth(http.oauth),
    },
    roles: config.roles && resolveRoles(config.roles),
    replica: { ...replica, group: replica.group ?? DEFAULTS.replica.group },
    // Without a prototype: a server may be called "constructor".
    suites: Object.assign(Object.create(null) as Record<string, never>, config.suites),
    management: resolveManagement(config.management, variant.defaults.management),
    timeouts: {
      ...overrideTimeouts(DEFAULTS.timeouts, config.timeouts),
      firstListMs: config.timeouts?.firstListMs ?? DEFAULTS.timeouts.firstListMs,
      hookMs: config.timeouts?.hookMs ?? DEFAULTS.timeouts.hookMs,
    },
    // A stopped server could not report that its tools changed, and flat tools are in the host's list.
    flatIdleMs: config.timeouts?.idleMs ?? 'never',
    remoteStartMs: config.timeouts?.childSpawnMs ?? DEFAULTS.remoteStartMs,
    introspection: {
      mode: introspection.mode ?? DEFAULTS.introspection.mode,
      summaryMaxChars: introspection.summaryMaxChars ?? DEFAULTS.introspection.summaryMaxChars,
    },
    suite: config.suite,
    approve: config.approve,
    pin: config.pin ?? DEFAULTS.pin,
    results: config.results,
    code: {
      timeoutMs: code.timeoutMs ?? DEFAULTS.code.timeoutMs,
      cpuMs: code.cpuMs ?? DEFAULTS.code.cpuMs,
      memoryMb: code.memoryMb ?? DEFAULTS.code.memoryMb,
      maxCalls: code.maxCalls ?? DEFAULTS.code.maxCalls,
      concurrency: code.concurrency ?? DEFAULTS.code.concurrency,
      maxTokens: code.maxTokens ?? DEFAULTS.code.maxTokens,
    },
    inheritEnv: config.inheritEnv ?? DEFAULTS.inheritEnv,
    logLevel: config.logLevel ?? DEFAULTS.logLevel,
    logFormat: config.logFormat ?? DEFAULTS.logFormat,
    audit: resolveAudit(config.audit),
    metrics: metricsOf(config.metrics),
    telemetry: config.telemetry === true ? {} : (config.telemetry ?? false),
    logArguments: config.logArguments ?? DEFAULTS.logArguments,
    limits: {
      messageBytes: limits.messageBytes ?? DEFAULTS.limits.messageBytes,
      callsInFlight: limits.callsInFlight ?? DEFAULTS.limits.callsInFlight,
      callsQueued: limits.callsQueued ?? DEFAULTS.limits.callsQueued,
    },
  };
}

function metricsOf(given: ConfigInput['metrics'] = false): Settings['metrics'] {
  if (given === false) return false;
  const { host = DEFAULTS.metrics.host, port = DEFAULTS.metrics.port } = given === true ? {} : given;
  return { host, port };
}

/** Where one file of the configuration searches for servers, relative to its directory. */
export function globsOf({ discoverGlobs }: ConfigInput, variant: ProgramVariant): readonly string[] {
  return discoverGlobs ?? (variant.discovers === false ? [] : DEFAULTS.discoverGlobs);
}

/** The given time limits, with those of `base` for any that are missing. */
export function overrideTimeouts(base: ServerTimeouts, given: ConfigInput['timeouts'] = {}): ServerTimeouts {
  return {
    childSpawnMs: given.childSpawnMs ?? base.childSpawnMs,
    rpcMs: given.rpcMs ?? base.rpcMs,
    idleMs: given.idleMs ?? base.idleMs,
    drainMs: given.drainMs ?? base.drainMs,
    callMaxMs: given.callMaxMs ?? base.callMaxMs,
  };
}
