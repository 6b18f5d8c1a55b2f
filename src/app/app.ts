import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { Scripts } from '../code/index.ts';
import { inConfigOrder, type LoadedConfig, type NotAllowed, type ServerDefinition } from '../config/index.ts';
import { openStdioDoor, type HttpDoor, type StdioDoor } from '../doors/index.ts';
import { findTools, ServerLister, type FoundTools, type WantedTools } from '../exposure/index.ts';
import type { Gateway } from '../gateway/index.ts';
import type { AppliedChanges } from '../management/index.ts';
import { LazyResults } from '../results/index.ts';
import { lazyChildProcesses, type LazyChildProcesses } from '../process/index.ts';
import { LazyToolSearch } from '../search/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';
import { keepHeapSmall } from '../shared/v8-settings.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { Sequence, type Store } from '../store/index.ts';
import { Decisions, Pins } from '../trust/index.ts';
import { loadAuth, loadConnection } from '../upstream/index.ts';
import { directAccess, type DirectAccess } from './direct-access.ts';
import { exposedAs, type ExposedServers } from './exposed-as.ts';
import { HttpDoors } from './http-doors.ts';
import type { HttpOptions } from './http.ts';
import { redactedFields, warnAboutToolSettings } from './log-lines.ts';
import { Hooks } from './hooks.ts';
import { Auditor } from './auditor.ts';
import { reconfigure } from './reconfigure.ts';
import { LogTap } from './log-tap.ts';
import { Operations } from './operations.ts';
import { commandFor, createSources, type Sources } from './sources.ts';
import { pinnedBy, trustRecords, trustReview, type TrustReview } from './trust.ts';
import type { GatewayWatch, WatchLink } from './watch/watch.ts';
import { Watchers } from './watchers.ts';
import { hasExposure, statesOf, type ServerState } from './workspace.ts';
import { Workspaces } from './workspaces.ts';

export interface AppOptions {
  readonly config: LoadedConfig;
  readonly log: Logger;
  /** Called with each line that a server writes to stderr. */
  readonly stderr: (line: string) => void;
  /** The name under which the program introduces itself to clients. Default switchboard. */
  readonly program?: string;
  /**
   * Whether servers exist only while they run: their components disappear when they crash, and only a reload brings
   * them back. Default false.
   */
  readonly volatile?: boolean;
  /** The configuration file as the user named it; undefined if it is the one found by default. */
  readonly configPath?: string | undefined;
  /** What to do about a server that does not start, as a sentence. Default: advice that fits the program. */
  readonly startHint?: string | undefined;
  /** The places where servers were searched for, one line each. Default: not reported. */
  readonly whereLooked?: (config: LoadedConfig) => string[];
  /** Remembers that a project is allowed, and reloads the configuration. Default: clients are not asked. */
  readonly allowProject?: (project: NotAllowed) => Promise<void>;
  /** Called when the state of a server has changed. */
  readonly onStateChange?: () => void;
  /** Lets a console listen to the log. Default: the log cannot be watched. */
  readonly logTap?: LogTap;
  /** The environment that servers inherit from. Default: the program's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long a caller waits for a server to start before it gets an error, in milliseconds. Default: no limit. */
  readonly callerMs?: number;
  /** Variables that are meant for this program and would mislead a server. Default none. */
  readonly ownVariables?: readonly string[];
  /** The store that this gateway shares with other replicas. Default: it is the only one. */
  readonly store?: Store | undefined;
}

/** The gateway with all its parts wired together. No other code knows every part. */
export interface App extends DirectAccess {
  /** Serves the one client over stdin and stdout, and the commands. */
  readonly gateway: Gateway;
  /** The instructions that a client gets on initialize, including those of servers that ran earlier. */
  instructions(): string;
  /**
   * The current state of each server, in the order of the configuration; if several have the same name, the most active
   * one.
   */
  states(): readonly ServerState[];
  /** Runs work, such as reloading the configuration, while no client changes the configuration. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Applies a reloaded configuration; servers that did not change keep running. */
  reconfigure(config: LoadedConfig): Promise<AppliedChanges>;
  /** The remembered tools, and what users decided about them. */
  readonly trust: TrustReview;
  /** Reports to a console what happens from now on, and carries out its actions. `reload` reloads the configuration. */
  watch(link: WatchLink, reload: () => Promise<void>): Promise<void>;
  /**
   * The tools of all servers that match a search, whatever their exposure; undefined if no server has the wanted name.
   */
  findTools(wanted: WantedTools): Promise<FoundTools | undefined>;
  /** What a client would get if all these servers were exposed in one way, as far as their tools are known. */
  exposedAs(
    exposure: 'flat' | 'suite' | 'search' | 'code',
    servers: readonly ServerDefinition[],
  ): ExposedServers;
  /** Logins to remote servers. */
  auth(): ReturnType<typeof loadAuth>;
  /** Starts the metrics and traces that the configuration asks for. Must be called before a door is opened. */
  observe(): Promise<void>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Lets clients connect: each session, and each token of clients without sessions, has its own servers. */
  openHttp(options: HttpOptions): Promise<HttpDoor>;
  /**
   * Ends every server. `already` is how much of the exit's time is used up, in milliseconds; servers get only the rest.
   */
  close(already?: number): Promise<void>;
  /** Kills all processes synchronously, for exits that cannot wait. */
  killNow(): void;
}

export function createApp(options: AppOptions): App {
  keepHeapSmall();
  const { log, program = 'switchboard', env = process.env, logTap = new LogTap() } = options;
  const onStateChange = (): void => {
    options.onStateChange?.();
    watch?.changed();
  };
  const { whereLooked = () => [], volatile = false, callerMs = Infinity, ownVariables = [] } = options;
  const children = lazyChildProcesses({ log, records: join(stateDirectory(env), 'children') });
  const results = new LazyResults({ directory: join(stateDirectory(env), 'results'), log });
  const finder = new LazyToolSearch({ stateDirectory: stateDirectory(env), log });
  const scripts = new Scripts();
  const current = { config: options.config };
  // Taken once: a description that changed would cost its clients their prompt caches.
  const named = inConfigOrder(options.config).flatMap(({ name, exposure }) =>
    exposure === 'search' || exposure === 'code' ? [name] : [],
  );
  const watched = new Watchers();
  let watch: GatewayWatch | undefined;
  const same = { program, log, volatile, callerMs, onStateChange, watched };
  const warnOfSettings = warnAboutToolSettings((name) => workspaces.main.manager.find(name), log);
  const auditor = new Auditor({
    settings: () => current.config.settings.audit,
    stateDirectory: stateDirectory(env),
    hiddenArguments: (server) => redactedFields(workspaces.main.manager, server),
    log,
    sequence: options.store && new Sequence(options.store, 'audit'),
  });
  const hooks = new Hooks({ config: () => current.config, print: options.stderr, log });
  const called: Auditor['called'] = (call, tool, server) => auditor.called(call, tool, server);
  const records = trustRecords(options.config, env, options.store);
  const decisions = new Decisions(records);
  const pinned = pinnedBy(options.config, env);
  const pins = new Pins(records, {
    log,
    command: commandFor(program, options.configPath),
    recorded: () => {
      trust.recount();
      watch?.changed();
    },
  });
  const trust = trustReview({ decisions, pins, pinned });
  pins.follow();
  const sources: Sources = createSources({
    ...same,
    stderr: options.stderr,
    onStateChange: (...change) => {
      onStateChange();
      operations.serverChanged(...change);
    },
    children,
    env,
    ownVariables,
    config: () => current.config,
    configPath: options.configPath,
    startHint: options.startHint,
    listed: (name, kind, listing) => {
      warnOfSettings(name, kind, listing);
      watch?.changed();
      if (kind === 'tools') for (const { gateway } of workspaces.all) gateway.toolsListed(name);
    },
    decisions,
    pins,
    pinned,
    store: options.store,
    mostProcesses: () => http.mostProcesses,
    audit: () => (auditor.records ? called : undefined),
    hooks: () => hooks.current(),
  });
  const { allowProject } = options;
  const workspaces = new Workspaces({
    ...same,
    env,
    results,
    finder,
    scripts,
    named,
    sources,
    store: options.store,
    current,
    whereLooked,
    allowProject,
    called,
  });
  const http = new HttpDoors({ program, log, env, sources, workspaces, store: options.store });
  const operations = new Operations({
    watchers: watched,
    sessions: () => [...workspaces.all].reduce((sum, each) => sum + each.gateway.sessions.size, 0),
    processes: () => children.size,
    env,
    log,
  });
  const { gateway, identity } = workspaces.main;
  const wantedParts = (): ({ load(): Promise<unknown> } | undefined)[] => [
    limitsResults(gateway) ? results : undefined,
    hasExposure(current.config, 'search', 'code') ? finder : undefined,
    hasExposure(current.config, 'code') ? scripts : undefined,
  ];
  return {
    gateway,
    ...directAccess(gateway),
    instructions: () => identity.instructions(),
    states: () => statesOf([...workspaces.all]),
    alone: (work) => workspaces.alone(work),
    async reconfigure(next) {
      const changes = await reconfigure(workspaces, next, log);
      watch?.changed();
      return changes;
    },
    async watch(link, reload) {
      const { GatewayWatch } = await import('./watch/watch.ts');
      watch ??= new GatewayWatch({
        ...{ program, env, log, volatile, workspaces, results, watched, logTap, reload, trust },
        url: () => http.url,
      });
      watch.add(link);
    },
    findTools: (wanted) =>
      findTools(
        gateway.catalog.entries.filter(({ offers }) => offers.has('tools')),
        wanted,
        {
          finder,
          lister: new ServerLister(() => current.config.settings.timeouts.firstListMs),
        },
      ),
    exposedAs: (exposure, servers) => exposedAs(exposure, { gateway, servers, results }),
    trust,
    auth: loadAuth,
    observe: () => operations.open(current.config.settings),
    openStdio(input, output) {
      setTimeout(() => preload(children, wantedParts(), log), PRELOAD_MS).unref();
      const { messageBytes } = current.config.settings.limits;
      return openStdioDoor({ gateway, identity, input, output, log, messageBytes });
    },
    openHttp(door) {
      preload(children, wantedParts(), log);
      return http.open(door);
    },
    close(already = 0) {
      sources.save();
      finder.save();
      http.close();
      pins.close();
      // Saves what was learnt about tools, unless that takes too long: another program may hold the file.
      const noted = withTimeout(pins.settle(), NOTE_MS, () => undefined);
      return Promise.all([closeAll(workspaces, children, already), noted])
        .then(() => auditor.close())
        .then(() => hooks.close())
        .then(() => operations.close())
        .finally(() => results.end());
    },
    killNow: () => {
      results.end();
      children.killAllNow();
    },
  };
}

/**
 * How long after the start the code for servers is loaded, in milliseconds. A host gets its first answers before that.
 */
const PRELOAD_MS = 100;

/** How long an exit waits for what servers said about their tools to be saved, in milliseconds. */
const NOTE_MS = 1000;

/** Loads the code that servers need: an update of the program may remove the files before the first server is used. */
function preload(
  children: LazyChildProcesses,
  parts: readonly ({ load(): Promise<unknown> } | undefined)[],
  log: Logger,
): void {
  Promise.all([loadConnection(), children.load(), ...parts.map((part) => part?.load())]).catch(
    (error: unknown) => log.error('could not load what servers need', { reason: messageOf(error) }),
  );
}

/** Whether some results may be too long. */
function limitsResults({ catalog }: Gateway): boolean {
  return catalog.entries.some(({ rules }) => rules.resultLimits !== undefined);
}

async function closeAll(
  workspaces: Workspaces,
  children: LazyChildProcesses,
  already: number,
): Promise<void> {
  const closed = workspaces.close();
  await children.stopAll({
    closeStdin: 0,
    term: Math.max(2000 - already, 0),
    kill: Math.max(5000 - already, 500),
  });
  await closed;
}
