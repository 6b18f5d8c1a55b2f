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
  /** Hooks, as a JavaScript configuration exports them. Default none. */
  readonly hooks?: string | undefined;
  /** Do not send initialize. Default false. */
  readonly raw?: boolean;
  readonly version?: string;
  /** The capabilities that the client declares in `initialize`. Default none. */
  readonly capabilities?: object;
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

/** Environment that puts a gateway's state and the user's configuration into the folder of the test. */
export function ownState(project: Project): Readonly<Record<string, string>> {
  return { SWITCHBOARD_STATE_DIR: project.path('.state'), XDG_CONFIG_HOME: project.path('.config') };
}

/** A configuration as a project's file: with hooks, it is JavaScript. */
export function configFile(config: object, hooks?: string): Readonly<Record<string, string | object>> {
  return hooks === undefined
    ? { 'switchboard.config.json': config }
    : { 'switchboard.config.mjs': `${hooks}\nexport default ${JSON.stringify(config)};\n` };
}

/** Starts the built `switchboard` with these servers, and a raw client that is initialized. */
export async function startGateway(
  servers: Readonly<Record<string, ServerCommand | Entry>>,
  options: GatewayOptions = {},
): Promise<TestGateway> {
  const { config, hooks, raw, version, capabilities, ...clientOptions } = options;
  const project = createProject(configFile({ mcpServers: servers, ...config }, hooks), options.scope);
  const client = startClient({
    cwd: project.dir,
    ...clientOptions,
    env: { ...ownState(project), ...clientOptions.env },
  });
  if (raw !== true) await client.initialize(version, capabilities);
  return {
    client,
    project,
    call: (server, subtool, args = {}, callOptions) =>
      client.call(`${server}_suite`, { action: 'call', subtool, args }, callOptions),
    introspect: (server, more = {}) => client.call(`${server}_suite`, { action: 'introspect', ...more }),
  };
}
