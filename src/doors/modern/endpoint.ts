import { isObject } from '../../shared/is-object.ts';
import { LinkedSet } from '../../shared/linked-set.ts';
import type { Logger } from '../../shared/log.ts';
import { Session, type ClientDescription, type ClientLink, type Gateway } from '../../gateway/index.ts';
import {
  Client,
  isModernVersion,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  ModernCode,
  severity,
  type JsonObject,
} from '../../protocol/index.ts';
import { faultError, RpcCode, RunningIds, type Message } from '../../wire/index.ts';
import { describeClient } from '../describe-client.ts';
import type { ServerIdentity } from '../server-identity.ts';
import { Attempt, type AttemptHandler, type ReplyChannel } from './attempt.ts';
import { DiscoverRequest } from './discover.ts';
import { ListenRequest } from './listen-request.ts';
import { PendingInputs, type InputCarrier } from './pending-inputs.ts';
import { ModernRequest } from './request.ts';
import { SuspendedRequests, UNKNOWN_STATE, type SuspendedRequestsOptions } from './suspended-requests.ts';

/** Requests of the older era that no longer exist in this one. */
const REMOVED_METHODS = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
]);

/** Requests of an extension, for clients that declare support for it. */
const TASKS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export interface ModernEndpointOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /**
   * Whether all requests come from one user, as over stdio, so that any of them can carry a server's request. Over the
   * network, each may come from a different user. Default false.
   */
  readonly singleUser?: boolean;
  readonly suspended?: SuspendedRequestsOptions;
  /** The principal whose token all requests carry, over HTTP. Default: none. */
  readonly principal?: string;
}

/** The error for a request that the protocol version does not allow. */
export interface RequestRefusal {
  readonly code: number;
  readonly message: string;
  readonly data?: JsonObject;
}

/** The members of a request's `_meta` that describe its client. */
interface ClientMeta {
  /** The protocol version of the request. */
  readonly version: string | undefined;
  readonly capabilities: JsonObject | undefined;
}

/**
 * Handles the requests of clients that speak the version without a handshake. Requests are independent, and each is
 * answered on the channel it came on, which may carry one request or many. What requests share is kept here: older
 * servers need one log level for all, and tasks and suspended calls have to be found again.
 */
export class ModernEndpoint {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /** Our identity for every result, as JSON text. */
  readonly serverInfo: string;
  readonly suspended: SuspendedRequests<ModernRequest>;
  /** The principal whose token all its requests carry, over HTTP. */
  readonly principal: string | undefined;
  /** The pending inputs of the single user. */
  readonly inputs: PendingInputs | undefined;
  readonly #singleUser: boolean;
  /** The attempts that have not been answered. */
  readonly #running = new LinkedSet<Attempt>();
  /** The ids of the single user's requests. Over the network, the same id on two channels means two requests. */
  readonly #ids: RunningIds | undefined;
  readonly #nullClient = nullClient(() => describeClient(this.#clientInfo, MODERN_VERSION));
  /** The client's description in the last request that joined the gateway. */
  #clientInfo: unknown;
  readonly #session = new Session(this.#nullClient);
  #joined = false;
  #onIdle: (() => void)[] = [];
  /** Memoized for the last request: its `_meta`, the request, and the parsed members. */
  #lastMemo: object | undefined;
  #lastRequest: Message | undefined;
  #lastMeta: ClientMeta = { version: undefined, capabilities: undefined };
  /** The last capabilities, both as JSON bytes and as a value. */
  #capabilitiesText: Buffer | undefined;
  #capabilities: JsonObject | undefined;
  #lastDeclared: JsonObject | undefined;

  constructor({ gateway, identity, log, singleUser = false, suspended, principal }: ModernEndpointOptions) {
    this.gateway = gateway;
    this.principal = principal;
    this.identity = identity;
    this.log = log;
    this.#singleUser = singleUser;
    this.inputs = singleUser ? new PendingInputs(() => this.#carriers()) : undefined;
    this.#ids = singleUser ? new RunningIds() : undefined;
    const { name, title, version } = identity;
    this.serverInfo = JSON.stringify({ name, title, version });
    this.suspended = new SuspendedRequests(suspended);
    this.#session.ready();
  }

  /** The number of requests that are waiting for an answer. */
  get running(): number {
    return this.#running.size;
  }

  /** Runs a request, or refuses it. */
  request(message: Message, channel: ReplyChannel, method = message.requiredString(Client.method)): void {
    const refusal = this.#ids?.has(message) === true ? ID_IN_USE : this.refusal(message, method);
    if (refusal === undefined) this.run(message, channel, method);
    else channel.fail(message.requiredText(Client.id), refusal.code, refusal.message, refusal.data);
  }

  /** The error for a request that this protocol version does not allow; undefined if it may run. */
  refusal(message: Message, method: string): RequestRefusal | undefined {
    const { version, capabilities } = this.#clientMetaOf(message);
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
    const attempt = new Attempt(channel, message);
    const { capabilities } = this.#clientMetaOf(message);
    if (capabilities === undefined) throw new Error('A request without capabilities was not refused');
    if (method === 'server/discover') {
      this.#join(capabilities, message);
      const request = new DiscoverRequest(this, attempt);
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
    this.#join(capabilities, message);
    if (method === 'subscriptions/listen') this.#begin(attempt, new ListenRequest(this, attempt));
    else if (!this.#resume(attempt)) {
      if (level !== undefined) this.#wantLog(level);
      const request = new ModernRequest(this, attempt, method, capabilities);
      request.session.logLevel = level;
      this.#begin(attempt, request);
      request.run();
    }
    return attempt;
  }

  #begin(attempt: Attempt, handler: AttemptHandler): void {
    attempt.handler = handler;
    this.#running.add(attempt);
    this.#ids?.add(attempt.request);
  }

  /** Resumes a suspended call if the client retries it with the requested input. */
  #resume(attempt: Attempt): boolean {
    const { request } = attempt;
    const state = request.has(Client.requestState) ? request.string(Client.requestState) : undefined;
    if (state === undefined || !SuspendedRequests.isOurs(state)) return false;
    const suspended = this.suspended.take(state);
    if (suspended?.matches(request) === true) {
      this.#begin(attempt, suspended);
      suspended.resume(attempt);
      return true;
    }
    // A state is valid once, and only for the same request; using it for another one ends the call.
    suspended?.expire();
    attempt.channel.fail(attempt.id, RpcCode.invalidParams, UNKNOWN_STATE);
    return true;
  }

  /** Handles a notification on a connection that carries all requests of its client. */
  notification(message: Message): void {
    // The era's only client notification; over HTTP, closing the exchange cancels instead.
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const id = message.text(Client.requestId);
    const attempt = this.#running.find((each) => each.id === id);
    if (attempt === undefined) return;
    const params = message.value(Client.params);
    const reason = isObject(params) ? params.reason : undefined;
    this.cancel(attempt, typeof reason === 'string' ? reason : undefined);
  }

  /** The client has cancelled a request. Has no effect if it is already answered. */
  cancel(attempt: Attempt, reason: string | undefined): void {
    if (!this.#remove(attempt)) return;
    attempt.handler?.cancel(reason);
    this.#checkIdle();
  }

  /** A connection was lost. Its requests are cancelled; suspended calls keep waiting for a retry. */
  leave(channel: ReplyChannel): void {
    for (const attempt of this.#running.members())
      if (attempt.channel === channel) this.cancel(attempt, DISCONNECTED);
  }

  /** Resolves when no request is waiting for an answer, not counting subscriptions. */
  idle(): Promise<void> {
    if (this.#isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Answers all running requests with an error, and ends subscriptions. */
  failAll(): void {
    for (const { handler } of this.#running.members()) handler?.stop();
  }

  close(): void {
    this.suspended.close();
    if (this.#joined) this.gateway.leave(this.#session);
  }

  /** Answers an attempt with a result of our own: JSON text on one line. */
  answer(attempt: Attempt, result: string): void {
    attempt.channel.answerText(attempt.id, result);
    this.answered(attempt);
  }

  /** An attempt has been answered. */
  answered(attempt: Attempt): void {
    this.#remove(attempt);
    this.#checkIdle();
  }

  #remove(attempt: Attempt): boolean {
    const wasRunning = this.#running.remove(attempt);
    if (wasRunning) this.#ids?.remove(attempt.request);
    return wasRunning;
  }

  get #isIdle(): boolean {
    return this.#running.find(({ handler }) => handler?.listens === false) === undefined;
  }

  #checkIdle(): void {
    if (this.#onIdle.length > 0 && this.#isIdle) for (const listener of this.#onIdle.splice(0)) listener();
  }

  /** Creates a session for one request. Its principal is the single user or the request itself. */
  sessionFor(client: ClientLink): Session {
    const session = new Session(client, this.#session, this.#singleUser ? this : client);
    session.ready();
    return session;
  }

  /** The single user's requests that can carry a server's request, newest first. */
  #carriers(): InputCarrier[] {
    const running = this.#running.members().map(({ handler }) => handler);
    return [...running.filter((handler) => handler instanceof ModernRequest), ...this.suspended.all];
  }

  /** The client's members in `_meta`. Every request repeats them, usually unchanged. */
  #clientMetaOf(request: Message): ClientMeta {
    const { memoized: memo } = request;
    if (request === this.#lastRequest || (memo !== undefined && memo === this.#lastMemo))
      return this.#lastMeta;
    this.#lastRequest = request;
    this.#lastMemo = memo;
    this.#lastMeta = {
      version: request.string(Client.version),
      capabilities: this.#capabilitiesOf(request),
    };
    return this.#lastMeta;
  }

  #capabilitiesOf(request: Message): JsonObject | undefined {
    if (this.#capabilitiesText !== undefined && request.spells(Client.capabilities, this.#capabilitiesText))
      return this.#capabilities;
    if (request.lead(Client.capabilities) !== BRACE) return undefined;
    const capabilities = request.value(Client.capabilities);
    if (!isObject(capabilities)) return undefined;
    this.#capabilitiesText = Buffer.from(request.requiredText(Client.capabilities));
    return (this.#capabilities = capabilities);
  }

  /**
   * Joins the gateway with the first request, which starts the servers whose own tools are exposed. Adds a client's
   * capabilities to those that new servers see; requests that a client cannot handle are refused later.
   */
  #join(capabilities: JsonObject, request: Message): void {
    if (capabilities !== this.#lastDeclared) {
      this.#lastDeclared = capabilities;
      Object.assign(this.#nullClient.capabilities, capabilities);
    }
    if (this.#joined) return;
    this.#joined = true;
    this.#clientInfo = request.value(Client.clientInfo);
    this.gateway.join(this.#session);
  }

  /** Lowers the log level of older servers, which have one level for all clients. */
  #wantLog(level: string): void {
    const before = severity(this.#session.logLevel);
    if (before >= 0 && before <= severity(level)) return;
    this.#session.logLevel = level;
    this.gateway.logLevelChanged();
  }
}

export const DISCONNECTED = 'The client disconnected.';

const BRACE = 0x7b;
const ID_IN_USE: RequestRefusal = faultError('id-in-use');

/** The error for a request in another version. */
export function unsupportedVersion(requested: string): RequestRefusal {
  return {
    code: ModernCode.unsupportedVersion,
    message: 'Unsupported protocol version',
    data: { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: requested.slice(0, 200) },
  };
}

function hasTasks({ extensions }: JsonObject): boolean {
  return isObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}

/** A client that drops all messages that belong to no request. */
const nullClient = (describe: () => ClientDescription): ClientLink => ({
  describe,
  modern: true,
  capabilities: {},
  congested: false,
  whenDrained: (listener) => listener(),
  forwardAnswer: () => undefined,
  forwardNotification: () => undefined,
  answer: () => undefined,
  answerText: () => undefined,
  notify: () => undefined,
  ask: (_request, listener) => {
    listener.unanswered('closed');
    return 0;
  },
  withdraw: () => undefined,
  fail: () => undefined,
});
