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
import { ByteCollector } from './byte-collector.ts';
import { EventStreamParser } from './event-stream.ts';

/** A body or an event that is not a JSON-RPC message. */
export interface InvalidMessage {
  /** The request of ours that it answers; 0 if that is unknown. */
  readonly id: number;
}

export interface WholeBody {
  readonly kind: 'complete' | 'too-large' | 'broken';
  /** What was read, within the limit. */
  readonly pieces: Buffer[];
}

export interface MessageEvents {
  message(message: Message): void;
  /** An event that is not a message; `id` as in InvalidMessage. */
  invalid(id: number): void;
  /** An event over the size limit: its first and last bytes. */
  oversize(head: Buffer, tail: Buffer): void;
  /** An event of another type than `message`. Default: ignored. */
  other?(type: string, data: Buffer[]): void;
  /** The stream is over; `complete` is false if it broke off. Called once. */
  ended(stream: EventStreamParser, complete: boolean): void;
}

/** The most that is read of the body of an error response, in bytes. */
const ERROR_BODY_BYTES = 256 * 1024;
const ERROR_BODY_TIMEOUT_MS = 2000;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads response bodies, turns them into messages and delivers these. While it is paused, no body is read. */
export class Inbox {
  readonly #messageBytes: number;
  readonly #bodies = new Set<IncomingMessage>();
  #receiver: MessageReceiver | undefined;
  #readsRareMembers = false;
  #paused = false;

  /** `messageBytes`: the largest message that is accepted. */
  constructor(messageBytes: number) {
    this.#messageBytes = messageBytes;
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

  /**
   * The messages in a body or in the data of an event: one, or several if the server sends an array of them. Line breaks
   * between tokens become spaces.
   */
  parse(pieces: readonly Buffer[]): Message[] | InvalidMessage {
    const bare = withoutBom(pieces);
    const read = this.#scan(bare);
    if (read instanceof Message) return isJsonRpc(read) ? [read] : { id: read.integer(Envelope.id) };
    if (read.why !== 'not-an-object') return { id: ownId(read.id) };
    const text = Buffer.concat(bare).toString().trim();
    const items = text.startsWith('[') ? jsonItems(text).map((item) => this.#scan([Buffer.from(item)])) : [];
    const valid = items.length > 0 && items.every((item) => item instanceof Message && isJsonRpc(item));
    return valid ? (items as Message[]) : { id: 0 };
  }

  /** Reads an event stream that continues after the event of the given id. */
  readEvents(response: IncomingMessage, lastEventId: string | undefined, events: MessageEvents): void {
    const stream = new EventStreamParser(this.#messageBytes, {
      event: (type, data) => {
        if (type !== 'message') {
          events.other?.(type, data);
          return;
        }
        const read = this.parse(data);
        if (Array.isArray(read)) for (const message of read) events.message(message);
        else events.invalid(read.id);
      },
      oversize: (head, tail) => events.oversize(head, tail),
    });
    stream.lastEventId = lastEventId;
    this.#pausable(response);
    readBody(
      response,
      (chunk) => stream.push(chunk),
      (complete) => events.ended(stream, complete),
    );
  }

  /** Reads a body that is one message. */
  readWhole(response: IncomingMessage, done: (body: WholeBody) => void): void {
    this.#pausable(response);
    readUpTo(this.#messageBytes, response, done);
  }

  /** Reads the body of an error response, as far as it arrives in time; also while the inbox is paused. */
  readError(response: IncomingMessage, done: (pieces: Buffer[]) => void): void {
    const timer = setTimeout(() => response.destroy(), ERROR_BODY_TIMEOUT_MS);
    readUpTo(ERROR_BODY_BYTES, response, ({ pieces }) => {
      clearTimeout(timer);
      done(pieces);
    });
  }

  #pausable(response: IncomingMessage): void {
    this.#bodies.add(response);
    response.on('close', () => this.#bodies.delete(response));
    if (this.#paused) response.pause();
  }

  #scan(pieces: readonly Buffer[]): ReturnType<typeof readMessage> {
    return readMessage(fromChunks(pieces), SERVER_SHAPE, 'content-length', this.#readsRareMembers);
  }
}

/** `ended` is called once; `complete` is false if the body broke off. */
function readBody(
  response: IncomingMessage,
  data: (chunk: Buffer) => void,
  ended: (complete: boolean) => void,
): void {
  let over = false;
  const end = (complete: boolean): void => {
    if (over) return;
    over = true;
    ended(complete);
  };
  response.on('data', (chunk: Buffer) => {
    if (!over) data(chunk);
  });
  response.on('end', () => end(response.complete));
  // After an error as well, for which HttpRequest has a listener.
  response.on('close', () => end(false));
}

/** Reads a whole body; stops at the limit, in bytes. */
function readUpTo(limit: number, response: IncomingMessage, done: (body: WholeBody) => void): void {
  const collected = new ByteCollector();
  let tooLarge = false;
  readBody(
    response,
    (chunk) => {
      if (tooLarge) return;
      tooLarge = collected.length + chunk.length > limit;
      if (tooLarge) response.destroy();
      else collected.add(chunk);
    },
    (complete) => {
      const kind = tooLarge ? 'too-large' : complete ? 'complete' : 'broken';
      done({ kind, pieces: collected.take() });
    },
  );
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
