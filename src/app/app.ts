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
  /** Takes each line a server writes to stderr. */
  readonly stderr: (line: string) => void;
  /** What the program calls itself towards clients. Default switchboard. */
  readonly program?: string;
  /**
   * Whether servers are there only while they run: what they offer goes when they crash, and only a reload brings them
   * back. Default false.
   */
  readonly volatile?: boolean;
  /** The configuration as the user named it, where that is not where it would be found. */
  readonly configPath?: string | undefined;
  /** What to do about a server that does not start, as a sentence. Default: what fits the program. */
  readonly startHint?: string | undefined;
  /** Where servers were searched for, one line each. Default: not reported. */
  readonly whereLooked?: (config: LoadedConfig) => string[];
  /** Remembers that a project is allowed, and reads the configuration again. Default: clients are not asked. */
  readonly allowProject?: (project: NotAllowed) => Promise<void>;
  /** Called when the state of a server has changed. */
  readonly onStateChange?: () => void;
  /** Where somebody who watches listens to the log. Default: the log is not watched. */
  readonly logTap?: LogTap;
  /** What servers inherit from. Default the program's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long a caller waits for a server to start before it gets an error, in milliseconds. Default: without limit. */
  readonly callerMs?: number;
  /** Variables that are meant for this program and would mislead a server. Default none. */
  readonly ownVariables?: readonly string[];
  /** What this gateway shares with others that act as one with it. Default: it is the only one. */
  readonly store?: Store | undefined;
}

/** The gateway with everything it needs, wired together. The only place that knows every part. */
export interface App extends DirectAccess {
  /** What the one client over stdin and stdout gets, and the commands. */
  readonly gateway: Gateway;
  /** The instructions that a client gets on initialize, including those of servers that ran before. */
  instructions(): string;
  /** How each server is doing now, in the order of the configuration; of several of one name, the liveliest. */
  states(): readonly ServerState[];
  /** Runs work, such as reading the configuration again, while no client changes the configuration. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Makes the servers those of a configuration that was read again; what did not change goes on running. */
  reconfigure(config: LoadedConfig): Promise<AppliedChanges>;
  /** What is remembered of tools, and what users decided about them. */
  readonly trust: TrustReview;
  /** Tells a console what happens from now on, and does what it asks for. `reload` reads the configuration again. */
  watch(link: WatchLink, reload: () => Promise<void>): Promise<void>;
  /** The tools of all servers that fit some words, whatever their exposure; undefined where no server has the wanted name. */
  findTools(wanted: WantedTools): Promise<FoundTools | undefined>;
  /** What a client would get if these servers were all exposed in one way, as far as they are listed by now. */
  exposedAs(
    exposure: 'flat' | 'suite' | 'search' | 'code',
    servers: readonly ServerDefinition[],
  ): ExposedServers;
  /** Logins to remote servers. */
  auth(): ReturnType<typeof loadAuth>;
  /** Begins to serve metrics and to trace calls, where the configuration says so. To be called before a door is opened. */
  observe(): Promise<void>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Lets clients connect: each session has servers of its own, and so has each token of clients without sessions. */
  openHttp(options: HttpOptions): Promise<HttpDoor>;
  /** Ends every server; `already` is how many milliseconds the exit has taken so far, which the servers get less. */
  close(already?: number): Promise<void>;
  /** Kills every process synchronously, for exits that cannot wait. */
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
  // As they are now: a description that changed would cost its clients their prompt caches.
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
      // What was seen of tools is noted, unless that takes long: another program may hold the file.
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

/** How long after the start what servers need is loaded, in milliseconds. A host gets its first answers meanwhile. */
const PRELOAD_MS = 100;

/** How long an exit waits until it is noted what servers said of their tools, in milliseconds. */
const NOTE_MS = 1000;

/** Loads what servers need: an update of the program may take the files away before the first server is used. */
function preload(
  children: LazyChildProcesses,
  parts: readonly ({ load(): Promise<unknown> } | undefined)[],
  log: Logger,
): void {
  Promise.all([loadConnection(), children.load(), ...parts.map((part) => part?.load())]).catch(
    (error: unknown) => log.error('could not load what servers need', { reason: messageOf(error) }),
  );
}

/** Whether some result may be too long. */
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
