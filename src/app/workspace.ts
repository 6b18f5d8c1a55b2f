import { inConfigOrder, type ConfiguredServer, type LoadedConfig, type NotAllowed } from '../config/index.ts';
import type { ServerIdentity } from '../doors/index.ts';
import { compound } from '../exposure/index.ts';
import { Gateway, type CatalogEntry, type OverallExposure, type SourceState } from '../gateway/index.ts';
import { ServerManager, type AppliedChanges } from '../management/index.ts';
import type { Logger } from '../shared/log.ts';
import { AskForProject } from './ask-for-project.ts';
import { argumentsForLog } from './log-lines.ts';
import { serverIdentity } from './server-identity.ts';
import { adviceOnRemoval, createManagementTools } from './management.ts';
import { presentationOf } from './entry.ts';
import { hasNothingToShow, setupTool } from './setup-tool.ts';

/** What is the same for every workspace. */
export interface WorkspaceOptions {
  readonly program: string;
  readonly log: Logger;
  readonly volatile: boolean;
  /** How long a caller waits for a server to start, in milliseconds. */
  readonly callerMs: number;
  /** The configuration as it is now. */
  readonly config: () => LoadedConfig;
  /** A server was written to the configuration, or taken out of it (undefined). */
  readonly persisted: (name: string, definition: ConfiguredServer | undefined) => void;
  /** Runs work while the configuration is not being reloaded. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
  /** Where servers of a configuration were looked for, one line for each place. */
  readonly whereLooked: (config: LoadedConfig) => string[];
  /** Remembers that a project is allowed, and applies its configuration; undefined: clients are not asked. */
  readonly allowProject: ((project: NotAllowed) => Promise<void>) | undefined;
  /** Called when a server could not be listed. */
  readonly onProblem: () => void;
  /**
   * Makes the entry of a server for this workspace. It does not start before `after`; where it may be one that others
   * use as well, `restart` restarts it for all.
   */
  readonly build: (
    definition: ConfiguredServer,
    workspace: () => Workspace,
    after: Promise<unknown> | undefined,
    restart: boolean,
  ) => CatalogEntry;
}

/**
 * Everything that belongs to one client: the catalog it sees, its servers, and the control over them. Nothing of it is
 * anybody else's, except for servers that are marked as shared.
 */
export interface Workspace {
  readonly gateway: Gateway;
  readonly manager: ServerManager;
  readonly identity: ServerIdentity;
  /** Makes the servers those of a configuration that was read again. */
  apply(config: LoadedConfig): Promise<AppliedChanges>;
  close(): Promise<void>;
}

export function openWorkspace(options: WorkspaceOptions): Workspace {
  const { program, log, volatile, config, onProblem, allowProject } = options;
  const asking =
    allowProject &&
    new AskForProject({ config, allow: allowProject, handle: (call) => workspace.gateway.handle(call) });
  /** A server of a project that is not allowed yet is there to ask for that. */
  const askingFirst = (server: ConfiguredServer, entry: CatalogEntry): CatalogEntry =>
    asking !== undefined && server.kind === 'unusable' && server.notAllowed === true
      ? { ...entry, exposure: asking.before(entry.exposure) }
      : entry;
  const build = (server: ConfiguredServer, after?: Promise<unknown>, restart = false): CatalogEntry =>
    askingFirst(
      server,
      options.build(server, () => workspace, after, restart),
    );
  const { settings } = config();
  const servers = inConfigOrder(config());
  const gateway: Gateway = new Gateway({
    entries: servers.map((server) => build(server)),
    log,
    firstListMs: () => config().settings.timeouts.firstListMs,
    allowsNewSources: settings.management.enabled,
    onProblem,
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
      askingFirst(definition, { ...presentationOf(definition, volatile), source }),
    definitions: servers,
  });
  const overallOf = (loaded: LoadedConfig): OverallExposure[] => {
    const { compounds, settings: now } = loaded;
    return [
      ...(now.management.enabled
        ? [createManagementTools({ ...options, manager, management: now.management })]
        : []),
      ...(hasNothingToShow(loaded) ? [setupTool(program, loaded, () => options.whereLooked(loaded))] : []),
      ...compounds.map((each) => compound({ ...each, summaryMaxChars: now.introspection.summaryMaxChars })),
    ];
  };
  gateway.swap(gateway.catalog.entries, { overall: overallOf(config()), quiet: true });
  const workspace: Workspace = {
    gateway,
    manager,
    identity: serverIdentity(program, gateway, config),
    apply: (next) => manager.apply(keptDefinitions(next, manager, log), overallOf(next)),
    close: () => gateway.close(),
  };
  return workspace;
}

/** The servers of a configuration. One that could be used before and cannot be as it is written now stays as it was. */
function keptDefinitions(
  next: LoadedConfig,
  manager: ServerManager,
  log: Logger,
): readonly ConfiguredServer[] {
  return inConfigOrder(next).map((server) => {
    if (server.kind !== 'unusable' || server.notAllowed === true) return server;
    const before = manager.find(server.name);
    if (before === undefined || before.kind === 'unusable') return server;
    log.warn('keeping the old definition: the new one is not valid', { server: server.name });
    return before;
  });
}

export interface ServerState {
  readonly name: string;
  readonly state: SourceState;
  /** Why it runs and shows nothing, where that is so. */
  readonly problem?: string | undefined;
}

/** Of several sources of one name, the state that comes first here is reported. */
const STATE_ORDER: readonly SourceState['kind'][] = [
  'running',
  'starting',
  'crashed',
  'unusable',
  'idle',
  'stopped',
];

/** How each server is doing, of several of one name the liveliest. */
export function statesOf(gateways: readonly Gateway[]): ServerState[] {
  const states = new Map<string, ServerState>();
  for (const gateway of gateways) {
    for (const { source } of gateway.catalog.entries) {
      const { name, state } = source;
      const known = states.get(name);
      if (known && STATE_ORDER.indexOf(known.state.kind) <= STATE_ORDER.indexOf(state.kind)) continue;
      states.set(name, { name, state, problem: gateway.problemOf(source)?.message });
    }
  }
  return [...states.values()];
}
