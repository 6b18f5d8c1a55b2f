import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { isJsonObject, Server } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import { BACKED_UP_BYTES, BytePipe } from './byte-pipe.ts';
import type { EventStore } from './event-store.ts';
import type { HttpTimeouts } from './timeouts.ts';
import { isDisconnected } from './reply.ts';

/** One client, connected to the core. */
export interface ClientConnection {
  /** The number of running requests. */
  readonly running: number;
  /** Resolves when no request is running. */
  idle(): Promise<void>;
  /** Answers the running requests with an error. */
  failAll(): void;
  /** The client disconnected. */
  close(): Promise<void>;
}

/** Shared by all sessions. */
export interface HttpSessionHost {
  readonly open: (input: Readable, output: Writable, gatewayPath: readonly string[]) => ClientConnection;
  readonly log: Logger;
  readonly timeouts: HttpTimeouts;
  /** Holds events for a replay. */
  readonly events: EventStore;
  /** The session has ended. */
  readonly left: (session: HttpSession) => void;
}

const MIB = 1024 * 1024;
/** The limit for unsent data of one client: 16 MiB, and one message of the largest size. */
const WAITING_BYTES = 32 * MIB;
/** Random bytes in the id of a session, which is a secret of its client. */
const ID_BYTES = 24;

/** One HTTP client with a session: its connection to the core, and its unsent data. */
export abstract class HttpSession {
  readonly id = randomBytes(ID_BYTES).toString('base64url');
  readonly client: ClientConnection;
  /** Whether initialize has succeeded; before that it does not count as a client. */
  initialized = false;
  /** The protocol version that was agreed on; undefined before that. */
  version: string | undefined;
  protected readonly host: HttpSessionHost;
  readonly #pipe: BytePipe;
  /** Responses with unsent data. */
  readonly #writing = new Set<ServerResponse>();
  #given = 0;
  #taken = 0;
  #takenAt = performance.now();
  #usedAt = performance.now();
  #closing: Promise<void> | undefined;

  /** `gatewayPath` lists the gateways that its messages come through. */
  constructor(host: HttpSessionHost, gatewayPath: readonly string[]) {
    this.host = host;
    this.#pipe = new BytePipe({
      line: (message) => {
        if (this.#closing === undefined) this.deliver(message);
      },
      broken: (why) => this.#giveUp(why),
    });
    // The core is silent until the first request, so nothing is delivered during construction.
    this.client = host.open(this.#pipe.input, this.#pipe.output, gatewayPath);
  }

  /** Whether an exchange or a stream is open. */
  protected abstract readonly connected: boolean;
  /** Sends a message of the core to the client. */
  protected abstract deliver(message: Message): void;
  /** Ends what is open. */
  protected abstract finish(): void;
  /** Checks for due work, such as keep-alives. */
  protected abstract attend(now: number): void;

  /** A message of the client. */
  take(message: Message): void {
    this.#usedAt = performance.now();
    this.#pipe.take(message);
  }

  /** True while the core does not keep up with the client. */
  get full(): boolean {
    return this.#pipe.full;
  }

  /** How long it has been idle, in milliseconds; 0 while something is open or running. */
  idleFor(now: number): number {
    if (this.connected || this.client.running > 0) this.#usedAt = now;
    return now - this.#usedAt;
  }

  /** Applies the timeouts. */
  tick(now: number): void {
    const waiting = this.#waiting();
    const taken = this.#given - waiting;
    if (waiting <= BACKED_UP_BYTES || taken > this.#taken) this.#takenAt = now;
    this.#taken = taken;
    if (now - this.#takenAt > this.host.timeouts.stallMs) this.#giveUp('it does not read its messages');
    else if (waiting + this.#pipe.output.writableLength > WAITING_BYTES) this.#giveUp(TOO_MUCH);
    else this.attend(now);
  }

  /** Resolves when all output of the core so far is sent. */
  async flushed(): Promise<void> {
    const { output } = this.#pipe;
    if (!output.destroyed) await new Promise((resolve) => output.write('', resolve));
    const unsent = [...this.#writing].filter(({ writableLength }) => writableLength > 0);
    await Promise.all(unsent.map((response) => relief(response)));
  }

  /** Ends the session. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** To be called after every write to the client. */
  protected readonly sent = (response: ServerResponse, bytes: number): void => {
    this.#given += bytes;
    if (response.writableLength === 0) return;
    if (!this.#writing.has(response)) {
      this.#writing.add(response);
      response.on('close', () => this.#writing.delete(response));
    }
    this.#pipe.waitFor(response);
  };

  async #close(): Promise<void> {
    this.host.left(this);
    this.finish();
    try {
      await this.client.close();
    } catch (error) {
      this.host.log.error('an HTTP session did not close cleanly', { cause: messageOf(error) });
    }
    this.#pipe.close();
    for (const response of this.#writing) destroyLater(response, this.host.timeouts.stallMs);
  }

  #waiting(): number {
    let waiting = 0;
    for (const response of this.#writing) {
      if (isDisconnected(response)) this.#writing.delete(response);
      else waiting += response.writableLength;
    }
    return waiting;
  }

  #giveUp(why: string): void {
    if (this.#closing !== undefined) return;
    this.host.log.warn('closed an HTTP session', { why });
    for (const response of this.#writing) response.destroy();
    void this.close();
  }
}

/** The protocol version in the answer to initialize. */
export function versionIn(answer: Message): string | undefined {
  const result = answer.value(Server.result);
  const version = isJsonObject(result) ? result.protocolVersion : undefined;
  return typeof version === 'string' ? version : undefined;
}

const TOO_MUCH = 'too much data is waiting for it';

/** Resolves when a response has drained, finished or closed. */
function relief(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.on('drain', resolve).on('finish', resolve).on('close', resolve);
  });
}

/** A client that does not read the rest loses its connection. */
function destroyLater(response: ServerResponse, ms: number): void {
  const timer = setTimeout(() => response.destroy(), ms);
  timer.unref();
  response.on('close', () => clearTimeout(timer));
}
