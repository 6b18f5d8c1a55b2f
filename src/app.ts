import type { Readable, Writable } from 'node:stream';
import { catalogEntry } from './app/entry.ts';
import { openHttpFor, type HttpOptions } from './app/http.ts';
import { warnAboutToolSettings } from './app/log-lines.ts';
import { SharedServers } from './app/shared-servers.ts';
import { clientsOf, createSources } from './app/sources.ts';
import { Principals } from './app/principals.ts';
import { openWorkspace, type Workspace, statesOf, type ServerState } from './app/workspace.ts';
import {
  isRuntimeServer,
  type ConfiguredServer,
  type LoadedConfig,
  type NotAllowed,
  type ServerDefinition,
} from './config/index.ts';
import { loadModernEndpoint, openStdioDoor, type HttpDoor, type StdioDoor } from './doors/index.ts';
import {
  LocalClient,
  type Gateway,
  type Listing,
  type LocalCallOptions,
  type Source,
} from './gateway/index.ts';
import type { LanguageSource } from './language/index.ts';
import type { AppliedChanges } from './management/index.ts';
import { createChildProcesses } from './process/index.ts';
import type { Era, JsonObject } from './protocol/index.ts';
import { messageOf } from './shared/errors.ts';
import type { Logger } from './shared/log.ts';
import { createSerial } from './shared/serial.ts';
import { unknownServer } from './shared/unknown-server.ts';
import { loadAuth } from './upstream/index.ts';

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

/** The gateway with everything it needs, wired together. The only place that knows every part. */
export interface App {
  /** What the one client over stdin and stdout gets, and the commands. */
  readonly gateway: Gateway;
  /** The source of a configured server; throws SERVER_UNKNOWN, with the nearest names. */
  source(server: string): Source;
  /** The server behind a language model; undefined where there is no model. */
  behind(server: string): Source | undefined;
  /** Everything a server offers, whatever the configuration shows of it, once the gateway knows it too. Starts it. */
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
  /** Logins to remote servers. */
  auth(): ReturnType<typeof loadAuth>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Lets clients connect: each session has servers of its own, and so has each token of clients without sessions. */
  openHttp(options: HttpOptions): Promise<HttpDoor>;
  /** Ends every server; `already` is how many milliseconds the exit has taken so far, which the servers get less. */
  close(already?: number): Promise<void>;
  /** Kills every process synchronously, for exits that cannot wait. */
  killNow(): void;
}

export function createApp(options: AppOptions): App {
  const { log, program = 'switchboard', volatile = false, env = process.env } = options;
  const { callerMs = Infinity, onStateChange = () => undefined } = options;
  const children = createChildProcesses({ log });
  const alone = createSerial();
  const workspaces = new Set<Workspace>();
  const opened = new Set<Principals>();
  let current = options.config;
  /** Processes that may run at one time; one client alone is not bounded. */
  let mostProcesses = Infinity;

  const sources = createSources({
    program,
    log,
    stderr: options.stderr,
    children,
    env,
    ownVariables: options.ownVariables ?? [],
    config: () => current,
    configPath: options.configPath,
    startHint: options.startHint,
    volatile,
    callerMs,
    onStateChange,
    listed: (name, kind, listing) => listed(name, kind, listing),
    mostProcesses: () => mostProcesses,
  });
  const everyone = clientsOf(() => [...workspaces].map(({ gateway }) => gateway));
  const sharedServers = new SharedServers({
    make: (server, role, after) =>
      sources.make(server, { clients: { ...everyone, ...role }, shared: true, after }),
    // A part of this program takes calls of either era.
    support: (server) => (server.kind === 'builtin' ? { modern: false } : sources.cacheOf(server).support),
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
        current = withPersisted(current, name, definition);
      },
      build: (server, of, after, restart) => {
        const source =
          clients !== undefined && isShared(server)
            ? sharedServers.join(server, restart, clients)
            : sources.make(server, { clients: clientsOf(() => [of().gateway]), after, gatewayPath });
        return catalogEntry(source, server, volatile);
      },
    });
    workspaces.add(workspace);
    return workspace;
  };
  const withClose = (
    workspace: Workspace,
  ): { readonly workspace: Workspace; readonly close: () => Promise<void> } => ({
    workspace,
    close: async () => {
      workspaces.delete(workspace);
      await workspace.close();
      onStateChange();
    },
  });
  const main = open();
  const listed = warnAboutToolSettings((name) => main.manager.find(name), log);
  const local = new LocalClient();
  const source = (name: string): Source => sourceOf(main.gateway, name);

  return {
    gateway: main.gateway,
    source,
    behind: (server) => (source(server) as Partial<LanguageSource>).inner,
    async listTools(server) {
      const listing = await source(server).list('tools');
      // The gateway hears of the same list, and has it by the next turn.
      await new Promise((resume) => setImmediate(resume));
      return listing;
    },
    callTool: async (server, tool, args, callOptions) =>
      local.request(source(server), 'tools/call', { name: tool, arguments: args }, callOptions),
    instructions: () => main.identity.instructions(),
    states: () => statesOf([...workspaces].map(({ gateway }) => gateway)),
    alone,
    auth: loadAuth,
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
    async openHttp(http) {
      const openEndpoint = await loadModernEndpoint();
      const principals = new Principals({
        log,
        openWorkspace: () => withClose(open('modern')),
        openEndpoint: ({ gateway, identity }) => openEndpoint({ gateway, identity, log }),
      });
      opened.add(principals);
      mostProcesses = current.settings.http.maxProcesses;
      return openHttpFor(http, {
        program,
        log,
        config: () => current,
        self: sources.self,
        principals,
        openLegacy: (gatewayPath) => withClose(open('legacy', gatewayPath)),
      });
    },
    async close(already = 0) {
      sources.save();
      for (const principals of opened) principals.close();
      const closed = Promise.all([
        ...[...workspaces].map((workspace) => workspace.close()),
        sharedServers.close(),
      ]);
      await children.stopAll({
        closeStdin: 0,
        term: Math.max(2000 - already, 0),
        kill: Math.max(5000 - already, 500),
      });
      await closed;
    },
    killNow: () => children.killAllNow(),
  };
}

/** Hosts give a call up after a minute; a caller is answered before that. In milliseconds. */
export const HOST_TIMEOUT_MS = 50_000;

/** The source of a server; throws SERVER_UNKNOWN, with the nearest names. */
function sourceOf({ catalog }: Gateway, name: string): Source {
  const all = catalog.entries.map((entry) => entry.source);
  const found = all.find((each) => each.name === name);
  if (found) return found;
  throw unknownServer(
    name,
    all.map((each) => each.name),
  );
}

/** Whether all clients use one server. What one client has added is its own, whatever another one calls by the same name. */
function isShared(server: ConfiguredServer): server is ServerDefinition {
  return server.kind !== 'unusable' && server.isolation === 'shared' && !isRuntimeServer(server);
}

/** The configuration with a server that was written to it, or without one that was taken out of it. */
function withPersisted(
  config: LoadedConfig,
  name: string,
  definition: ConfiguredServer | undefined,
): LoadedConfig {
  const others = config.servers.filter((server) => server.name !== name);
  const isUsable = definition !== undefined && definition.kind !== 'unusable';
  return { ...config, servers: isUsable ? [...others, definition] : others };
}

export type { AccessTokens } from './doors/index.ts';
export { nestingDepth } from './app/entry.ts';
export type { ServerState } from './app/workspace.ts';
export { hasNothingToShow } from './app/setup-tool.ts';
