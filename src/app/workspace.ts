import type { SourcesOptions } from './sources.ts';
import { inConfigOrder, type ConfiguredServer, type LoadedConfig, type NotAllowed } from '../config/index.ts';
import type { ServerIdentity } from '../doors/index.ts';
import { runCode, type Scripts } from '../code/index.ts';
import { compound, search } from '../exposure/index.ts';
import {
  Gateway,
  type CatalogEntry,
  type GatewayOptions,
  type OverallExposure,
  type Results,
  type SourceState,
  type WatchedGateway,
} from '../gateway/index.ts';
import { ServerManager, type AppliedChanges, type BuildOptions } from '../management/index.ts';
import { AskForProject } from './ask-for-project.ts';
import { argumentsForLog } from './log-lines.ts';
import { isGranted, type Access } from '../roles/index.ts';
import type { ToolFinder } from '../search/index.ts';
import { serverIdentity } from './server-identity.ts';
import { adviceOnRemoval, createManagementTools } from './management.ts';
import { presentationOf } from './entry.ts';
import { hasNothingToShow, setupTool } from './setup-tool.ts';

/** The options that are the same for every workspace. */
export interface WorkspaceOptions extends Pick<
  SourcesOptions,
  'program' | 'log' | 'env' | 'config' | 'volatile' | 'callerMs'
> {
  /** Keeps results that are too long. */
  readonly results: Results;
  /** Finds tools for `find_tool`. */
  readonly finder: ToolFinder;
  /** Runs the scripts of `run_code`. */
  readonly scripts: Scripts;
  /** The servers that `find_tool` names in its description. */
  readonly named: readonly string[];
  /** A server was added to the configuration, or removed from it (undefined). */
  readonly persisted: (name: string, definition: ConfiguredServer | undefined) => void;
  /** Runs work while the configuration is not being reloaded. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  /** The places where servers were searched for, one line each. */
  readonly whereLooked: (config: LoadedConfig) => string[];
  /** Remembers that a project is allowed, and applies its configuration; undefined: clients are not asked. */
  readonly allowProject: ((project: NotAllowed) => Promise<void>) | undefined;
  /** Called for every tool call. */
  readonly called: GatewayOptions['called'];
  /** Called when a server could not be listed or replaced. */
  readonly onProblem: () => void;
  /** Holds the watcher of the gateway. */
  readonly watched: WatchedGateway;
  /** What its client may do at the moment, according to its roles. Default: everything. */
  readonly access?: (() => Access | undefined) | undefined;
  /** Creates the entry of a server for this workspace. */
  readonly build: (definition: ConfiguredServer, how: BuildOptions) => CatalogEntry;
}

/**
 * Everything that belongs to one client: the catalog it sees, its servers, and control over them. Nothing here is
 * shared with others, except servers that are marked as shared.
 */
export interface Workspace {
  readonly gateway: Gateway;
  readonly manager: ServerManager;
  readonly identity: ServerIdentity;
  /** The tools that clients would get from a configuration in addition to those of servers. */
  readonly overallOf: (config: LoadedConfig) => readonly OverallExposure[];
  /** Applies the reloaded configuration to the servers. */
  apply(): Promise<AppliedChanges>;
  close(): Promise<void>;
}

export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { program, log, env, volatile, results, config, onProblem, allowProject } = options;
  const access = (): Access | undefined => options.access?.();
  const asking =
    allowProject &&
    new AskForProject({
      config,
      env,
      allow: allowProject,
      isExposed: (tool) => gateway.exposed.tools.has(tool),
      handle: (call) => gateway.handle(call),
    });
  /** A server of a project that is not allowed yet appears only so that it can ask for approval. */
  const askingFirst = (server: ConfiguredServer, entry: CatalogEntry): CatalogEntry =>
    asking !== undefined && server.kind === 'unusable' && server.notAllowed === true
      ? { ...entry, exposure: asking.before(entry.exposure) }
      : entry;
  const build = (server: ConfiguredServer, how: BuildOptions = {}): CatalogEntry =>
    askingFirst(server, options.build(server, how));
  const { settings } = config();
  const servers = inConfigOrder(config());
  const gateway: Gateway = new Gateway({
    entries: servers.map((server) => build(server)),
    log,
    firstListMs: () => config().settings.timeouts.firstListMs,
    allowsNewSources: settings.management.enabled,
    results,
    watched: options.watched,
    onProblem,
    called: options.called,
    adviseOnRemoval: (server, why) =>
      config().settings.management.enabled ? adviceOnRemoval(server, why) : undefined,
    loggedArguments: (call, server) =>
      config().settings.logArguments ? argumentsForLog(call, server, manager) : undefined,
  });
  const manager = new ServerManager({
    gateway,
    log,
    build,
    withPresentation: (definition, source) =>
      askingFirst(definition, { ...presentationOf(definition, { volatile, results }), source }),
    definitions: servers,
    onProblem,
  });
  const firstListMs = (): number => config().settings.timeouts.firstListMs;
  const { findTool, callTool } = search({
    ...options,
    firstListMs,
    get named() {
      return options.named.filter((name) => access()?.grantsFor(name).length !== 0);
    },
  });
  const scripting = runCode({ ...options, firstListMs, limits: () => config().settings.code });
  const overallOf = (loaded: LoadedConfig): OverallExposure[] => {
    const { compounds, settings: now } = loaded;
    return [
      ...(now.management.enabled
        ? [createManagementTools({ ...options, manager, management: now.management })]
        : []),
      ...(hasExposure(loaded, 'search', 'code') ? [findTool] : []),
      ...(hasExposure(loaded, 'search') ? [callTool] : []),
      ...(hasExposure(loaded, 'code') ? [scripting] : []),
      ...(access() === undefined && hasNothingToShow(loaded)
        ? [setupTool(program, loaded, () => options.whereLooked(loaded))]
        : []),
      ...compounds.map((each) => compound({ ...each, summaryMaxChars: now.introspection.summaryMaxChars })),
    ];
  };
  gateway.swap(gateway.catalog.entries, { overall: overallOf(config()), quiet: true });
  let accessKey = access()?.key;
  const workspace: Workspace = {
    gateway,
    manager,
    identity: serverIdentity(program, gateway, config),
    overallOf,
    apply: () => {
      const [mine, now] = [config(), access()];
      if (accessKey !== now?.key)
        gateway.accessChanged(({ name }, uri) => {
          const grants = now?.grantsFor(name);
          return grants === undefined || isGranted(grants, 'resources', uri);
        });
      accessKey = now?.key;
      return manager.apply(inConfigOrder(mine), overallOf(mine));
    },
    close: () => gateway.close(),
  };
  return workspace;
}

/** Whether any server is exposed in one of these ways, or servers are by default. */
export function hasExposure(
  { servers, unusable, settings }: LoadedConfig,
  ...exposures: readonly ConfiguredServer['exposure'][]
): boolean {
  return [settings, ...servers, ...unusable].some(({ exposure }) => exposures.includes(exposure));
}

export interface ServerState {
  readonly name: string;
  readonly state: SourceState;
  /** Why it exposes nothing although it runs, or is not running as it is defined now; undefined if neither is so. */
  readonly problem?: string | undefined;
}

/** If several sources have the same name, the state that comes first here is reported. */
const STATE_ORDER: readonly SourceState['kind'][] = [
  'running',
  'starting',
  'crashed',
  'unusable',
  'idle',
  'stopped',
];

/** The state of each server; if several have the same name, the most active one. */
export function statesOf(workspaces: readonly Pick<Workspace, 'gateway' | 'manager'>[]): ServerState[] {
  const states = new Map<string, ServerState>();
  for (const { gateway, manager } of workspaces) {
    for (const { source } of gateway.catalog.entries) {
      const { name, state } = source;
      const known = states.get(name);
      if (known && STATE_ORDER.indexOf(known.state.kind) <= STATE_ORDER.indexOf(state.kind)) continue;
      states.set(name, { name, state, problem: manager.problemOf(source)?.message });
    }
  }
  return [...states.values()];
}
