import type { Logger } from '../../shared/log.ts';
import { Session, type ClientLink, type Gateway } from '../../gateway/index.ts';
import { Client, severity, type JsonObject } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ServerIdentity } from '../legacy-client.ts';
import { PendingInputs, type InputCarrier } from './pending-inputs.ts';
import { SuspendedRequests, type SuspendedRequestsOptions } from './suspended-requests.ts';
import type { ModernRequest } from './request.ts';
import type { ServerInfo } from './modern-meta.ts';

export interface StatelessClientsOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /**
   * Whether all requests are one person's, as over stdin and stdout, so that a question during any of them may be put to
   * any. Over the network each may be somebody else's. Default false.
   */
  readonly singleUser?: boolean;
  readonly suspended?: SuspendedRequestsOptions;
}

/** One connection, with the requests that are under way over it, the newest first. */
export interface ModernConnection {
  readonly requests: readonly InputCarrier[];
}

/** What a request says of its client, where it says so. */
export interface ClientMeta {
  /** The version of the protocol that it is of. */
  readonly version: string | undefined;
  readonly capabilities: JsonObject | undefined;
}

/**
 * What the requests of the modern era have in common. They know nothing of each other, and yet servers of the older era
 * have to be told how much to log, tasks be found again, and calls that wait for an answer of their client.
 */
export class StatelessClients {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  readonly info: ServerInfo;
  readonly suspended: SuspendedRequests<ModernRequest>;
  readonly #session: Session;
  readonly #singleUser: boolean;
  /** Where the questions to that one person lie. */
  readonly inputs: PendingInputs | undefined;
  /** Over whose connections that one person's requests come. */
  readonly #connections = new Set<ModernConnection>();
  readonly #nullClient: ClientLink;
  #joined = false;
  /** What the last request said in its envelope, where such a one may come again, and what that means. */
  #lastMemo: object | undefined;
  #lastMeta: ClientMeta = { version: undefined, capabilities: undefined };
  /** The capabilities of the last request that said any, as it said them and as a value. */
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

  /** Whose a request is: everybody's here are one person's, or each is somebody else's. */
  principalOf(client: ClientLink): object {
    return this.#singleUser ? this : client;
  }

  /** Somebody sits down, whose requests may be one person's with those of others. */
  connected(connection: ModernConnection): void {
    if (this.#singleUser) this.#connections.add(connection);
  }

  disconnected(connection: ModernConnection): void {
    this.#connections.delete(connection);
  }

  #carriers(): InputCarrier[] {
    return [
      ...[...this.#connections].reverse().flatMap((connection) => connection.requests),
      ...this.suspended.all,
    ];
  }

  /** A session for one request. */
  sessionFor(client: ClientLink): Session {
    const session = new Session(client, this.#session, this.principalOf(client));
    session.ready();
    return session;
  }

  /** What a request says of its client. Each says it anew, and mostly the same as the one before. */
  clientMetaOf(request: Message): ClientMeta {
    const { memoized: memo } = request;
    if (memo !== undefined && memo === this.#lastMemo) return this.#lastMeta;
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

  /** What a client can do; servers that start now are told of it. What another one cannot is refused when it is asked. */
  declared(capabilities: JsonObject): void {
    if (capabilities === this.#lastDeclared) return;
    this.#lastDeclared = capabilities;
    Object.assign(this.#nullClient.capabilities, capabilities);
  }

  /** Servers that are listed one by one start with the first request, as they do when a client of the older era joins. */
  join(): void {
    if (this.#joined) return;
    this.#joined = true;
    this.gateway.join(this.#session);
  }

  /** Somebody wants to hear so much; servers of the older era have one level for all, so the most that was wanted stays. */
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

/** Nobody is told what belongs to no request. */
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
