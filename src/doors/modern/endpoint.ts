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
import { RpcCode, type Message } from '../../wire/index.ts';
import { Attempt, type AttemptHandler, type AttemptOwner, type ReplyChannel } from './attempt.ts';
import { DiscoverRequest } from './discover.ts';
import { ListenRequest } from './listen-request.ts';
import { ModernRequest } from './request.ts';
import { StatelessClients, type StatelessClientsOptions } from './stateless-clients.ts';
import { SuspendedRequests } from './suspended-requests.ts';

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

/** The error for a request that the protocol version does not allow. */
export interface RequestRefusal {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

/**
 * Takes the requests of clients that speak the version without a handshake. Every request is independent: each is
 * answered on the channel that it came with, whether those are many or one.
 */
export class ModernEndpoint implements AttemptOwner {
  readonly clients: StatelessClients;
  #onIdle: (() => void)[] = [];

  constructor(options: StatelessClientsOptions) {
    this.clients = new StatelessClients(options);
  }

  get running(): number {
    return this.clients.running.size;
  }

  /** How many calls wait for their client to return with input. */
  get suspended(): number {
    return this.clients.suspended.size;
  }

  /** Runs a request, or refuses it. */
  request(message: Message, channel: ReplyChannel, method = message.string(Client.method)!): void {
    const refusal = this.refusal(message, method);
    if (refusal === undefined) this.run(message, channel, method);
    else channel.fail(message.text(Client.id)!, refusal.code, refusal.message, refusal.data);
  }

  /** The error for a request that this protocol version does not allow; undefined if it may run. */
  refusal(message: Message, method: string): RequestRefusal | undefined {
    const { version, capabilities } = this.clients.clientMetaOf(message);
    if (version !== undefined && !isModernVersion(version)) return unsupportedVersion(version);
    if (version === undefined || capabilities === undefined) {
      const missing = version === undefined ? 'protocolVersion' : 'clientCapabilities';
      return {
        code: RpcCode.invalidParams,
        message: `Invalid params: _meta needs "io.modelcontextprotocol/${missing}".`,
      };
    }
    if (TASKS.has(method) && !hasTasks(capabilities))
      return {
        code: ModernCode.missingCapability,
        message: `${method} needs the extension ${TASKS_EXTENSION}.`,
        data: { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
      };
    return REMOVED_METHODS.has(method)
      ? { code: RpcCode.methodNotFound, message: `Method not found: ${method}` }
      : undefined;
  }

  /** Runs a request that was not refused. */
  run(message: Message, channel: ReplyChannel, method: string): Attempt {
    const attempt = new Attempt(this, channel, message);
    const capabilities = this.clients.clientMetaOf(message).capabilities!;
    if (method === 'server/discover') {
      this.clients.join(capabilities);
      const request = new DiscoverRequest(this.clients, attempt);
      this.#begin(attempt, request);
      void request.run();
      return attempt;
    }
    let level: string | undefined;
    if (message.has(Client.logLevel)) {
      level = message.string(Client.logLevel);
      if (severity(level) < 0) {
        channel.fail(attempt.id, RpcCode.invalidParams, 'Invalid params: unknown log level.');
        return attempt;
      }
    }
    this.clients.join(capabilities);
    if (method === 'subscriptions/listen') this.#begin(attempt, new ListenRequest(this.clients, attempt));
    else if (!this.#resume(attempt)) {
      if (level !== undefined) this.clients.wantLog(level);
      const request = new ModernRequest(this.clients, attempt, method, capabilities, level);
      this.#begin(attempt, request);
      request.run();
    }
    return attempt;
  }

  #begin(attempt: Attempt, handler: AttemptHandler): void {
    attempt.handler = handler;
    this.clients.running.add(attempt);
  }

  /** Resumes a suspended call, if the client retries one with the requested input. */
  #resume(attempt: Attempt): boolean {
    const { request } = attempt;
    const state = request.has(Client.requestState) ? request.string(Client.requestState) : undefined;
    if (state === undefined || !SuspendedRequests.isOurs(state)) return false;
    const suspended = this.clients.suspended.take(state);
    if (suspended?.matches(request) === true) {
      this.#begin(attempt, suspended);
      suspended.resume(attempt);
      return true;
    }
    // A state is valid once, and for the same request; trying it on another one ends the call.
    suspended?.expire();
    attempt.channel.fail(
      attempt.id,
      RpcCode.invalidParams,
      'Invalid params: requestState is unknown, has been used or is too old. Send the request again without it.',
    );
    return true;
  }

  /** A notification on a connection that carries all requests of its client. */
  notification(message: Message): void {
    // The only client notification of the era; over HTTP, closing the exchange cancels instead.
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const id = message.text(Client.requestId);
    const attempt = this.clients.running.find((each) => each.id === id);
    if (attempt === undefined) return;
    const { reason } = message.value(Client.params) as JsonObject;
    this.cancel(attempt, typeof reason === 'string' ? reason : undefined);
  }

  /** The client has cancelled a request. No effect on one that is answered. */
  cancel(attempt: Attempt, reason: string | undefined): void {
    if (!this.clients.running.remove(attempt)) return;
    attempt.handler?.cancel(reason);
    this.#checkIdle();
  }

  /** A connection was lost. Its requests are cancelled; suspended calls go on waiting for a retry. */
  leave(channel: ReplyChannel): void {
    for (const attempt of this.clients.running.members())
      if (attempt.channel === channel) this.cancel(attempt, DISCONNECTED);
  }

  /** Resolves when no request waits for an answer; subscriptions do not count. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Answers all running requests with an error, and ends subscriptions. */
  failAll(): void {
    for (const { handler } of this.clients.running.members()) handler?.stop();
  }

  ended(attempt: Attempt): void {
    this.clients.running.remove(attempt);
    this.#checkIdle();
  }

  close(): void {
    this.clients.close();
  }

  get #isIdle(): boolean {
    return this.clients.running.find(({ handler }) => handler?.listens === false) === undefined;
  }

  #checkIdle(): void {
    if (this.#onIdle.length > 0 && this.#isIdle) for (const listener of this.#onIdle.splice(0)) listener();
  }
}

export const DISCONNECTED = 'The client disconnected.';

/** The error for a request in a version that is not this one. */
export function unsupportedVersion(requested: string): RequestRefusal {
  return {
    code: ModernCode.unsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: requested.slice(0, 200) },
  };
}

function hasTasks({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}
