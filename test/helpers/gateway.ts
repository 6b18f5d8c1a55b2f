import {
  startClient,
  type CallOptions,
  type RawClient,
  type RawClientOptions,
  type RpcMessage,
} from './raw-client.ts';
import { createProject, type Project, type ServerCommand } from './temp-project.ts';

export interface GatewayOptions extends RawClientOptions {
  /** Further keys of switchboard.config.json. */
  readonly config?: object;
  /** Do not send initialize. Default false. */
  readonly raw?: boolean;
  readonly version?: string;
}

export interface TestGateway {
  readonly client: RawClient;
  readonly project: Project;
  /** Calls a subtool through its suite. */
  readonly call: (
    server: string,
    subtool: string,
    args?: object,
    options?: CallOptions,
  ) => Promise<RpcMessage>;
  readonly introspect: (server: string, more?: object) => Promise<RpcMessage>;
}

type Entry = ServerCommand & Record<string, unknown>;

/** Starts the built `switchboard` over these servers, with a raw client that has said hello. */
export async function startGateway(
  servers: Readonly<Record<string, ServerCommand | Entry>>,
  options: GatewayOptions = {},
): Promise<TestGateway> {
  const { config, raw, version, ...clientOptions } = options;
  const project = createProject(
    { 'switchboard.config.json': { mcpServers: servers, ...config } },
    options.scope,
  );
  const client = startClient({ cwd: project.dir, ...clientOptions });
  if (raw !== true) await client.initialize(version);
  return {
    client,
    project,
    call: (server, subtool, args = {}, callOptions) =>
      client.call(`${server}_suite`, { action: 'call', subtool, args }, callOptions),
    introspect: (server, more = {}) => client.call(`${server}_suite`, { action: 'introspect', ...more }),
  };
}
