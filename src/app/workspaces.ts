import {
  isRuntimeServer,
  type ConfiguredServer,
  type LoadedConfig,
  type Roles,
  type ServerDefinition,
} from '../config/index.ts';
import type { Caller } from '../doors/index.ts';
import type { CatalogEntry } from '../gateway/index.ts';
import type { BuildOptions } from '../management/index.ts';
import type { Era } from '../protocol/index.ts';
import { accessOf, CallLimiter, configFor, limitSource, type Access } from '../roles/index.ts';
import { createSerial } from '../shared/serial.ts';
import type { Store } from '../store/index.ts';
import { catalogEntry } from './entry.ts';
import type { SharedServers } from './shared-servers.ts';
import { clientsOf, type SourceClients, type Sources } from './sources.ts';
import { openWorkspace, type Workspace, type WorkspaceOptions } from './workspace.ts';

export interface WorkspacesOptions extends Pick<
  WorkspaceOptions,
  | 'program'
  | 'log'
  | 'env'
  | 'volatile'
  | 'results'
  | 'finder'
  | 'scripts'
  | 'named'
  | 'callerMs'
  | 'whereLooked'
  | 'allowProject'
  | 'watched'
  | 'called'
> {
  readonly current: CurrentConfig;
  readonly sources: Sources;
  /** The store that this gateway shares with other replicas. Default: this is the only one. */
  readonly store: Store | undefined;
  /** Called when the state of a server has changed. */
  readonly onStateChange: () => void;
}

/** The current configuration. */
export interface CurrentConfig {
  config: LoadedConfig;
}

/** The clients of an HTTP door that a workspace is for. */
export interface WorkspaceClients {
  /** Their era. */
  readonly era: Era;
  /** The gateways between them and this one. Default none. */
  readonly gatewayPath?: readonly string[];
  /** Their principal. Default: the user of this gateway. */
  readonly caller?: Caller;
}

/** The workspace of clients that may leave before others do, and how it ends. */
export interface LeavingWorkspace {
  readonly workspace: Workspace;
  readonly close: () => Promise<void>;
}

/** All workspaces, the configuration they were made from, and the servers they share. */
export class Workspaces {
  readonly all = new Set<Workspace>();
  readonly current: CurrentConfig;
  /** Only clients of an HTTP door share servers. */
  shared: SharedServers | undefined;
  /** Serves the one client over stdin and stdout, and the commands. */
  readonly main: Workspace;
  /** All clients together, as seen by a server that they share. */
  readonly everyone: SourceClients = clientsOf(() => [...this.all].map(({ gateway }) => gateway));
  readonly #options: WorkspacesOptions;
  readonly #alone = createSerial();
  readonly #limiter: CallLimiter;
  /** The limited configuration for each set of roles: clients with the same roles share it. */
  readonly #limited = new WeakMap<LoadedConfig, Map<string, LoadedConfig>>();

  constructor(options: WorkspacesOptions) {
    this.#options = options;
    this.current = options.current;
    this.#limiter = new CallLimiter(options.store?.callCounts());
    this.main = this.#open();
  }

  /** Opens a workspace for clients of an HTTP door. */
  openFor(clients: WorkspaceClients): LeavingWorkspace {
    const workspace = this.#open(clients);
    const close = async (): Promise<void> => {
      this.all.delete(workspace);
      await workspace.close();
      await this.endUnusedShared();
      this.#options.onStateChange();
    };
    return { workspace, close };
  }

  /** Runs work while no client changes the configuration. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#alone(work);
  }

  /** Ends the shared servers that the configuration no longer has, unless a client keeps using one as it was. */
  async endUnusedShared(): Promise<void> {
    const shared = this.current.config.servers.filter((server) => server.isolation === 'shared');
    await this.shared?.keepOnly(new Set(shared.map((server) => server.name)));
  }

  async close(): Promise<void> {
    await Promise.all([...[...this.all].map((workspace) => workspace.close()), this.shared?.close()]);
  }

  #open(clients?: WorkspaceClients): Workspace {
    const { onStateChange, ...same } = this.#options;
    const own = clientsOf(() => [workspace.gateway]);
    const caller = clients?.caller;
    const access = caller && this.#accessOf(caller);
    const workspace: Workspace = openWorkspace({
      ...same,
      config: () => this.#configFor(this.current.config, access?.()),
      access,
      onProblem: onStateChange,
      alone: (work) => this.alone(work),
      persisted: (name, definition) => {
        this.current.config = withPersisted(this.current.config, name, definition);
      },
      build: (server, how) => this.#entryOf(server, { clients, own, how, access }),
    });
    this.all.add(workspace);
    return workspace;
  }

  /** What a caller may do under the current configuration; undefined: everything. */
  #accessOf(caller: Caller): () => Access | undefined {
    let known: { readonly roles: Roles | undefined; readonly access: Access | undefined } | undefined;
    return () => {
      const { roles } = this.current.config.settings;
      if (known?.roles !== roles || known === undefined)
        known = { roles, access: roles && accessOf(roles, caller) };
      return known.access;
    };
  }

  #configFor(config: LoadedConfig, access: Access | undefined): LoadedConfig {
    if (access === undefined) return config;
    const byKey = this.#limited.get(config) ?? new Map<string, LoadedConfig>();
    this.#limited.set(config, byKey);
    const limited = byKey.get(access.key) ?? configFor(config, access);
    byKey.set(access.key, limited);
    return limited;
  }

  /** Whether the client added the server for itself alone: one that was saved belongs to everybody from then on. */
  #isOwn(server: ConfiguredServer): boolean {
    const { servers } = this.current.config;
    return isRuntimeServer(server) && !servers.some(({ name }) => name === server.name);
  }

  #entryOf(server: ConfiguredServer, { clients, own, how, access }: EntryUse): CatalogEntry {
    const { sources, volatile, results } = this.#options;
    const { after, restart = false, stopFirst = false } = how;
    const source =
      clients !== undefined && this.shared !== undefined && isShared(server)
        ? this.shared.join(server, clients.era, { restart, stopFirst })
        : sources.make(server, { clients: own, after, gatewayPath: clients?.gatewayPath ?? [] });
    if (access !== undefined && clients?.caller !== undefined && !this.#isOwn(server))
      limitSource(source, { access, counter: this.#limiter.counterOf(clients.caller.principal) });
    return catalogEntry(source, server, { volatile, results });
  }
}

interface EntryUse {
  readonly clients: WorkspaceClients | undefined;
  readonly own: SourceClients;
  readonly how: BuildOptions;
  readonly access: (() => Access | undefined) | undefined;
}

/**
 * Whether all clients use the same server. A server that a client has added is its own, even if another client has one
 * of the same name.
 */
function isShared(server: ConfiguredServer): server is ServerDefinition {
  return server.kind !== 'unusable' && server.isolation === 'shared' && !isRuntimeServer(server);
}

/** The configuration after a server was added to it or removed from it. */
function withPersisted(
  config: LoadedConfig,
  name: string,
  definition: ConfiguredServer | undefined,
): LoadedConfig {
  const others = config.servers.filter((server) => server.name !== name);
  const isUsable = definition !== undefined && definition.kind !== 'unusable';
  return { ...config, servers: isUsable ? [...others, definition] : others };
}
