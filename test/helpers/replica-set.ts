import { HttpGateway, TOKEN, type ProgramOptions } from './http-gateway.ts';
import type { Target } from './http-client.ts';
import { createProject, type Project, type ServerCommand } from './temp-project.ts';

export interface ReplicaSetOptions extends Pick<ProgramOptions, 'env'> {
  /** The address of the store. */
  readonly store: string;
  readonly servers: Readonly<Record<string, ServerCommand>>;
  /** Further keys of the configuration. */
  readonly config?: object;
}

/** Starts one of several gateways that act as one; each has its own directory and state. */
export async function startReplica(
  { store, servers, config = {}, env = {} }: ReplicaSetOptions,
  port = 0,
): Promise<HttpGateway> {
  const project: Project = createProject({
    'switchboard.config.json': { mcpServers: servers, http: { token: TOKEN }, store, ...config },
  });
  return new HttpGateway(project, { args: ['--http', String(port), '--json'], env }).ready();
}

/** Starts several of them. */
export function startReplicas(count: number, options: ReplicaSetOptions): Promise<HttpGateway[]> {
  return Promise.all(Array.from({ length: count }, () => startReplica(options)));
}

/** A client that reaches its gateways in turn, as behind a load balancer without affinity. */
export function inTurn(gateways: readonly Target[]): Target {
  let next = 0;
  return {
    get url() {
      return gateways[next++ % gateways.length]!.url;
    },
    token: TOKEN,
  };
}
