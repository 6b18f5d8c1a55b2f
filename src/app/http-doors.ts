import { loadModernEndpoint, type HttpDoor } from '../doors/index.ts';
import type { Replicas } from '../replicas/index.ts';
import type { Logger } from '../shared/log.ts';
import type { Store } from '../store/index.ts';
import type { HttpOptions, Principals, SharedServers } from './http.ts';
import type { Sources } from './sources.ts';
import type { Workspaces } from './workspaces.ts';

export interface HttpDoorsOptions {
  readonly program: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  readonly sources: Sources;
  readonly workspaces: Workspaces;
  /** The store that this gateway shares with other replicas. Default: there are none. */
  readonly store: Store | undefined;
}

/** Lets clients connect over HTTP. The code is loaded with the first door. */
export class HttpDoors {
  /** How many processes may run at the same time. No limit until an HTTP door is opened. */
  mostProcesses = Infinity;
  /** Where clients connect; undefined until they can. */
  url: string | undefined;
  readonly #options: HttpDoorsOptions;
  readonly #principals = new Set<Principals>();

  constructor(options: HttpDoorsOptions) {
    this.#options = options;
  }

  async open(options: HttpOptions): Promise<HttpDoor> {
    const { program, log, env, sources, workspaces } = this.#options;
    const http = await import('./http.ts');
    const openEndpoint = await loadModernEndpoint();
    const replicas = await this.#replicas(options);
    const suspended = replicas && { ownedId: (random: string) => replicas.ownedId(random) };
    workspaces.shared ??= this.#sharedServers(http.SharedServers);
    const principals = new http.Principals({
      log,
      openWorkspace: (caller) => workspaces.openFor({ era: 'modern', caller }),
      openEndpoint: ({ gateway, identity }, principal) =>
        openEndpoint({ gateway, identity, log, principal, ...(suspended && { suspended }) }),
    });
    this.#principals.add(principals);
    this.mostProcesses = workspaces.current.config.settings.http.maxProcesses;
    const door = await http.openHttpFor(options, {
      program,
      log,
      env,
      config: () => workspaces.current.config,
      self: sources.self,
      principals,
      replicas,
      store: this.#options.store,
      openLegacy: (session) => workspaces.openFor({ era: 'legacy', ...session }),
    });
    this.url = door.url;
    return replicas === undefined ? door : this.#joined(door, replicas, options);
  }

  /** The other replicas, found through the store. */
  async #replicas({ sharedToken }: HttpOptions): Promise<Replicas | undefined> {
    const { store, log } = this.#options;
    if (store === undefined) return undefined;
    const { Replicas: Found } = await import('../replicas/index.ts');
    return new Found({ store, token: sharedToken, log });
  }

  /** A door that other replicas pass requests on to while it is open. */
  async #joined(door: HttpDoor, replicas: Replicas, { host }: HttpOptions): Promise<HttpDoor> {
    const { log, workspaces } = this.#options;
    const { replicaAddress } = await import('../replicas/index.ts');
    const { address = replicaAddress(host, door.port), group } = workspaces.current.config.settings.replica;
    await replicas.join(address);
    log.info('joined the replicas', { replica: replicas.self, address, group });
    return {
      url: door.url,
      port: door.port,
      get sessions() {
        return door.sessions;
      },
      drain: (ms) => door.drain(ms),
      close: async () => {
        await door.close();
        await replicas.leave();
      },
    };
  }

  /** Ends everything that waits for a client to return. */
  close(): void {
    for (const principals of this.#principals) principals.close();
  }

  #sharedServers(Shared: typeof SharedServers): SharedServers {
    const { log, sources, workspaces } = this.#options;
    return new Shared({
      make: (server, role, after) =>
        sources.make(server, { clients: { ...workspaces.everyone, ...role }, shared: true, after }),
      // Parts of this program accept calls of either era.
      support: (server) => (server.kind === 'builtin' ? { modern: false } : sources.cacheOf(server).support),
      log,
    });
  }
}
