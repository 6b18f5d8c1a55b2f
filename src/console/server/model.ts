import type {
  CallFilter,
  CallInfo,
  ClientInfo,
  ConsoleEvent,
  ConsoleState,
  GatewayInfo,
  LogLine,
  ServerInfo,
  WaitingLogin,
  YardProject,
} from '../protocol.ts';

/** How much is remembered, and how much of it a page gets at first. */
const MOST_CALLS = 10_000;
const MOST_LINES = 10_000;
const FIRST = 1000;

/** Everything that pages show, as reported by the gateways so far. */
export class ConsoleModel {
  readonly #gateways = new Map<string, GatewayInfo>();
  readonly #servers = new Map<string, ServerInfo>();
  readonly #clients = new Map<string, ClientInfo>();
  /** The oldest first. */
  readonly #calls = new Map<string, CallInfo>();
  readonly #logins = new Map<string, WaitingLogin>();
  #lines: LogLine[] = [];
  #projects: readonly YardProject[] = [];

  get servers(): Iterable<ServerInfo> {
    return this.#servers.values();
  }

  /** The oldest first. */
  get calls(): Iterable<CallInfo> {
    return this.#calls.values();
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  get gateways(): Iterable<GatewayInfo> {
    return this.#gateways.values();
  }

  /** Applies an event. Returns the event for pages, completed with what is known here and the gateway does not know. */
  apply(event: ConsoleEvent): ConsoleEvent {
    switch (event.type) {
      case 'gateway': {
        const { memory } = this.#gateways.get(event.gateway.id) ?? event.gateway;
        const gateway = { ...event.gateway, memory: event.gateway.memory ?? memory };
        this.#gateways.set(gateway.id, gateway);
        return { type: 'gateway', gateway };
      }
      case 'gateway-ended':
        this.#gateways.delete(event.gateway);
        for (const map of [this.#servers, this.#clients]) deleteOf(map, event.gateway);
        this.#endCalls(event.gateway);
        break;
      case 'server': {
        const key = keyOf(event.server.gateway, event.server.name);
        const known = this.#servers.get(key);
        const memory =
          event.server.state.kind === 'running' ? (event.server.memory ?? known?.memory ?? null) : null;
        const server = { ...event.server, memory };
        this.#servers.set(key, server);
        return { type: 'server', server };
      }
      case 'server-removed':
        this.#servers.delete(keyOf(event.gateway, event.server));
        break;
      case 'client':
        this.#clients.set(keyOf(event.client.gateway, event.client.id), event.client);
        break;
      case 'client-left':
        this.#clients.delete(keyOf(event.gateway, event.client));
        break;
      case 'call':
        this.#calls.set(keyOf(event.call.gateway, event.call.id), event.call);
        dropOldest(this.#calls, MOST_CALLS);
        break;
      case 'log':
        this.#lines.push(...event.lines);
        if (this.#lines.length > 1.2 * MOST_LINES) this.#lines = this.#lines.slice(-MOST_LINES);
        break;
      case 'login-page': {
        const { gateway, server, page } = event;
        if (page === null) this.#logins.delete(keyOf(gateway, server));
        else this.#logins.set(keyOf(gateway, server), { gateway, server, page });
        break;
      }
      case 'projects':
        this.#projects = event.projects;
        break;
    }
    return event;
  }

  /** Call this when calls or log lines are no longer recorded. */
  forget(topic: 'calls' | 'logs'): void {
    if (topic === 'calls') this.#calls.clear();
    else this.#lines = [];
  }

  /** Call this when no gateway is watched any more. */
  clear(): void {
    for (const map of [this.#gateways, this.#servers, this.#clients, this.#calls]) map.clear();
    this.#lines = [];
    this.#projects = [];
  }

  state(own: Pick<ConsoleState, 'stream' | 'version' | 'readOnly'>): ConsoleState {
    return {
      ...own,
      gateways: [...this.#gateways.values()],
      servers: [...this.#servers.values()],
      clients: [...this.#clients.values()],
      calls: [...this.#calls.values()].slice(-FIRST),
      log: this.#lines.slice(-FIRST),
      logins: [...this.#logins.values()],
      projects: this.#projects,
    };
  }

  /** The calls that match a filter, the newest first. */
  listCalls(filter: CallFilter): { readonly calls: readonly CallInfo[]; readonly more: boolean } {
    const { before, limit = 200 } = filter;
    const all = [...this.#calls.values()].reverse();
    const from =
      before === undefined
        ? 0
        : all.findIndex(({ gateway, id }) => gateway === before.gateway && id === before.call) + 1;
    const most = Math.min(Math.max(1, limit), FIRST);
    const found: CallInfo[] = [];
    for (const call of all.slice(from)) {
      if (!fits(call, filter)) continue;
      if (found.length === most) return { calls: found, more: true };
      found.push(call);
    }
    return { calls: found, more: false };
  }

  /** Lines that contain a text, ignoring case, the newest first. */
  searchLog({
    gateway,
    server,
    text = '',
    limit = 200,
  }: {
    readonly gateway?: string;
    readonly server?: string | null;
    readonly text?: string;
    readonly limit?: number;
  }): { readonly lines: readonly LogLine[]; readonly more: boolean } {
    const most = Math.min(Math.max(1, limit), FIRST);
    const wanted = text.toLowerCase();
    const found: LogLine[] = [];
    for (let at = this.#lines.length - 1; at >= 0; at--) {
      const line = this.#lines[at];
      if (line === undefined) continue;
      if (gateway !== undefined && line.gateway !== gateway) continue;
      if (server !== undefined && line.server !== server) continue;
      if (!line.text.toLowerCase().includes(wanted)) continue;
      if (found.length === most) return { lines: found, more: true };
      found.push(line);
    }
    return { lines: found, more: false };
  }

  /** The outcome of calls will never be known once their gateway has ended. */
  #endCalls(gateway: string): void {
    for (const [key, call] of this.#calls)
      if (call.gateway === gateway && call.outcome === null)
        this.#calls.set(key, { ...call, outcome: 'cancelled', ms: Date.now() - call.at });
  }
}

function fits(call: CallInfo, { gateway, client, server, name, failed }: CallFilter): boolean {
  if (gateway !== undefined && call.gateway !== gateway) return false;
  if (client !== undefined && call.client !== client) return false;
  if (server !== undefined && call.server !== server) return false;
  const named = `${call.name ?? ''} ${call.subtool ?? ''} ${call.method}`.toLowerCase();
  if (name !== undefined && !named.includes(name.toLowerCase())) return false;
  return failed === undefined || failed === isFailure(call);
}

function isFailure({ outcome }: CallInfo): boolean {
  return outcome !== null && outcome !== 'ok' && outcome !== 'cancelled';
}

/** Neither an id nor a name contains a line break. */
function keyOf(gateway: string, name: string): string {
  return `${gateway}\n${name}`;
}

function deleteOf(map: Map<string, unknown>, gateway: string): void {
  for (const key of map.keys()) if (key.startsWith(`${gateway}\n`)) map.delete(key);
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return;
    map.delete(key);
  }
}
