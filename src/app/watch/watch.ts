import type {
  CallInfo,
  ClientInfo,
  ConsoleEvent,
  FeedMessage,
  GatewayInfo,
  LogLine,
  ServerInfo,
  Topic,
} from '../../console/index.ts';
import type { Call, GatewayWatcher, Session } from '../../gateway/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import type { Logger } from '../../shared/log.ts';
import { VERSION } from '../../shared/version.ts';
import { inConfigOrder } from '../../config/index.ts';
import type { LogTap } from '../log-tap.ts';
import type { TrustReview } from '../trust.ts';
import type { Watchers } from '../watchers.ts';
import type { Workspaces, LeavingWorkspace } from '../workspaces.ts';
import type { Workspace } from '../workspace.ts';
import { CallRecorder } from './call-recorder.ts';
import { clientInfo, type ClientTransport } from './client-info.ts';
import { disabledServers } from './disabled-servers.ts';
import { WatchedLog } from './log-lines.ts';
import { problemOf } from './problem.ts';
import { NO_CALLS, serverInfos } from './server-info.ts';
import { WatchActions } from './watch-actions.ts';

/** Changes within this time are sent together, in milliseconds. */
const COALESCE_MS = 100;
/** How many calls and lines are sent together; if there are more, the oldest are left out. */
const MOST_CALLS = 1000;
const MOST_LINES = 1000;

/** The connection to a console. */
export interface WatchLink {
  send(value: FeedMessage): void;
  receive(take: (value: unknown) => void): void;
  closed(then: () => void): void;
}

export interface GatewayWatchOptions {
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly volatile: boolean;
  readonly workspaces: Workspaces;
  readonly results: ConstructorParameters<typeof WatchActions>[0]['results'];
  /** Reports calls and clients. */
  readonly watched: Watchers;
  readonly logTap: LogTap;
  readonly trust: TrustReview;
  /** Where clients connect over HTTP; undefined if a host started the gateway. */
  readonly url: () => string | undefined;
  /** Reloads the configuration. */
  readonly reload: () => Promise<void>;
}

export interface WatchSubscriber {
  readonly link: WatchLink;
  topics: ReadonlySet<Topic>;
}

/**
 * Reports to consoles what happens in this gateway, and carries out their actions. Loaded with the first console;
 * without one, nothing is recorded.
 */
export class GatewayWatch implements GatewayWatcher {
  readonly id = `${process.pid}-${Math.round(performance.timeOrigin).toString(36)}`;
  readonly #options: GatewayWatchOptions;
  readonly #subscribers = new Set<WatchSubscriber>();
  readonly #clientIds = new WeakMap<Session, string>();
  readonly #actions: WatchActions;
  #lastClient = 0;
  #calls: CallRecorder | undefined;
  #log: WatchedLog | undefined;
  /** The state that was sent last, to send only what has changed. */
  #servers: ReadonlyMap<string, ServerInfo> = new Map();
  #clients: ReadonlyMap<string, ClientInfo> = new Map();
  #gateway = '';
  readonly #changedCalls = new Set<string>();
  /** Calls that consoles know to be running, so that their end must be reported too. */
  readonly #toldRunning = new Set<string>();
  #newLines: LogLine[] = [];
  #leftOut = { calls: 0, lines: 0 };
  #flushing: NodeJS.Timeout | undefined;
  #own: LeavingWorkspace | undefined;

  constructor(options: GatewayWatchOptions) {
    this.#options = options;
    this.#actions = new WatchActions({
      ...options,
      calls: () => this.#calls,
      workspace: () => this.workspace(),
      changed: () => this.changed(),
      clientWorkspace: (client) => this.#workspaceOf(client),
    });
  }

  /** Adds a console. */
  add(link: WatchLink): void {
    const subscriber: WatchSubscriber = { link, topics: new Set() };
    const isFirst = this.#subscribers.size === 0;
    this.#subscribers.add(subscriber);
    this.#options.watched.add(this);
    if (isFirst) this.#look();
    link.send({ events: this.#everything() });
    link.receive((value) => void this.#receive(subscriber, value));
    link.closed(() => this.#remove(subscriber));
  }

  /** The state of a server may have changed, or the configuration. */
  changed(): void {
    if (this.#subscribers.size > 0) this.#flushSoon();
  }

  called(call: Call): void {
    this.#calls?.begin(call);
  }

  clientsChanged(): void {
    this.#flushSoon();
  }

  /** The workspace that consoles use: over stdio the host's, over HTTP their own, as for every client. */
  workspace(): Workspace {
    const { workspaces } = this.#options;
    if (workspaces.shared === undefined) return workspaces.main;
    this.#own ??= workspaces.openFor({ era: 'legacy' });
    return this.#own.workspace;
  }

  #workspaceOf(client: string | null): Workspace {
    for (const workspace of this.#options.workspaces.all)
      for (const session of workspace.gateway.sessions)
        if (this.#clientId(session) === client) return workspace;
    if (client !== null)
      throw new SwitchboardError('CLIENT_UNKNOWN', 'This client is no longer connected.', {
        hint: 'Choose another client, or any.',
      });
    return this.#options.workspaces.main;
  }

  #remove(subscriber: WatchSubscriber): void {
    this.#subscribers.delete(subscriber);
    this.#actions.left(subscriber);
    this.#watchTopics();
    if (this.#subscribers.size > 0) return;
    this.#options.watched.remove(this);
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    const { log } = this.#options;
    this.#own
      ?.close()
      .catch((error: unknown) => log.error('could not stop', { reason: problemOf(error).message }));
    this.#own = undefined;
  }

  async #receive(subscriber: WatchSubscriber, request: unknown): Promise<void> {
    if (!isObject(request) || typeof request.id !== 'number' || typeof request.method !== 'string') return;
    const { id, method } = request;
    const params = isObject(request.params) ? request.params : {};
    try {
      if (method === 'topics') this.#choose(subscriber, params.topics);
      const result = method === 'topics' ? null : await this.#actions.run(method, params, subscriber);
      subscriber.link.send({ id, result: result ?? null });
    } catch (error) {
      if (!(error instanceof SwitchboardError))
        this.#options.log.error('an action of the console failed', { method, cause: String(error) });
      subscriber.link.send({ id, error: problemOf(error, this.#actions.mask) });
    }
  }

  /** Sets what a console wants to see. What is already recorded is sent immediately. */
  #choose(subscriber: WatchSubscriber, topics: unknown): void {
    const wanted = new Set((Array.isArray(topics) ? topics : []).filter(isTopic));
    const before = subscriber.topics;
    subscriber.topics = wanted;
    this.#watchTopics();
    const events: ConsoleEvent[] = [];
    if (wanted.has('calls') && !before.has('calls'))
      events.push(...(this.#calls?.infos() ?? []).map((call) => ({ type: 'call', call }) as const));
    if (wanted.has('logs') && !before.has('logs') && this.#log !== undefined)
      events.push({ type: 'log', lines: this.#log.lines });
    if (events.length > 0) subscriber.link.send({ events });
  }

  /** Starts and stops recording. */
  #watchTopics(): void {
    const wants = (topic: Topic): boolean => [...this.#subscribers].some(({ topics }) => topics.has(topic));
    if (!wants('calls')) {
      this.#calls = undefined;
      this.#toldRunning.clear();
    } else
      this.#calls ??= new CallRecorder({
        gateway: this.id,
        env: this.#options.env,
        clientId: (session) => this.#clientId(session),
        definitions: (server) => {
          const { config } = this.#options.workspaces.current;
          return inConfigOrder(config).filter(({ name }) => server === undefined || name === server);
        },
        changed: (call) => {
          this.#changedCalls.add(call);
          if (this.#changedCalls.size > MOST_CALLS) this.#leaveOutCall();
          this.#flushSoon();
        },
      });
    const { logTap } = this.#options;
    if (!wants('logs')) this.#log = logTap.listener = undefined;
    else if (this.#log === undefined) {
      const log = (this.#log = new WatchedLog(this.id));
      for (const { line, at } of logTap.lines) log.add(line, at);
      logTap.listener = (line, at) => {
        this.#newLines.push(log.add(line, at));
        if (this.#newLines.length > MOST_LINES) {
          this.#newLines.shift();
          this.#leftOut.lines++;
        }
        this.#flushSoon();
      };
    }
  }

  #leaveOutCall(): void {
    const oldest = [...this.#changedCalls].find((call) => !this.#toldRunning.has(call));
    if (oldest === undefined) return;
    this.#changedCalls.delete(oldest);
    this.#leftOut.calls++;
  }

  #flushSoon(): void {
    this.#flushing ??= setTimeout(() => {
      this.#flushing = undefined;
      this.#flush();
    }, COALESCE_MS).unref();
  }

  /** Sends what has changed since the last time. */
  #flush(): void {
    const calls = [...this.#changedCalls]
      .map((id) => this.#calls?.info(id))
      .filter((info): info is CallInfo => info !== undefined);
    this.#changedCalls.clear();
    for (const { id, outcome } of calls)
      if (outcome === null) this.#toldRunning.add(id);
      else this.#toldRunning.delete(id);
    const common = this.#look();
    const lines = this.#newLines;
    this.#newLines = [];
    const leftOut = this.#leftOut;
    this.#leftOut = { calls: 0, lines: 0 };
    for (const { link, topics } of this.#subscribers) {
      const events: ConsoleEvent[] = [...common];
      if (topics.has('calls')) events.push(...calls.map((call) => ({ type: 'call', call }) as const));
      if (topics.has('logs') && lines.length > 0) events.push({ type: 'log', lines });
      if (leftOut.calls + leftOut.lines > 0 && topics.size > 0) events.push({ type: 'left-out', ...leftOut });
      if (events.length > 0) link.send({ events });
    }
  }

  /** Compares the current state with what was sent last. */
  #look(): ConsoleEvent[] {
    const events: ConsoleEvent[] = [];
    const gateway = this.#gatewayInfo();
    const gatewayText = JSON.stringify(gateway);
    if (gatewayText !== this.#gateway) events.push({ type: 'gateway', gateway });
    this.#gateway = gatewayText;
    const { workspaces, env, trust } = this.#options;
    const calls = this.#calls;
    const servers = serverInfos(workspaces.all, {
      gateway: this.id,
      env,
      trust,
      disabled: disabledServers(workspaces.current.config),
      countsOf: (server) => calls?.countsOf(server) ?? NO_CALLS,
    });
    for (const [name, server] of servers)
      if (isOther(this.#servers.get(name), server)) events.push({ type: 'server', server });
    for (const name of this.#servers.keys())
      if (!servers.has(name)) events.push({ type: 'server-removed', gateway: this.id, server: name });
    this.#servers = servers;
    const clients = this.#clientInfos();
    for (const [id, client] of clients)
      if (isOther(this.#clients.get(id), client)) events.push({ type: 'client', client });
    for (const id of this.#clients.keys())
      if (!clients.has(id)) events.push({ type: 'client-left', gateway: this.id, client: id });
    this.#clients = clients;
    return events;
  }

  #everything(): ConsoleEvent[] {
    return [
      { type: 'gateway', gateway: this.#gatewayInfo() },
      ...[...this.#servers.values()].map((server) => ({ type: 'server', server }) as const),
      ...[...this.#clients.values()].map((client) => ({ type: 'client', client }) as const),
    ];
  }

  #gatewayInfo(): GatewayInfo {
    const { program, workspaces, url } = this.#options;
    const { file, directory, files } = workspaces.current.config;
    return {
      id: this.id,
      program: `${program} ${VERSION}`,
      pid: process.pid,
      since: Math.round(performance.timeOrigin),
      config: file ?? directory,
      directory,
      files: files.map(({ path }) => path),
      url: url() ?? null,
      memory: null,
      live: true,
      serving: false,
    };
  }

  #clientInfos(): Map<string, ClientInfo> {
    const infos = new Map<string, ClientInfo>();
    const { main, all } = this.#options.workspaces;
    for (const workspace of all) {
      const transport: ClientTransport =
        workspace === main ? 'stdio' : workspace === this.#own?.workspace ? 'console' : 'http';
      for (const session of workspace.gateway.sessions) {
        const id = this.#clientId(session);
        const running = this.#calls?.running(id) ?? session.running;
        infos.set(id, clientInfo(session, { gateway: this.id, id, transport, running }));
      }
    }
    return infos;
  }

  #clientId(session: Session): string {
    const { keeper } = session;
    let id = this.#clientIds.get(keeper);
    if (id === undefined) this.#clientIds.set(keeper, (id = String(++this.#lastClient)));
    return id;
  }
}

function isTopic(value: unknown): value is Topic {
  return value === 'calls' || value === 'logs';
}

function isOther(before: object | undefined, now: object): boolean {
  return before === undefined || JSON.stringify(before) !== JSON.stringify(now);
}
