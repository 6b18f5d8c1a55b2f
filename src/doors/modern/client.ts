import type { CatalogEntry } from '../../gateway/index.ts';
import type { CatalogKind } from '../../protocol/index.ts';
import {
  Client,
  isJsonObject,
  isModernVersion,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  ModernCode,
  severity,
  type JsonObject,
} from '../../protocol/index.ts';
import { RpcCode, type Message, type Peer } from '../../wire/index.ts';
import { LinkedSet } from './linked-set.ts';
import type { StatelessClients, ModernConnection } from './stateless-clients.ts';
import { fixedCapabilities } from '../legacy-client.ts';
import { ListenRequest } from './listen-request.ts';
import { SuspendedRequests } from './suspended-requests.ts';
import { ModernRequest } from './request.ts';
import { modernResult } from './modern-meta.ts';
import { Attempt, type AttemptOwner } from './attempt.ts';

/** Requests of the older era that this one has removed. */
const REMOVED_METHODS = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
]);

/** Requests of an extension, for clients that declare it. */
const TASKS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

function hasTasks({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}

/** How long server/discover waits for servers that never ran before, and how often it checks, in milliseconds. */
const SERVER_INFO_WAIT_MS = 1500;
const RECHECK_MS = 25;

/** How long a client may cache the result of server/discover, in milliseconds. */
const DISCOVER_TTL_MS = 60_000;

/** One connection of a client that speaks the version without a handshake: every request is independent. */
export class ModernClient implements ModernConnection, AttemptOwner {
  readonly peer: Peer;
  readonly #clients: StatelessClients;
  /** The attempts that are not answered yet. */
  readonly #running = new LinkedSet<Attempt>();
  /** Pending answers to server/discover. */
  #discovering = 0;
  #onIdle: (() => void)[] = [];

  constructor(peer: Peer, clients: StatelessClients) {
    this.peer = peer;
    this.#clients = clients;
    // Every request of this era has `_meta` members, which are rare members of the shape.
    peer.transport.readRareMembers();
    clients.connected(this);
  }

  get running(): number {
    return this.#running.size;
  }

  get requests(): ModernRequest[] {
    return this.#running
      .members()
      .flatMap(({ handler: worker }) => (worker instanceof ModernRequest ? [worker] : []));
  }

  request(message: Message, method = message.string(Client.method)!): void {
    const { version, capabilities } = this.#clients.clientMetaOf(message);
    // The hot path comes before the checks for rare cases.
    if (version === MODERN_VERSION && capabilities !== undefined && method === 'tools/call') {
      this.#run(message, method, capabilities);
      return;
    }
    const id = message.text(Client.id)!;
    if (version !== undefined && !isModernVersion(version)) {
      const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: version.slice(0, 200) };
      this.peer.fail(id, ModernCode.unsupportedVersion, 'Unsupported protocol version', data);
    } else if (version === undefined || capabilities === undefined) {
      const missing = version === undefined ? 'protocolVersion' : 'clientCapabilities';
      this.peer.fail(
        id,
        RpcCode.invalidParams,
        `Invalid params: _meta needs "io.modelcontextprotocol/${missing}".`,
      );
    } else if (method === 'server/discover') void this.#answerDiscover(id, capabilities);
    else if (TASKS.has(method) && !hasTasks(capabilities)) {
      const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
      this.peer.fail(
        id,
        ModernCode.missingCapability,
        `${method} needs the extension ${TASKS_EXTENSION}.`,
        data,
      );
    } else if (REMOVED_METHODS.has(method))
      this.peer.fail(id, RpcCode.methodNotFound, `Method not found: ${method}`);
    else this.#run(message, method, capabilities);
  }

  notification(message: Message): void {
    // The only client notification of the era; over HTTP, closing the exchange cancels instead.
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const id = message.text(Client.requestId);
    const attempt = this.#running.find((each) => each.id === id);
    if (attempt === undefined) return;
    this.ended(attempt);
    const { reason } = message.value(Client.params) as JsonObject;
    attempt.handler?.cancel(typeof reason === 'string' ? reason : undefined);
  }

  /** The client has disconnected. Its requests are cancelled; suspended calls go on waiting for a retry. */
  leave(): void {
    for (const attempt of this.#running.members()) {
      this.ended(attempt);
      attempt.handler?.cancel('The client disconnected.');
    }
    this.#clients.disconnected(this);
  }

  /** Resolves when no request waits for an answer; subscriptions do not count. */
  idle(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Answers all running requests with an error, and ends subscriptions. */
  failAll(): void {
    for (const { handler: worker } of this.#running.members()) {
      if (worker instanceof ListenRequest) worker.end();
      else if (worker instanceof ModernRequest) worker.session.failAll();
    }
  }

  get #busy(): number {
    const asked = this.#running.members().filter(({ handler: worker }) => !(worker instanceof ListenRequest));
    return asked.length + this.#discovering;
  }

  #run(message: Message, method: string, capabilities: JsonObject): void {
    let level: string | undefined;
    if (message.has(Client.logLevel)) {
      level = message.string(Client.logLevel);
      if (severity(level) < 0) {
        this.peer.fail(message.text(Client.id), RpcCode.invalidParams, 'Invalid params: unknown log level.');
        return;
      }
    }
    this.#clients.declared(capabilities);
    this.#clients.join();
    const attempt = new Attempt(this, message);
    if (method === 'subscriptions/listen') {
      this.#running.add(attempt);
      attempt.handler = new ListenRequest(this.#clients, attempt);
      return;
    }
    const state = message.has(Client.requestState) ? message.string(Client.requestState) : undefined;
    if (state !== undefined && SuspendedRequests.isOurs(state)) {
      const suspended = this.#takeSuspended(state, message);
      if (suspended) {
        attempt.handler = suspended;
        this.#running.add(attempt);
        suspended.resume(attempt);
      } else
        this.peer.fail(
          message.text(Client.id),
          RpcCode.invalidParams,
          'Invalid params: requestState is unknown, has been used or is too old. Send the request again without it.',
        );
      return;
    }
    if (level !== undefined) this.#clients.wantLog(level);
    const request = new ModernRequest(this.#clients, attempt, method, capabilities, level);
    attempt.handler = request;
    this.#running.add(attempt);
    request.run();
  }

  /** The suspended call that a client retries with the requested input. */
  #takeSuspended(state: string, request: Message): ModernRequest | undefined {
    const suspended = this.#clients.suspended.take(state);
    if (suspended === undefined || suspended.matches(request)) return suspended;
    // A state is valid once, and for the same request; trying it on another one ends the call.
    suspended.expire();
    return undefined;
  }

  ended(attempt: Attempt): void {
    this.#running.remove(attempt);
    if (this.#onIdle.length > 0) this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#onIdle.length > 0 && this.#busy === 0)
      for (const listener of this.#onIdle.splice(0)) listener();
  }

  async #answerDiscover(id: string, capabilities: JsonObject): Promise<void> {
    this.#discovering++;
    await this.#waitForServerInfo(capabilities);
    this.peer.answerText(id, this.#discover());
    this.#discovering--;
    this.#tellIdle();
  }

  /**
   * Extensions are known only from the servers themselves. Waits a moment for those that never ran before and start with
   * the first request anyway.
   */
  async #waitForServerInfo(capabilities: JsonObject): Promise<void> {
    this.#clients.declared(capabilities);
    this.#clients.join();
    const until = performance.now() + SERVER_INFO_WAIT_MS;
    const isUnknown = ({ source, exposure }: CatalogEntry): boolean =>
      exposure.needsTools && source.about() === undefined && source.problem === undefined;
    while (this.#clients.gateway.catalog.entries.some(isUnknown) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, RECHECK_MS));
  }

  #discover(): string {
    const { identity, gateway, info } = this.#clients;
    const instructions = identity.instructions();
    return modernResult(
      {
        supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
        capabilities:
          identity.fixed === true
            ? fixedCapabilities(gateway.kinds)
            : capabilitiesOf(gateway.kinds, this.#extensions()),
        ...(instructions === '' ? {} : { instructions }),
        ttlMs: DISCOVER_TTL_MS,
        cacheScope: 'private',
      },
      'server/discover',
      info,
    );
  }

  /** The extensions of all servers; they are relayed. */
  #extensions(): JsonObject {
    const all: JsonObject = {};
    for (const { source } of this.#clients.gateway.catalog.entries) {
      const extensions = source.about()?.capabilities.extensions;
      if (isJsonObject(extensions)) Object.assign(all, extensions);
    }
    return all;
  }
}

/** Our capabilities: everything that a server may have, because servers are not asked first. */
function capabilitiesOf(kinds: ReadonlySet<CatalogKind>, extensions: JsonObject): JsonObject {
  return {
    tools: { listChanged: true },
    ...(kinds.has('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(kinds.has('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(kinds.has('prompts') || kinds.has('resources') ? { completions: {} } : {}),
    ...(kinds.size > 0 ? { logging: {} } : {}),
    ...(Object.keys(extensions).length > 0 ? { extensions } : {}),
  };
}
