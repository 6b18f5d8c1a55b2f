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
import { EventStreamParser } from './event-stream.ts';
import { ResponseBodies } from './response-bodies.ts';

/** Undelivered messages beyond which no body is read while the inbox is paused, in bytes. */
const UNDELIVERED_BYTES = 256 * 1024;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** A body or an event that is not a JSON-RPC message. */
export interface InvalidMessage {
  /** The request of ours that it answers; 0 if that is unknown. */
  readonly id: number;
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

/** Turns response bodies and events into messages and delivers them to the receiver. */
export class Inbox {
  readonly bodies = new ResponseBodies();
  readonly #messageBytes: number;
  #receiver: MessageReceiver | undefined;
  #readsRareMembers = false;
  #paused = false;
  #undelivered: { readonly message: Message; readonly requestId: number | undefined }[] = [];
  #undeliveredBytes = 0;

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
  }

  resume(): void {
    this.#paused = false;
    this.#deliverWaiting();
  }

  /** Delivers nothing from now on. */
  close(): void {
    this.#receiver = undefined;
    this.#undelivered = [];
  }

  /** `requestId` is the request of ours on whose response stream the message arrived. */
  deliver(message: Message, requestId?: number): void {
    if (!this.#paused) {
      this.#receiver?.receive(message, requestId);
      return;
    }
    this.#undelivered.push({ message, requestId });
    this.#undeliveredBytes += message.length;
    if (this.#undeliveredBytes > UNDELIVERED_BYTES) this.bodies.pause();
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
    this.bodies.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: (complete) => events.ended(stream, complete),
    });
  }

  /** Stops early if the receiver pauses again. */
  #deliverWaiting(): void {
    while (!this.#paused) {
      const next = this.#undelivered.shift();
      if (next === undefined) {
        this.bodies.resume();
        return;
      }
      this.#undeliveredBytes -= next.message.length;
      this.#receiver?.receive(next.message, next.requestId);
    }
  }

  #scan(pieces: readonly Buffer[]): ReturnType<typeof readMessage> {
    return readMessage(fromChunks(pieces), SERVER_SHAPE, 'content-length', this.#readsRareMembers);
  }
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
