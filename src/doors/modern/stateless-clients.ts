import type { Logger } from '../../shared/log.ts';
import { Session, type ClientLink, type Gateway } from '../../gateway/index.ts';
import { Client, severity, type JsonObject } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ServerIdentity } from '../server-identity.ts';
import type { Attempt } from './attempt.ts';
import { LinkedSet } from './linked-set.ts';
import { PendingInputs, type InputCarrier } from './pending-inputs.ts';
import { SuspendedRequests, type SuspendedRequestsOptions } from './suspended-requests.ts';
import { ModernRequest } from './request.ts';
import type { ServerInfo } from './modern-meta.ts';

export interface StatelessClientsOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /**
   * Whether all requests come from one user, as over stdio, so that any of them can carry a server's request. Over the
   * network each may come from another user. Default false.
   */
  readonly singleUser?: boolean;
  readonly suspended?: SuspendedRequestsOptions;
}

/** The `_meta` members of a request about its client. */
export interface ClientMeta {
  /** The protocol version of the request. */
  readonly version: string | undefined;
  readonly capabilities: JsonObject | undefined;
}

/**
 * The shared state of all requests of the modern era. The requests are independent, but older servers need one log level
 * for all, and tasks and suspended calls have to be found again.
 */
export class StatelessClients {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  readonly info: ServerInfo;
  readonly suspended: SuspendedRequests<ModernRequest>;
  readonly #session: Session;
  readonly #singleUser: boolean;
  /** The pending inputs of the single user. */
  readonly inputs: PendingInputs | undefined;
  /** The attempts that are not answered yet. */
  readonly running = new LinkedSet<Attempt>();
  readonly #nullClient: ClientLink;
  #joined = false;
  /** The memoized `_meta` of the last request, that request, and the parsed members. */
  #lastMemo: object | undefined;
  #lastRequest: Message | undefined;
  #lastMeta: ClientMeta = { version: undefined, capabilities: undefined };
  /** The last capabilities, as JSON bytes and as a value. */
  #capabilitiesText: Buffer | undefined;
  #capabilities: JsonObject | undefined;
  #lastDeclared: JsonObject | undefined;

  constructor({ gateway, identity, log, singleUser = false, suspended }: StatelessClientsOptions) {
    this.gateway = gateway;
    this.identity = identity;
    this.log = log;
    this.#singleUser = singleUser;
    this.inputs = singleUser ? new PendingInputs(() => this.#carriers()) : undefined;
    const { name, title, version } = identity;
    this.info = { name, title, version };
    this.suspended = new SuspendedRequests(suspended);
    this.#nullClient = nullClient();
    this.#session = new Session(this.#nullClient);
    this.#session.ready();
  }

  /** The principal of a request: the single user, or the request itself. */
  principalOf(client: ClientLink): object {
    return this.#singleUser ? this : client;
  }

  /** The requests of the single user that can carry a server's request, the newest first. */
  #carriers(): InputCarrier[] {
    const running = this.running.members().map(({ handler }) => handler);
    return [...running.filter((handler) => handler instanceof ModernRequest), ...this.suspended.all];
  }

  /** A session for one request. */
  sessionFor(client: ClientLink): Session {
    const session = new Session(client, this.#session, this.principalOf(client));
    session.ready();
    return session;
  }

  /** The client's members in `_meta`. Every request repeats them, mostly unchanged. */
  clientMetaOf(request: Message): ClientMeta {
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
    const text = request.text(Client.capabilities)!;
    this.#capabilitiesText = Buffer.from(text);
    return (this.#capabilities = JSON.parse(text) as JsonObject);
  }

  /**
   * Joins the gateway with the first request, which starts servers whose own tools are exposed. Adds a client's
   * capabilities to those that new servers see; a client without one refuses such a request later.
   */
  join(capabilities: JsonObject): void {
    if (capabilities !== this.#lastDeclared) {
      this.#lastDeclared = capabilities;
      Object.assign(this.#nullClient.capabilities, capabilities);
    }
    if (this.#joined) return;
    this.#joined = true;
    this.gateway.join(this.#session);
  }

  /** Lowers the log level for older servers, which have one level for all clients. */
  wantLog(level: string): void {
    const before = severity(this.#session.logLevel);
    if (before >= 0 && before <= severity(level)) return;
    this.#session.logLevel = level;
    this.gateway.logLevelChanged();
  }

  close(): void {
    this.suspended.close();
    if (this.#joined) this.gateway.leave(this.#session);
  }
}

const BRACE = 0x7b;

/** Drops messages that belong to no request. */
const nullClient = (): ClientLink => ({
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
