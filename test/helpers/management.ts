import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ownState, startGateway, type GatewayOptions, type TestGateway } from './gateway.ts';
import {
  responseText,
  startClient,
  type RawClient,
  type RawClientOptions,
  type RpcMessage,
} from './raw-client.ts';
import { createProject, nodeServer, ROOT, type Project, type ServerCommand } from './temp-project.ts';
import { until } from './until.ts';

/** The built `mcpmux`. */
export const MUX: ServerCommand = { command: process.execPath, args: [join(ROOT, 'dist/mcpmux.js')] };

export const TOOLS_CHANGED = 'notifications/tools/list_changed';

/** One line of list_servers. */
export interface ListedServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly status: 'starting' | 'running' | 'crashed' | 'idle';
  readonly tools: readonly string[];
  readonly pid: number;
  readonly uptime_seconds: number;
  readonly error?: string;
}

/** The calls of a client to the four management tools. The first three resolve with the whole response. */
export interface Manager {
  readonly add: (name: string, server: object) => Promise<RpcMessage>;
  readonly remove: (name: string) => Promise<RpcMessage>;
  readonly reload: (name: string, options?: { readonly stop_first?: boolean }) => Promise<RpcMessage>;
  /** Adds a server that is expected to start; resolves with its entry in the list. */
  readonly added: (name: string, server: object) => Promise<ListedServer>;
  readonly servers: () => Promise<ListedServer[]>;
  /** One of them; throws if it is not listed. */
  readonly server: (name: string) => Promise<ListedServer>;
  /** One of them once it has this status. */
  readonly serverOnce: (name: string, status: ListedServer['status']) => Promise<ListedServer>;
  /** The names of all tools. */
  readonly tools: () => Promise<string[]>;
  /** How many times the client was notified that the tools have changed. */
  readonly changes: () => number;
  /** Resolves after that many notifications. */
  readonly changed: (times: number) => Promise<void>;
}

export interface Mux extends Manager {
  readonly client: RawClient;
  readonly project: Project;
}

export interface MuxOptions extends RawClientOptions {
  /** Written to a file that is passed with `--config`. Default: none. */
  readonly config?: object;
  readonly capabilities?: object;
}

/** Starts the built `mcpmux`, with a raw client that is initialized. */
export async function startMux(options: MuxOptions = {}): Promise<Mux> {
  const { config, capabilities, args = [], env, ...clientOptions } = options;
  const project = createProject({}, options.scope);
  const named = config === undefined ? [] : ['--config', project.write('mux.json', config)];
  const client = startClient({
    cwd: project.dir,
    ...clientOptions,
    command: MUX.command,
    args: [...MUX.args, ...named, ...args],
    env: { ...ownState(project), ...env },
  });
  await client.initialize('2025-06-18', capabilities);
  return { client, project, ...manage(client) };
}

export function manage(client: RawClient): Manager {
  const manager: Manager = {
    add: (name, server) => client.call('add_server', { name, ...server }),
    remove: (name) => client.call('remove_server', { name }),
    reload: (name, options) => client.call('reload_server', { name, ...options }),
    async added(name, server) {
      const response = await manager.add(name, server);
      if (failed(response)) throw new Error(`${name} was not added: ${responseText(response)}`);
      return response.result.structuredContent.server;
    },
    servers: async () => (await client.call('list_servers')).result.structuredContent.servers,
    async server(name) {
      const servers = await manager.servers();
      const found = servers.find((each) => each.name === name);
      if (found) return found;
      throw new Error(`${name} is not among ${servers.map((each) => each.name).join(', ')}`);
    },
    serverOnce: (name, status) =>
      until(
        async () => (await manager.servers()).find((each) => each.name === name && each.status === status),
        { what: `${name} to be ${status}` },
      ),
    tools: async () => (await client.listTools()).map((tool: { name: string }) => tool.name),
    changes: () => client.notifications.filter(({ method }) => method === TOOLS_CHANGED).length,
    changed: async (times) => {
      await client.waitUntil(
        () => (manager.changes() >= times ? true : undefined),
        `${times} changes of the tools`,
      );
    },
  };
  return manager;
}

/** A server without tools: adding and removing it changes no list, but is announced anyway. */
export const SERVER_WITHOUT_TOOLS = nodeServer('echo', '--tools=');

/** Resolves when all pending notifications have arrived. */
export async function waitForNotifications({ client, add, remove }: Managing): Promise<void> {
  const told = (from: number) => client.waitFor(({ method }) => method === TOOLS_CHANGED, { from });
  const name = `quiet-${client.messages.length}`;
  // Earlier notifications arrive while the server starts.
  const added = await add(name, SERVER_WITHOUT_TOOLS);
  if (failed(added)) throw new Error(responseText(added));
  await told(client.messages.indexOf(added));
  // The removal is announced before its process has ended.
  const from = client.messages.length;
  await remove(name);
  await told(from);
}

/**
 * How many notifications of a change some work causes. Waits for late ones: a server is added afterwards, and every
 * notification before its response belongs to the work.
 */
export async function changesBy(managing: Managing, work: () => Promise<unknown>): Promise<number> {
  const { client } = managing;
  const from = client.messages.length;
  await work();
  const behind = await managing.add(`behind-${from}`, SERVER_WITHOUT_TOOLS);
  if (failed(behind)) throw new Error(responseText(behind));
  const end = client.messages.indexOf(behind);
  await client.waitFor(({ method }) => method === TOOLS_CHANGED, { from: end });
  return client.messages.slice(from, end).filter(({ method }) => method === TOOLS_CHANGED).length;
}

interface Managing extends Manager {
  readonly client: RawClient;
}

export function failed(response: RpcMessage): boolean {
  return response.error !== undefined || response.result?.isError === true;
}

export const MANAGEMENT_TOOLS = ['add_server', 'remove_server', 'reload_server', 'list_servers'];
export const ELICITATION = { elicitation: {} };
export const FLAT_PREFIXED = { exposure: 'flat', naming: 'prefixed' };

export interface ManagedGateway extends TestGateway, Manager {}

export async function startManaged(
  management: unknown,
  options: GatewayOptions = {},
  servers = {},
): Promise<ManagedGateway> {
  const gateway = await startGateway(servers, {
    ...options,
    config: { ...FLAT_PREFIXED, management, ...options.config },
  });
  return { ...gateway, ...manage(gateway.client) };
}

/** The servers that were spawned, according to the log. */
export const spawnedServers = (client: RawClient): string[] =>
  [...client.stderr.matchAll(/spawned server=(\S+)/g)].map(([, name]) => name!);

/** Sends SIGHUP and waits until the configuration was reloaded, or could not be. */
export async function reloadConfig(client: RawClient): Promise<string> {
  const lines = (): RegExpMatchArray[] => [...client.stderr.matchAll(/configuration (not )?reloaded.*\n/g)];
  const before = lines().length;
  client.signal('SIGHUP');
  return client.waitUntil(() => lines()[before]?.[0], 'the configuration to be read again');
}

/**
 * Waits until a gateway can be found and notified. A configuration that changes before that is reloaded without a
 * signal, so the log may have one more line than a test expects.
 */
export async function untilNotifiable(client: RawClient, state: string): Promise<void> {
  await until(() => existsSync(join(state, 'run', `${client.pid}.json`)), { what: 'the state file' });
}

export const CONFIG = 'switchboard.config.json';
export const AUTO_APPROVAL = { approval: 'auto' };
export const PERSIST = { approval: 'auto', persist: true };

interface ManagedClient extends Manager {
  readonly client: RawClient;
  readonly project: Project;
  /** Rewrites the configuration and reloads it. Resolves with the log line. */
  readonly reconfigure: (servers: object, more?: object) => Promise<string>;
}

interface ManagedOptions {
  /** Keys of the configuration besides the servers. */
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
  readonly files?: Readonly<Record<string, string | object>>;
}

export async function startManagedClient(
  servers: object,
  options: ManagedOptions = {},
): Promise<ManagedClient> {
  const { config, env, capabilities, files } = options;
  const written = (mcpServers: object, more: object = {}): object => ({
    exposure: 'flat',
    naming: 'prefixed',
    management: AUTO_APPROVAL,
    ...config,
    mcpServers,
    ...more,
  });
  const project = createProject({ [CONFIG]: written(servers), ...files });
  const gatewayEnv = { ...ownState(project), ...env };
  const client = startClient({ cwd: project.dir, env: gatewayEnv });
  await client.initialize('2025-06-18', capabilities);
  await untilNotifiable(client, gatewayEnv['SWITCHBOARD_STATE_DIR'] ?? project.path('.state'));
  return {
    client,
    project,
    ...manage(client),
    reconfigure: (next, more) => {
      project.write(CONFIG, written(next, more));
      return reloadConfig(client);
    },
  };
}
