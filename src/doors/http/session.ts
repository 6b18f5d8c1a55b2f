import { randomBytes } from 'node:crypto';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { Client, Server } from '../../protocol/index.ts';
import {
  editedMember,
  serialize,
  serializeText,
  type Edit,
  type Message,
  type MessageReceiver,
  type MessageTransport,
  type OwnMessage,
  type SerializedMessage,
} from '../../wire/index.ts';
import type { ClientConnection } from '../client.ts';
import type { Caller } from './caller.ts';
import type { EventStore } from './event-log.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { UnsentData } from './unsent-data.ts';

/** One client in its own workspace. */
export interface ClientWorkspace {
  readonly client: ClientConnection;
  /** The client disconnected. */
  close(): Promise<void>;
}

/** Shared by all sessions. */
export interface HttpSessionHost {
  readonly open: (
    transport: MessageTransport,
    gatewayPath: readonly string[],
    caller: Caller,
  ) => ClientWorkspace;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  /** Holds events for a replay. */
  readonly events: EventStore;
  /** Turns random text into an id that says which replica owns the session. Default: there are no replicas. */
  readonly ownedId?: (random: string) => string;
  /** The session has ended. */
  readonly left: (session: HttpSession) => void;
}

/** The number of random bytes in a session id, which is a secret of its client. */
const ID_BYTES = 24;
/** The limit for messages that the core has not read yet, in bytes; above it no more are accepted. */
const UNREAD_BYTES = 8 * 1024 * 1024;

/** One HTTP client with a session: the transport between its exchanges and the core. */
export abstract class HttpSession implements MessageTransport {
  readonly id: string;
  /** The caller that opened it. */
  readonly caller: Caller;
  /** Whether initialize has succeeded; until then it does not count as a client. */
  initialized = false;
  protected readonly host: HttpSessionHost;
  protected readonly unsent = new UnsentData();
  readonly #workspace: ClientWorkspace;
  #receiver!: MessageReceiver;
  /** Messages that arrived after the core paused reading; undefined while it reads. */
  #unread: Message[] | undefined;
  #unreadBytes = 0;
  #usedAt = performance.now();
  #closing: Promise<void> | undefined;

  /** `gatewayPath` lists the gateways that its messages come through. */
  constructor(host: HttpSessionHost, caller: Caller, gatewayPath: readonly string[]) {
    this.host = host;
    const random = randomBytes(ID_BYTES).toString('base64url');
    this.id = host.ownedId?.(random) ?? random;
    this.caller = caller;
    // The core sends nothing before the first request, so nothing is delivered during construction.
    this.#workspace = host.open(this, gatewayPath, caller);
  }

  get principal(): string {
    return this.caller.principal;
  }

  /** Whether an exchange or stream is open. */
  protected abstract readonly connected: boolean;
  /** Sends the answer to the request with this id, given as JSON text. */
  protected abstract deliverAnswer(id: string, answer: SerializedMessage, failed: boolean): void;
  /**
   * Sends any other message. `related`: it may belong to any running request of the client. `token` is the token of a
   * progress notification, as JSON text.
   */
  protected abstract deliver(message: SerializedMessage, related: boolean, token?: string): void;
  /** Ends all open exchanges and streams. */
  protected abstract finish(): void;
  /** Does periodic work, such as keep-alives. */
  protected abstract attend(now: number): void;

  get client(): ClientConnection {
    return this.#workspace.client;
  }

  /** The agreed protocol version; undefined before that. */
  get version(): string | undefined {
    return this.client.version;
  }

  /** Takes a message of the client. */
  take(message: Message): void {
    this.#usedAt = performance.now();
    if (this.#unread === undefined) this.#receiver.receive(message);
    else {
      this.#unread.push(message);
      this.#unreadBytes += message.length;
    }
  }

  /** True while the core cannot keep up with the client. */
  get full(): boolean {
    return this.#unreadBytes > UNREAD_BYTES;
  }

  /** How long it has been idle, in milliseconds; 0 while anything is open or running. */
  idleFor(now: number): number {
    if (this.connected || this.client.running > 0) this.#usedAt = now;
    return now - this.#usedAt;
  }

  /** Applies the timeouts. */
  tick(now: number): void {
    const problem = this.unsent.problem(now, this.host.timeouts.stallMs);
    if (problem === undefined) this.attend(now);
    else if (this.#closing === undefined) {
      this.host.log.warn('closed an HTTP session', { why: problem });
      this.unsent.discard();
      void this.close();
    }
  }

  /** Resolves when everything written so far has been sent. */
  flushed(): Promise<void> {
    return this.unsent.flushed();
  }

  /** Ends the session. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.host.left(this);
    this.finish();
    this.#unread = undefined;
    this.unsent.close(this.host.timeouts.stallMs);
    try {
      await this.#workspace.close();
    } catch (error) {
      this.host.log.error('an HTTP session did not close cleanly', { cause: messageOf(error) });
    }
  }

  connect(receiver: MessageReceiver): void {
    this.#receiver = receiver;
  }

  forward(notification: Message, edits: readonly Edit[]): void {
    if (this.#closing !== undefined) return;
    const method = notification.string(Server.method);
    const token =
      method === 'notifications/progress'
        ? editedMember(notification, Server.progressToken, edits)
        : undefined;
    this.deliver(serialize(notification, edits), isRelated(method), token);
  }

  forwardRequest(id: number, request: Message, edits: readonly Edit[]): void {
    if (this.#closing === undefined) this.deliver(serialize(request, edits, id), true);
  }

  forwardAnswer(request: Message, answer: Message, edits: readonly Edit[]): void {
    if (this.#closing !== undefined) return;
    this.deliverAnswer(
      request.requiredText(Client.id),
      serialize(answer, edits, request),
      answer.has(Server.error),
    );
  }

  sendText(json: string, about: OwnMessage): void {
    if (this.#closing !== undefined) return;
    const message = serializeText(json);
    if (about.kind === 'request') this.deliver(message, true);
    else if (about.kind === 'notification') this.deliver(message, isRelated(about.method));
    // The door answers unreadable messages, so there is always an id.
    else if (about.id !== undefined) this.deliverAnswer(about.id, message, about.code !== undefined);
  }

  get backlog(): number {
    return this.unsent.bytes;
  }

  get congested(): boolean {
    return this.unsent.congested;
  }

  whenDrained(listener: () => void): void {
    this.unsent.whenDrained(listener);
  }

  pause(): void {
    this.#unread ??= [];
  }

  resume(): void {
    const unread = this.#unread ?? [];
    this.#unread = undefined;
    this.#unreadBytes = 0;
    // If one of them pauses the session again, the ones after it are queued again.
    for (const message of unread) this.take(message);
  }

  readRareMembers(): void {
    // The door has scanned each message according to its headers.
  }
}

/** Whether a notification may belong to any running request. A cancellation is sent where its request was sent. */
function isRelated(method: string | undefined): boolean {
  return method === 'notifications/message' || method === 'notifications/cancelled';
}
