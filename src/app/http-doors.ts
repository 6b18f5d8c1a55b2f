import { loadModernEndpoint, type HttpDoor } from '../doors/index.ts';
import type { Logger } from '../shared/log.ts';
import type { HttpOptions, Principals, SharedServers } from './http.ts';
import type { Sources } from './sources.ts';
import type { Workspaces } from './workspaces.ts';

export interface HttpDoorsOptions {
  readonly program: string;
  readonly log: Logger;
  readonly env: NodeJS.ProcessEnv;
  readonly sources: Sources;
  readonly workspaces: Workspaces;
}

/** Lets clients connect over HTTP. Their code is loaded with the first door. */
export class HttpDoors {
  /** Processes that may run at one time; one client alone is not bounded. */
  mostProcesses = Infinity;
  /** Where clients connect; undefined before that is possible. */
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
    workspaces.shared ??= this.#sharedServers(http.SharedServers);
    const principals = new http.Principals({
      log,
      openWorkspace: (caller) => workspaces.openFor({ era: 'modern', caller }),
      openEndpoint: ({ gateway, identity }, principal) => openEndpoint({ gateway, identity, log, principal }),
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
      openLegacy: (session) => workspaces.openFor({ era: 'legacy', ...session }),
    });
    this.url = door.url;
    return door;
  }

  /** Ends what waits for a client to come back. */
  close(): void {
    for (const principals of this.#principals) principals.close();
  }

  #sharedServers(Shared: typeof SharedServers): SharedServers {
    const { log, sources, workspaces } = this.#options;
    return new Shared({
      make: (server, role, after) =>
        sources.make(server, { clients: { ...workspaces.everyone, ...role }, shared: true, after }),
      // A part of this program takes calls of either era.
      support: (server) => (server.kind === 'builtin' ? { modern: false } : sources.cacheOf(server).support),
      log,
    });
  }
}
