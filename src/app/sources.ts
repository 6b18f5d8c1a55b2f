import { availableParallelism } from 'node:os';
import {
  isRuntimeServer,
  type ConfiguredServer,
  type LoadedConfig,
  type ServerDefinition,
  type UnusableServer,
} from '../config/index.ts';
import {
  perCallSource,
  StartLimiter,
  type ClientLink,
  type Gateway,
  type Source,
  type SourceState,
} from '../gateway/index.ts';
import type { CallHooks } from '../hooks/index.ts';
import type { LazyChildProcesses } from '../process/index.ts';
import { Client, type Era, type JsonObject } from '../protocol/index.ts';
import { editedString } from '../wire/index.ts';
import { Deadlines } from '../shared/deadline.ts';
import { SystemKeychain } from '../secrets/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { loadCrypto } from '../shared/load-crypto.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';
import { shellWord } from '../shared/shell-word.ts';
import { VERSION } from '../shared/version.ts';
import type { FileApproval } from '../switchyard/features/mcp/index.ts';
import type { Decisions, Pins } from '../trust/index.ts';
import type { Store } from '../store/index.ts';
import { createServerCache, ServerSource, type UpstreamContext } from '../upstream/index.ts';
import { builtinSource, upstreamServer, withLanguageModel } from './entry.ts';
import type { Auditor } from './auditor.ts';
import { interceptCalls } from './intercept-calls.ts';
import { ServerProcesses } from './server-processes.ts';
import { listsDirectory, listsKey, shareLists } from './shared-lists.ts';
import { serverSecrets } from './server-secrets.ts';
import { withTrust, type TrustContext } from './trust.ts';

export interface SourcesOptions {
  readonly program: string;
  readonly log: Logger;
  readonly stderr: (line: string) => void;
  readonly children: LazyChildProcesses;
  readonly env: NodeJS.ProcessEnv;
  /** Variables that servers do not inherit. */
  readonly ownVariables: readonly string[];
  readonly config: () => LoadedConfig;
  readonly configPath: string | undefined;
  readonly startHint: string | undefined;
  readonly volatile: boolean;
  /** How long a caller waits for a server to start, in milliseconds. */
  readonly callerMs: number;
  readonly onStateChange: UpstreamContext['stateChanged'];
  readonly listed: UpstreamContext['listed'];
  /** Handles every tool call before its server does; undefined: there are no hooks. */
  readonly hooks: () => CallHooks['handle'] | undefined;
  /** Records every tool call; undefined: nothing does. */
  readonly audit: () => Auditor['called'] | undefined;
  /** What users decided about tools, and the descriptions of tools when they were first used. */
  readonly decisions: Decisions;
  readonly pins: Pins;
  readonly pinned: TrustContext['pinned'];
  /** The store that this gateway shares with other replicas. Default: this is the only one. */
  readonly store: Store | undefined;
  /** How many processes may run at the same time. */
  readonly mostProcesses: () => number;
}

/** Creates the sources of configured servers. */
export interface Sources {
  /** Identifies this run in the gateway path, to detect loops. */
  readonly self: string;
  make(server: ConfiguredServer, use: SourceUse): Source;
  /** What is remembered about a server from earlier runs. */
  cacheOf(server: ServerDefinition): UpstreamContext['cache'];
  /** Saves what was learnt about servers. */
  save(): void;
}

/** How a source is used. */
export interface SourceUse {
  readonly clients: SourceClients;
  /** Whether several clients use it at the same time. Default false. */
  readonly shared?: boolean;
  /** It does not start before this has settled. */
  readonly after: Promise<unknown> | undefined;
  /** The gateways between its client and this one. Default none. */
  readonly gatewayPath?: readonly string[];
}

/** The clients that use a source, as its server sees them. */
export interface SourceClients extends Pick<UpstreamContext, 'era' | 'other'> {
  /** The merged capabilities of all its clients. A request that its own client cannot handle is refused later. */
  readonly capabilities: () => JsonObject;
}

export function createSources(options: SourcesOptions): Sources {
  const { program, log, children, env, volatile, mostProcesses } = options;
  let self: string | undefined;
  const ownName = (): string => (self ??= loadCrypto().randomBytes(9).toString('base64url'));
  const own = new Set(options.ownVariables);
  const inheritable = Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
  const directory = stateDirectory(env);
  const keychain = new SystemKeychain(env);
  const { store } = options;
  const memory = createServerCache(
    listsDirectory(env),
    log,
    store && ((key, record) => shareLists(store, key, record, log)),
  );
  const deadlines = new Deadlines();
  // With about one CPU each, all servers are up sooner than if they started together.
  const startLimiter = new StartLimiter({ concurrency: Math.max(2, availableParallelism()) });
  const cacheOf = (server: ServerDefinition): UpstreamContext['cache'] =>
    memory.of({
      key: () => listsKey(server),
      secrets: () => serverSecrets(server, inheritable),
    });
  const processes = new ServerProcesses();
  /** Read from the current configuration at each start. */
  const mostOf = ({ name, maxProcesses }: ServerDefinition): number | undefined =>
    (options.config().servers.find((each) => each.name === name) ?? { maxProcesses }).maxProcesses;
  const { decisions, pins, pinned } = options;
  const trust: TrustContext = {
    decisions,
    pins,
    pinned,
    log,
    command: commandFor(program, options.configPath),
  };
  const startHint = options.startHint ?? startHintOf(program);
  // Created once: a host waits while the contexts of all its servers are created.
  const common: Omit<UpstreamContext, 'startHint' | 'identity' | 'era' | 'other' | 'cache' | 'listed'> = {
    children: () => children.load(),
    log,
    stderr: options.stderr,
    mayNotStart: () => (children.size < mostProcesses() ? undefined : tooManyProcesses(mostProcesses())),
    inTurn: (start) => startLimiter.run(start),
    callerMs: options.callerMs,
    stateChanged: options.onStateChange,
  };
  const watched = (source: Source): Source =>
    interceptCalls(source, () => {
      const audit = options.audit();
      const hooks = options.hooks();
      if (audit === undefined && hooks === undefined) return undefined;
      return (edits, call, pass) => {
        if (call.method === 'tools/call')
          audit?.(call, () => editedString(call.request, Client.name, edits) ?? '', source.name);
        if (hooks === undefined) pass(edits, call);
        else hooks(edits, call, source, pass);
      };
    });
  /** Read from the current configuration at each use. */
  const approval: FileApproval = {
    allows: (file) => options.config().openApproval().allows(file),
    command: () => allowCommandFor(program, options.configPath, options.config()),
  };
  const contextOf = (server: ServerDefinition, clients: SourceClients): UpstreamContext => ({
    ...common,
    mayNotStart: () => common.mayNotStart() ?? processes.refusal(server.name, mostOf(server)),
    startHint: definedIn(server) + startHint,
    identity: () => ({
      clientInfo: { name: program, version: VERSION },
      capabilities: clients.capabilities(),
    }),
    era: clients.era,
    other: clients.other,
    cache: cacheOf(server),
    listed: (name, kind, listing) => {
      options.listed(name, kind, listing);
      if (kind === 'tools' && server.pin !== 'off')
        pins.listed({ ...pinned(server), secrets: () => serverSecrets(server, inheritable) }, listing);
    },
  });
  return {
    get self() {
      return ownName();
    },
    cacheOf,
    save: () => memory.save(),
    make(server, { clients, shared = false, after, gatewayPath = [] }) {
      if (server.kind === 'unusable') return unusableSource(server);
      if (server.kind === 'builtin')
        return watched(withTrust(builtinSource(server, { env: inheritable, log, approval }), server, trust));
      const upstream = upstreamServer(server, {
        gatewayPath: () => [...gatewayPath, ownName()],
        loginCommand: (name) => loginCommandFor(program, options.configPath, name),
        limits: options.config().settings.limits,
        env: inheritable,
        stateDirectory: directory,
        keychain,
        log,
        shared,
        volatile,
        after,
      });
      const connect = (): Source =>
        processes.add(new ServerSource(upstream, contextOf(server, clients), deadlines));
      const failedToStop = (error: unknown): void =>
        log.error('could not stop', { server: server.name, reason: messageOf(error) });
      const source = server.isolation === 'call' ? perCallSource({ make: connect, failedToStop }) : connect();
      // Hooks come first: the user is asked about the arguments that are actually sent.
      const guarded = withTrust(source, server, trust);
      // The client's call of the model and the model's calls of its tools are both watched.
      const whole = withLanguageModel(watched(guarded), server, { env, log });
      return whole === guarded ? guarded : watched(whole);
    },
  };
}

export function clientsOf(gateways: () => readonly Gateway[]): SourceClients {
  const clients = (): ClientLink[] =>
    gateways().flatMap(({ sessions }) => [...sessions].map(({ client }) => client));
  return {
    capabilities: () => Object.assign({}, ...clients().map(({ capabilities }) => capabilities)) as JsonObject,
    era: () => {
      const eras = new Set(clients().map(({ modern }): Era => (modern === true ? 'modern' : 'legacy')));
      return eras.size === 1 ? [...eras][0] : undefined;
    },
    other: () => undefined,
  };
}

/** Names the file, so that users need not search several. */
function definedIn(server: ServerDefinition): string {
  return isRuntimeServer(server) ? '' : `It is defined in ${server.origin.file}. `;
}

function startHintOf(program: string): string {
  return program === 'mcpmux'
    ? 'Run its command in a terminal to see its output.'
    : `${program} doctor --start starts it and shows its output.`;
}

function loginCommandFor(program: string, configPath: string | undefined, server: string): string {
  return `${commandFor(program, configPath)} auth ${quotedWord(server)}`;
}

/** The first words of a command for this configuration. */
export function commandFor(program: string, configPath: string | undefined): string {
  return configPath === undefined ? program : `${program} --config ${quotedWord(configPath)}`;
}

function quotedWord(text: string): string {
  return /^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text);
}

function allowCommandFor(
  program: string,
  configPath: string | undefined,
  { file, directory }: LoadedConfig,
): string {
  const config = configPath === undefined || file === undefined ? [] : ['--config', shellWord(file)];
  return [program, ...config, 'allow', shellWord(directory)].join(' ');
}

function tooManyProcesses(most: number): SwitchboardError {
  return new SwitchboardError(
    'TOO_MANY_PROCESSES',
    `Cannot start another server: ${most} are already running.`,
    {
      hint: 'Close unused sessions, set "isolation": "shared" for servers, or raise http.maxProcesses.',
    },
  );
}

/** A source for a server whose definition is unusable: it starts nothing, and every call fails with the reason. */
function unusableSource({ name, reason, nextStep }: UnusableServer): Source {
  const problem = new SwitchboardError('SERVER_UNUSABLE', `Server '${name}' is not available: ${reason}.`, {
    hint: nextStep,
  });
  const state: SourceState = { kind: 'unusable', error: problem };
  const refuse = (): Promise<never> => Promise.reject(problem);
  return {
    name,
    state,
    problem,
    about: () => undefined,
    list: refuse,
    known: () => undefined,
    remembered: () => undefined,
    request: (_edits, call) => call.fail(problem),
    start: refuse,
    ask: refuse,
    notify: () => undefined,
    listen: () => undefined,
    setIdleTimeout: () => undefined,
    fail: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
