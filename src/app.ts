import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { builtinSource, catalogEntry, withLanguageModel, upstreamServer } from './app/entry.ts';
import { warnAboutToolSettings } from './app/log-lines.ts';
import { PATH_HEADER } from './app/loop-guard.ts';
import { serverSecrets } from './app/server-secrets.ts';
import { SharedServers } from './app/shared-servers.ts';
import { unusableSource } from './app/unusable-source.ts';
import { openWorkspace, type Workspace } from './app/workspace.ts';
import {
  isRuntimeServer,
  connectionSettings,
  type ConfiguredServer,
  type LoadedConfig,
  type NotAllowed,
  type ServerDefinition,
} from './config/index.ts';
import {
  connectClient,
  openHttp,
  openModernEndpoint,
  openStdioDoor,
  type HttpDoor,
  type ModernEndpoint,
  type ClientWorkspace,
  type StdioDoor,
} from './doors/index.ts';
import {
  LocalClient,
  StartLimiter,
  type ClientLink,
  type Gateway,
  type Listing,
  type LocalCallOptions,
  type Source,
  type SourceState,
} from './gateway/index.ts';
import type { LanguageSource } from './language/index.ts';
import type { AppliedChanges } from './management/index.ts';
import { createChildProcesses, type ChildProcesses } from './process/index.ts';
import type { Era, JsonObject } from './protocol/index.ts';
import { Deadlines } from './shared/deadline.ts';
import { messageOf, SwitchboardError } from './shared/errors.ts';
import type { Logger } from './shared/log.ts';
import { didYouMean } from './shared/nearest.ts';
import { createSerial } from './shared/serial.ts';
import { stateDirectory } from './shared/paths.ts';
import { VERSION } from './shared/version.ts';
import type { MessageTransport } from './wire/index.ts';
import {
  createServerCache,
  createServerSource,
  headersIn,
  serverCacheKey,
  type UpstreamContext,
} from './upstream/index.ts';

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
  /** What servers inherit from. Default the program's own environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** How long a caller waits for a server to start before it gets an error, in milliseconds. Default: without limit. */
  readonly callerMs?: number;
  /** Variables that are meant for this program and would mislead a server. Default none. */
  readonly ownVariables?: readonly string[];
}

export interface ServerState {
  readonly name: string;
  readonly state: SourceState;
  /** Why it runs and shows nothing, where that is so. */
  readonly problem?: string | undefined;
}

export interface HttpOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly token: string;
  /** Called when the last client has left. */
  readonly emptied?: () => void;
}

/** The gateway with everything it needs, wired together. The only place that knows every part. */
export interface App {
  /** What the one client over stdin and stdout gets, and the commands. */
  readonly gateway: Gateway;
  /** The source of a configured server; throws SERVER_UNKNOWN, with the nearest names. */
  source(server: string): Source;
  /** The server behind a language model; undefined where there is no model. */
  behind(server: string): Source | undefined;
  /** Everything a server offers, whatever the configuration shows of it. Starts it. */
  listTools(server: string): Promise<Listing>;
  /** Runs a tool of a server and resolves with its result; rejects with a ServerError where the server refuses. */
  callTool(server: string, tool: string, args: JsonObject, options?: LocalCallOptions): Promise<JsonObject>;
  /** The instructions that a client gets on initialize, including those of servers that ran before. */
  instructions(): string;
  /** How each server is doing now, in the order of the configuration; of several of one name, the liveliest. */
  states(): readonly ServerState[];
  /** Runs work, such as reading the configuration again, while no client changes the configuration. */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** Makes the servers those of a configuration that was read again; what did not change goes on running. */
  reconfigure(config: LoadedConfig): Promise<AppliedChanges>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Lets clients connect, each with servers of its own. */
  openHttp(options: HttpOptions): Promise<HttpDoor>;
  /** Ends every server; `already` is how many milliseconds the exit has taken so far, which the servers get less. */
  close(already?: number): Promise<void>;
  /** Kills every process synchronously, for exits that cannot wait. */
  killNow(): void;
}

export function createApp(options: AppOptions): App {
  const { log, stderr, program = 'switchboard', volatile = false, env = process.env } = options;
  const { callerMs = Infinity } = options;
  const { onStateChange = () => undefined } = options;
  const own = new Set(options.ownVariables);
  const inheritable = Object.fromEntries(Object.entries(env).filter(([name]) => !own.has(name)));
  const children: ChildProcesses = createChildProcesses({ log });
  /** The name of this run in the gateway path, by which loops are found. */
  const self = randomBytes(9).toString('base64url');
  const directory = stateDirectory(env);
  const memory = createServerCache(join(directory, 'servers'), log);
  const deadlines = new Deadlines();
  // With about one CPU for each, all of them are up sooner than if they started together.
  const startLimiter = new StartLimiter({ concurrency: Math.max(2, availableParallelism()) });
  let current = options.config;
  /** Processes that may run at one time; one client alone is not bounded. */
  let mostProcesses = Infinity;
  const alone = createSerial();
  const workspaces = new Set<Workspace>();
  const endpoints = new Set<ModernEndpoint>();

  const cacheOf = (server: ServerDefinition): UpstreamContext['cache'] =>
    memory.of({
      key: () => serverCacheKey(server.kind, connectionSettings(server)),
      secrets: () => serverSecrets(server, inheritable),
    });
  const surroundingsFor = (server: ServerDefinition, clients: SourceClients): UpstreamContext => ({
    children,
    log,
    stderr,
    startHint: `${definedIn(server)}${
      options.startHint ??
      (program === 'mcpmux'
        ? 'Run its command in a terminal to see its output.'
        : `${program} doctor --start starts it and shows its output.`)
    }`,
    identity: () => ({
      clientInfo: { name: program, version: VERSION },
      capabilities: clients.capabilities(),
    }),
    era: clients.era,
    other: clients.other,
    mayNotStart: () => (children.size < mostProcesses ? undefined : tooManyProcesses(mostProcesses)),
    inTurn: (start) => startLimiter.run(start),
    callerMs,
    cache: cacheOf(server),
    stateChanged: onStateChange,
    listed: (name, kind, listing) => listed(name, kind, listing),
  });
  const createSource = (
    server: ConfiguredServer,
    after: Promise<unknown> | undefined,
    shared: boolean,
    clients: SourceClients,
    gatewayPath: readonly string[],
  ): Source => {
    if (server.kind === 'unusable') return unusableSource(server);
    if (server.kind === 'builtin') return builtinSource(server, { env: inheritable, log });
    const { limits } = current.settings;
    const loginCommand = (name: string): string => loginCommandFor(program, options.configPath, name);
    const context = {
      gatewayPath: [...gatewayPath, self],
      loginCommand,
      limits,
      env: inheritable,
      stateDirectory: directory,
      log,
      shared,
      volatile,
      after,
    };
    const source = createServerSource(
      upstreamServer(server, context),
      surroundingsFor(server, clients),
      deadlines,
    );
    return withLanguageModel(source, server, { env, log });
  };
  const everyone = clientsOf(() => [...workspaces].map(({ gateway }) => gateway));
  const sharedServers = new SharedServers({
    make: (server, role, after) => createSource(server, after, true, { ...everyone, ...role }, []),
    // A part of this program takes calls of either era.
    support: (server) => (server.kind === 'builtin' ? { modern: false } : cacheOf(server).support),
    log,
  });

  /** `clients`: what the clients of an HTTP door speak that this is for. Default: it is for the one over stdio. */
  const open = (clients?: Era, gatewayPath: readonly string[] = []): Workspace => {
    const workspace = openWorkspace({
      program,
      log,
      volatile,
      callerMs,
      config: () => current,
      whereLooked: options.whereLooked ?? (() => []),
      allowProject: options.allowProject,
      onProblem: onStateChange,
      alone,
      persisted: (name, definition) => {
        const others = current.servers.filter((server) => server.name !== name);
        const usable = definition !== undefined && definition.kind !== 'unusable';
        current = { ...current, servers: usable ? [...others, definition] : others };
      },
      build: (server, of, after, restart) => {
        const source =
          // What one client has added is its own, whatever another one calls by the same name.
          clients !== undefined &&
          server.kind !== 'unusable' &&
          server.isolation === 'shared' &&
          !isRuntimeServer(server)
            ? sharedServers.join(server, restart, clients)
            : createSource(
                server,
                after,
                false,
                clientsOf(() => [of().gateway]),
                gatewayPath,
              );
        return catalogEntry(source, server, volatile);
      },
    });
    workspaces.add(workspace);
    return workspace;
  };
  const main = open();
  const listed = warnAboutToolSettings((name) => main.manager.find(name), log);
  const local = new LocalClient();
  const source = (name: string): Source => {
    const sources = main.gateway.catalog.entries.map((entry) => entry.source);
    const found = sources.find((each) => each.name === name);
    if (found) return found;
    const names = sources.map((each) => each.name);
    const hint =
      didYouMean(name, names) ??
      (names.length === 0 ? 'No server is configured.' : `Available: ${names.join(', ')}.`);
    throw new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
  };

  /** Connects one client of an HTTP door to a workspace of its own. */
  const openForClient = (transport: MessageTransport, gatewayPath: readonly string[]): ClientWorkspace => {
    const workspace = open('legacy', gatewayPath);
    const client = connectClient(transport, {
      gateway: workspace.gateway,
      identity: workspace.identity,
      log,
    });
    return {
      client,
      close: async () => {
        workspaces.delete(workspace);
        client.leave();
        await workspace.close();
        onStateChange();
      },
    };
  };

  return {
    gateway: main.gateway,
    source,
    behind: (server) => (source(server) as Partial<LanguageSource>).inner,
    listTools: async (server) => source(server).list('tools'),
    callTool: async (server, tool, args, callOptions) =>
      local.request(source(server), 'tools/call', { name: tool, arguments: args }, callOptions),
    instructions: () => main.identity.instructions(),
    states: () => statesOf([...workspaces]),
    alone,
    async reconfigure(next) {
      const before = current;
      current = next;
      const applied = await main.apply(next).catch((error: unknown) => {
        current = before;
        throw error;
      });
      // A client that is just leaving must not keep the others from what is new.
      const others = [...workspaces].filter((each) => each !== main);
      for (const result of await Promise.allSettled(others.map((each) => each.apply(next))))
        if (result.status === 'rejected')
          log.warn('a client keeps the old configuration', { reason: messageOf(result.reason) });
      // One that cannot be used as it is written now goes on as it was.
      const shared = next.servers.filter((server) => server.isolation === 'shared');
      await sharedServers.keepOnly(new Set([...shared, ...next.unusable].map((server) => server.name)));
      return applied;
    },
    openStdio: (input, output) =>
      openStdioDoor({
        gateway: main.gateway,
        identity: main.identity,
        input,
        output,
        log,
        messageBytes: current.settings.limits.messageBytes,
      }),
    openHttp: async ({ host, port, token, emptied }) => {
      // Clients without sessions are one to us: the token is all we know of them.
      const workspace = open('modern');
      const endpoint = await openModernEndpoint({
        gateway: workspace.gateway,
        identity: workspace.identity,
        log,
      });
      endpoints.add(endpoint);
      const { allowedHosts, allowedOrigins, maxSessions, maxProcesses, sessionIdleMs } =
        current.settings.http;
      mostProcesses = maxProcesses;
      return openHttp({
        host,
        port,
        // The address that was typed is one that clients may use.
        guard: { token, allowedHosts: [...allowedHosts, ...hostNames(host)], allowedOrigins },
        limits: {
          bodyBytes: Math.min(MAX_BODY_BYTES, current.settings.limits.messageBytes),
          sessions: maxSessions,
          sessionIdleMs,
        },
        log,
        loopGuard: { header: PATH_HEADER, self },
        open: openForClient,
        modern: endpoint,
        paramHeaders: (tool) => paramHeadersOf(workspace.gateway, tool),
        health: () => ({ name: program, version: VERSION, servers: current.servers.length }),
        ...(emptied === undefined ? {} : { emptied }),
      });
    },
    async close(already = 0) {
      const stages = {
        closeStdin: 0,
        term: Math.max(2000 - already, 0),
        kill: Math.max(5000 - already, 500),
      };
      memory.save();
      for (const endpoint of endpoints) endpoint.close();
      const closed = Promise.all([
        ...[...workspaces].map((workspace) => workspace.close()),
        sharedServers.close(),
      ]);
      await children.stopAll(stages);
      await closed;
    },
    killNow: () => children.killAllNow(),
  };
}

/** Hosts give a call up after a minute; a caller is answered before that. In milliseconds. */
export const HOST_TIMEOUT_MS = 50_000;
/** The largest body of an HTTP request, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The host names clients use for a listening address. A wildcard address has none. */
function hostNames(host: string): string[] {
  if (host === '0.0.0.0' || host === '::') return [];
  return [host.includes(':') ? `[${host}]` : host];
}

/** The clients that use a source, as its server sees them. */
interface SourceClients extends Pick<UpstreamContext, 'era' | 'other'> {
  /** What one of them can do, merged: what the client cannot that a request is for is refused then. */
  readonly capabilities: () => JsonObject;
}

function clientsOf(gateways: () => readonly Gateway[]): SourceClients {
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

function loginCommandFor(program: string, configPath: string | undefined, server: string): string {
  const quoted = (text: string): string => (/^[\w./:@-]+$/.test(text) ? text : JSON.stringify(text));
  return [
    program,
    ...(configPath === undefined ? [] : ['--config', quoted(configPath)]),
    'auth',
    quoted(server),
  ].join(' ');
}

type ParamHeaders = Exclude<ReturnType<typeof headersIn>, string>;

/** The arguments of a tool that its server wants to see in headers as well. */
function paramHeadersOf(gateway: Gateway, name: string): ParamHeaders {
  const tool = gateway.tool(name);
  if (tool === undefined) return [];
  let headers = knownHeaders.get(tool);
  if (headers === undefined) {
    const found = headersIn(tool.definition);
    headers = typeof found === 'string' ? [] : found;
    knownHeaders.set(tool, headers);
  }
  return headers;
}

/** A changed tool is another object. Its definition is too expensive to be written for every call. */
const knownHeaders = new WeakMap<object, ParamHeaders>();

function tooManyProcesses(most: number): SwitchboardError {
  return new SwitchboardError(
    'TOO_MANY_PROCESSES',
    `Cannot start another server: ${most} are already running.`,
    {
      hint: 'Close unused sessions, set "isolation": "shared" for servers, or raise http.maxProcesses.',
    },
  );
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

function statesOf(workspaces: readonly Workspace[]): ServerState[] {
  const states = new Map<string, ServerState>();
  for (const { gateway } of workspaces) {
    for (const { source } of gateway.catalog.entries) {
      const { name, state } = source;
      const known = states.get(name);
      if (known && STATE_ORDER.indexOf(known.state.kind) <= STATE_ORDER.indexOf(state.kind)) continue;
      states.set(name, { name, state, problem: gateway.problemOf(source)?.message });
    }
  }
  return [...states.values()];
}

export { nestingDepth } from './app/loop-guard.ts';
export { hasNothingToShow } from './app/setup-tool.ts';
export { introspection, matches, ownSentence, toolRules, toolSettingWarnings } from './exposure/index.ts';
export {
  filterTools,
  ServerError,
  printableInstructions,
  type Component,
  type Listing,
  type OfferedTool,
  namespaceOf,
} from './gateway/index.ts';
export { processStatus, ownIdentity, withKernelLock, type ProcessIdentity } from './process/index.ts';
export { loadAuth } from './upstream/index.ts';

/** Names the file, so that a user does not have to search several. */
function definedIn(server: ServerDefinition): string {
  return isRuntimeServer(server) ? '' : `It is defined in ${server.origin.file}. `;
}
