import type { Logger } from '../../shared/log.ts';
import { Session, type ClientLink, type Gateway } from '../../gateway/index.ts';
import { Client, severity, type JsonObject } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import type { ServerIdentity } from '../legacy.ts';
import { Desk, type Carrier } from './desk.ts';
import { Parked, type ParkedOptions } from './parked.ts';
import type { ModernRequest } from './request.ts';
import type { ServerInfo } from './stamp.ts';

export interface ModernHomeOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  /**
   * Whether all requests are one person's, as over stdin and stdout, so that a question during any of them may be put to
   * any. Over the network each may be somebody else's. Default false.
   */
  readonly onePerson?: boolean;
  readonly parked?: ParkedOptions;
}

/** One connection, with the requests that are under way over it, the newest first. */
export interface Seat {
  readonly requests: readonly Carrier[];
}

/** What a request says of its client, where it says so. */
export interface ClientEnvelope {
  /** The version of the protocol that it is of. */
  readonly version: string | undefined;
  readonly capabilities: JsonObject | undefined;
}

/**
 * What the requests of the modern era have in common. They know nothing of each other, and yet servers of the older era
 * have to be told how much to log, tasks be found again, and calls that wait for an answer of their client.
 */
export class ModernHome {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly log: Logger;
  readonly info: ServerInfo;
  readonly parked: Parked<ModernRequest>;
  readonly #session: Session;
  readonly #onePerson: boolean;
  /** Where the questions to that one person lie. */
  readonly desk: Desk | undefined;
  /** Over whose connections that one person's requests come. */
  readonly #seats = new Set<Seat>();
  readonly #nobody: ClientLink;
  #joined = false;
  /** What the last request said in its envelope, where such a one may come again, and what that means. */
  #repeated: object | undefined;
  #envelope: ClientEnvelope = { version: undefined, capabilities: undefined };
  /** The capabilities of the last request that said any, as it said them and as a value. */
  #said: Buffer | undefined;
  #understood: JsonObject | undefined;
  #declared: JsonObject | undefined;

  constructor({ gateway, identity, log, onePerson = false, parked }: ModernHomeOptions) {
    this.gateway = gateway;
    this.identity = identity;
    this.log = log;
    this.#onePerson = onePerson;
    this.desk = onePerson ? new Desk(() => this.#carriers()) : undefined;
    const { name, title, version } = identity;
    this.info = { name, title, version };
    this.parked = new Parked(parked);
    this.#nobody = nobody();
    this.#session = new Session(this.#nobody);
    this.#session.ready();
  }

  /** Whose a request is: everybody's here are one person's, or each is somebody else's. */
  personOf(client: ClientLink): object {
    return this.#onePerson ? this : client;
  }

  /** Somebody sits down, whose requests may be one person's with those of others. */
  arrived(seat: Seat): void {
    if (this.#onePerson) this.#seats.add(seat);
  }

  left(seat: Seat): void {
    this.#seats.delete(seat);
  }

  #carriers(): Carrier[] {
    return [...[...this.#seats].reverse().flatMap((seat) => seat.requests), ...this.parked.all];
  }

  /** A session for one request. */
  sessionFor(client: ClientLink): Session {
    const session = new Session(client, this.#session, this.personOf(client));
    session.ready();
    return session;
  }

  /** What a request says of its client. Each says it anew, and mostly the same as the one before. */
  envelopeOf(request: Message): ClientEnvelope {
    const { repeated } = request;
    if (repeated !== undefined && repeated === this.#repeated) return this.#envelope;
    this.#repeated = repeated;
    this.#envelope = {
      version: request.string(Client.version),
      capabilities: this.#capabilitiesOf(request),
    };
    return this.#envelope;
  }

  #capabilitiesOf(request: Message): JsonObject | undefined {
    if (this.#said !== undefined && request.spells(Client.capabilities, this.#said)) return this.#understood;
    if (request.lead(Client.capabilities) !== BRACE) return undefined;
    const text = request.text(Client.capabilities)!;
    this.#said = Buffer.from(text);
    return (this.#understood = JSON.parse(text) as JsonObject);
  }

  /** What a client can do; servers that start now are told of it. What another one cannot is refused when it is asked. */
  declared(capabilities: JsonObject): void {
    if (capabilities === this.#declared) return;
    this.#declared = capabilities;
    Object.assign(this.#nobody.capabilities, capabilities);
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
    this.parked.close();
    if (this.#joined) this.gateway.leave(this.#session);
  }
}

const BRACE = 0x7b;

/** Nobody is told what belongs to no request. */
const nobody = (): ClientLink => ({
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
