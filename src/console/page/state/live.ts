/** The state that the server has sent so far, as signals. The page itself never changes it. */
import { batch, computed, signal } from '@preact/signals';
import type {
  CallInfo,
  ClientInfo,
  ConsoleEvent,
  ConsoleState,
  GatewayInfo,
  LogLine,
  LoginPage,
  ServerInfo,
  TrialEvent,
  YardProject,
} from '../../protocol.ts';

/** How many of each the page keeps; the server has older ones. */
const MOST_CALLS = 10_000;
const MOST_LINES = 10_000;

export const stream = signal<{ readonly id: string; readonly version: string } | null>(null);
export const readOnly = signal(false);
export const gateways = signal<ReadonlyMap<string, GatewayInfo>>(new Map());
export const servers = signal<ReadonlyMap<string, ServerInfo>>(new Map());
export const clients = signal<ReadonlyMap<string, ClientInfo>>(new Map());
/** In the order in which they began. */
export const calls = signal<readonly CallInfo[]>([]);
/** In the order in which they came. */
export const logLines = signal<readonly LogLine[]>([]);
/** Null until the first list has arrived. */
export const projects = signal<readonly YardProject[] | null>(null);
/** Where to log in, by `keyIn`. */
export const loginPages = signal<ReadonlyMap<string, LoginPage>>(new Map());
/** How many items were left out because too many came at once. */
export const leftOut = signal({ calls: 0, lines: 0 });

const trials = new Map<string, (event: TrialEvent) => void>();

/** Calls `listen` with the events of a trial, until the returned function is called. */
export function onTrial(trial: string, listen: (event: TrialEvent) => void): () => void {
  trials.set(trial, listen);
  return () => trials.delete(trial);
}

/** The key of an item that is identified by a gateway and a name or id. */
export const keyIn = (gateway: string, name: string): string => `${gateway}\n${name}`;
export const serverKey = (server: ServerInfo): string => keyIn(server.gateway, server.name);
export const callKey = (call: CallInfo): string => keyIn(call.gateway, call.id);
export const lineKey = (line: LogLine): string => keyIn(line.gateway, String(line.seq));

export const serverList = computed(() =>
  [...servers.value.values()].sort(
    (a, b) => a.name.localeCompare(b.name) || a.gateway.localeCompare(b.gateway),
  ),
);

/** Applies the events of one message of the stream. */
export function applyEvents(events: readonly ConsoleEvent[]): void {
  batch(() => {
    const changed = new Changes();
    for (const event of events) changed.take(event);
    changed.publish();
  });
}

/** Adds calls that are older than those the page has. */
export function addOlderCalls(older: readonly CallInfo[]): void {
  const known = new Set(calls.value.map(callKey));
  calls.value = [...older.filter((call) => !known.has(callKey(call))), ...calls.value];
}

/** Collects changes, so that each signal changes once per message, however many events it contains. */
class Changes {
  #gateways: Map<string, GatewayInfo> | undefined;
  #servers: Map<string, ServerInfo> | undefined;
  #clients: Map<string, ClientInfo> | undefined;
  #calls: CallInfo[] | undefined;
  #places: Map<string, number> | undefined;
  #lines: LogLine[] = [];

  take(event: ConsoleEvent): void {
    switch (event.type) {
      case 'snapshot': {
        this.#replaceAll(event.state);
        return;
      }
      case 'gateway':
        this.#allGateways().set(event.gateway.id, event.gateway);
        return;
      case 'gateway-ended': {
        this.#endGateway(event.gateway);
        return;
      }
      case 'server':
        this.#allServers().set(serverKey(event.server), event.server);
        return;
      case 'server-removed':
        this.#allServers().delete(keyIn(event.gateway, event.server));
        return;
      case 'client':
        this.#allClients().set(keyIn(event.client.gateway, event.client.id), event.client);
        return;
      case 'client-left':
        this.#allClients().delete(keyIn(event.gateway, event.client));
        return;
      case 'call': {
        this.#takeCall(event.call);
        return;
      }
      case 'log':
        this.#lines.push(...event.lines);
        return;
      case 'trial':
        trials.get(event.trial)?.(event.event);
        return;
      case 'login-page': {
        takeLoginPage(keyIn(event.gateway, event.server), event.page);
        return;
      }
      case 'projects':
        projects.value = event.projects;
        return;
      case 'left-out': {
        const before = leftOut.value;
        leftOut.value = { calls: before.calls + event.calls, lines: before.lines + event.lines };
      }
    }
  }

  publish(): void {
    if (this.#gateways !== undefined) gateways.value = this.#gateways;
    if (this.#servers !== undefined) servers.value = this.#servers;
    if (this.#clients !== undefined) clients.value = this.#clients;
    if (this.#calls !== undefined) calls.value = inOrder(this.#calls).slice(-MOST_CALLS);
    if (this.#lines.length > 0) logLines.value = [...logLines.value, ...this.#lines].slice(-MOST_LINES);
  }

  #replaceAll(state: ConsoleState): void {
    stream.value = { id: state.stream, version: state.version };
    readOnly.value = state.readOnly;
    this.#gateways = new Map(state.gateways.map((each) => [each.id, each]));
    this.#servers = new Map(state.servers.map((each) => [serverKey(each), each]));
    this.#clients = new Map(state.clients.map((each) => [keyIn(each.gateway, each.id), each]));
    // Calls from before the connection broke stay in view if they are older than the new ones.
    this.#calls = merged(calls.value, state.calls, callKey);
    this.#places = undefined;
    logLines.value = merged(logLines.value, state.log, lineKey);
    this.#lines = [];
    loginPages.value = new Map(
      state.logins.map(({ gateway, server, page }) => [keyIn(gateway, server), page]),
    );
    if (state.projects.length > 0) projects.value = state.projects;
  }

  #endGateway(id: string): void {
    this.#allGateways().delete(id);
    for (const [key, { gateway }] of this.#allServers()) if (gateway === id) this.#allServers().delete(key);
    for (const [key, { gateway }] of this.#allClients()) if (gateway === id) this.#allClients().delete(key);
    const all = this.#allCalls();
    all.forEach((call, place) => {
      if (call.gateway === id && call.ms === null)
        all[place] = { ...call, ms: Date.now() - call.at, outcome: 'gateway ended' };
    });
  }

  #takeCall(call: CallInfo): void {
    const all = this.#allCalls();
    this.#places ??= new Map(all.map((each, place) => [callKey(each), place]));
    const place = this.#places.get(callKey(call));
    if (place !== undefined) all[place] = call;
    else this.#places.set(callKey(call), all.push(call) - 1);
  }

  #allGateways = (): Map<string, GatewayInfo> => (this.#gateways ??= new Map(gateways.value));
  #allServers = (): Map<string, ServerInfo> => (this.#servers ??= new Map(servers.value));
  #allClients = (): Map<string, ClientInfo> => (this.#clients ??= new Map(clients.value));
  #allCalls = (): CallInfo[] => (this.#calls ??= [...calls.value]);
}

function takeLoginPage(key: string, page: LoginPage | null): void {
  const pages = new Map(loginPages.value);
  if (page === null) pages.delete(key);
  else pages.set(key, page);
  loginPages.value = pages;
}

/** Gateways report their calls independently, so those of two may arrive out of order. */
function inOrder(all: CallInfo[]): CallInfo[] {
  const ordered = all.every((call, index) => index === 0 || (all[index - 1]?.at ?? 0) <= call.at);
  return ordered ? all : all.sort((a, b) => a.at - b.at);
}

function merged<T>(before: readonly T[], now: readonly T[], key: (item: T) => string): T[] {
  const known = new Set(now.map(key));
  return [...before.filter((item) => !known.has(key(item))), ...now];
}
