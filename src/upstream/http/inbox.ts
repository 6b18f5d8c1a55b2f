import type { IncomingMessage } from 'node:http';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import {
  Envelope,
  fromChunks,
  jsonItems,
  Message,
  readMessage,
  type MessageReceiver,
} from '../../wire/index.ts';
import type { SendFailure } from '../transport.ts';
import { ByteCollector, EventStreamParser } from './event-stream.ts';
import { destroyAfter } from './http-request.ts';

export interface MessageEvents {
  message(message: Message): void;
  /** An event that is not a message. `id` is the request of ours that it answers; 0 if that is unknown. */
  invalid(id: number): void;
  /** An event over the size limit: its first and last bytes. */
  oversize(head: Buffer, tail: Buffer): void;
  /** An event of another type than `message`. Default: ignored. */
  other?(type: string, data: Buffer[]): void;
}

export interface WholeBody {
  readonly kind: 'complete' | 'too-large' | 'broken';
  /** What was read, up to the piece that is over the limit. */
  readonly pieces: Buffer[];
}

/** The body of an error response. */
export interface ErrorBody {
  readonly text: string;
  /** The messages in it, if it contains nothing else. */
  readonly messages: readonly Message[];
}

/** The most that is read of the body of an error response, in bytes. */
const ERROR_BODY_BYTES = 256 * 1024;
const ERROR_BODY_TIMEOUT_MS = 2000;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads response bodies, turns them into messages and delivers these. While it is paused, no body is read. */
export class Inbox {
  readonly #messageBytes: number;
  readonly #warn: (message: string) => void;
  readonly #bodies = new Set<IncomingMessage>();
  #receiver: MessageReceiver | undefined;
  #readsRareMembers = false;
  #paused = false;

  /** `messageBytes`: the largest message that is accepted. */
  constructor(messageBytes: number, warn: (message: string) => void) {
    this.#messageBytes = messageBytes;
    this.#warn = warn;
  }

  connect(receiver: MessageReceiver): void {
    this.#receiver = receiver;
  }

  readRareMembers(): void {
    this.#readsRareMembers = true;
  }

  pause(): void {
    this.#paused = true;
    for (const body of this.#bodies) body.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const body of this.#bodies) body.resume();
  }

  /** Delivers nothing from now on. */
  close(): void {
    this.#receiver = undefined;
  }

  /** `requestId` is the request of ours on whose response stream the message arrived. */
  deliver(message: Message, requestId?: number): void {
    this.#receiver?.receive(message, requestId);
  }

  /** The request of this id is not answered. */
  abandon(id: number, failure: SendFailure): void {
    if (id > 0)
      this.#receiver?.abandon(id, failure.kind, failure.kind === 'failed' ? failure.error : undefined);
  }

  /**
   * The messages in a body or in the data of an event: one, or several if the server sends an array of them. Line breaks
   * between tokens become spaces. For anything else, the id of the request of ours that it answers; 0 if that is unknown.
   */
  parse(pieces: readonly Buffer[]): Message[] | number {
    const bare = withoutBom(pieces);
    const read = this.#scan(bare);
    if (read instanceof Message) return isJsonRpc(read) ? [read] : read.integer(Envelope.id);
    if (read.why !== 'not-an-object') return ownId(read.id);
    const text = Buffer.concat(bare).toString().trim();
    const items = text.startsWith('[') ? jsonItems(text).map((item) => this.#scan([Buffer.from(item)])) : [];
    const valid = items.length > 0 && items.every((item) => item instanceof Message && isJsonRpc(item));
    return valid ? (items as Message[]) : 0;
  }

  /**
   * Reads an event stream that continues after the event of the given id. Resolves at its end; `complete` is false if it
   * broke off.
   */
  async readEvents(
    response: IncomingMessage,
    events: MessageEvents,
    lastEventId?: string,
  ): Promise<{ parser: EventStreamParser; complete: boolean }> {
    const parser = new EventStreamParser(this.#messageBytes, {
      event: (type, data) => {
        if (type !== 'message') {
          events.other?.(type, data);
          return;
        }
        const read = this.parse(data);
        if (typeof read === 'number') {
          this.#warn('sent an event that is not a message');
          events.invalid(read);
        } else for (const message of read) events.message(message);
      },
      oversize: (head, tail) => events.oversize(head, tail),
    });
    parser.lastEventId = lastEventId;
    this.#pausable(response);
    return { parser, complete: await readBody(response, (chunk) => parser.push(chunk)) };
  }

  /** Reads a body that is one message. */
  readWhole(response: IncomingMessage): Promise<WholeBody> {
    this.#pausable(response);
    return readUpTo(this.#messageBytes, response);
  }

  /** Reads the body of an error response, as far as it arrives in time; also while the inbox is paused. */
  async readError(response: IncomingMessage): Promise<ErrorBody> {
    destroyAfter(response, ERROR_BODY_TIMEOUT_MS);
    const { pieces } = await readUpTo(ERROR_BODY_BYTES, response);
    const read = this.parse(pieces);
    return { text: Buffer.concat(pieces).toString(), messages: typeof read === 'number' ? [] : read };
  }

  #pausable(response: IncomingMessage): void {
    if (!response.closed) this.#bodies.add(response);
    response.on('close', () => this.#bodies.delete(response));
    if (this.#paused) response.pause();
  }

  #scan(pieces: readonly Buffer[]): ReturnType<typeof readMessage> {
    return readMessage(fromChunks(pieces), SERVER_SHAPE, 'content-length', this.#readsRareMembers);
  }
}

/** Resolves at the end of a body; false if it broke off. */
function readBody(response: IncomingMessage, data: (chunk: Buffer) => void): Promise<boolean> {
  return new Promise((resolve) => {
    response.on('data', data);
    response.on('end', () => resolve(response.complete));
    // After an error as well, for which HttpRequest has a listener.
    response.on('close', () => resolve(false));
    if (response.closed) resolve(false);
  });
}

/** Reads a whole body; stops at the limit, in bytes. */
async function readUpTo(limit: number, response: IncomingMessage): Promise<WholeBody> {
  const collected = new ByteCollector();
  const complete = await readBody(response, (chunk) => {
    if (collected.length <= limit) collected.add(chunk);
    if (collected.length > limit) response.destroy();
  });
  const kind = collected.length > limit ? 'too-large' : complete ? 'complete' : 'broken';
  return { kind, pieces: collected.take() };
}

function isJsonRpc(message: Message): boolean {
  return message.has(Envelope.method) || message.has(Envelope.result) || message.has(Envelope.error);
}

/** An id in JSON as a number, 0 if it cannot be one of ours. */
function ownId(text: string | undefined): number {
  return /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0;
}

/** Some servers write a byte order mark in front of JSON, where it has no meaning. */
function withoutBom(pieces: readonly Buffer[]): readonly Buffer[] {
  const first = pieces[0];
  if (first === undefined || first.length <= BOM.length || !first.subarray(0, BOM.length).equals(BOM))
    return pieces;
  return [first.subarray(BOM.length), ...pieces.slice(1)];
}
