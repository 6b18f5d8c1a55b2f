import type { IncomingMessage } from 'node:http';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import {
  Envelope,
  fromChunks,
  Message,
  readBatch,
  readMessage,
  TurnReader,
  type MessageReceiver,
} from '../../wire/index.ts';
import { Flood, LEAST_LINE } from '../flood.ts';
import type { SendFailure } from '../transport.ts';
import { ByteCollector, EventStreamParser } from './event-stream.ts';
import { destroyAfter } from './http-request.ts';

export interface MessageEvents {
  message(message: Message): void;
  /** An event that is not a message. `id` identifies our request that it answers; 0 if that is unknown. */
  invalid(id: number): void;
  /** An event over the size limit: its first and last bytes. */
  oversize(head: Buffer, tail: Buffer): void;
  /** The server sends too much that is not a message. The rest of the stream is not read. */
  flooded(): void;
  /** An event of a type other than `message`. Default: ignored. */
  other?(type: string, data: Buffer[]): void;
}

export interface WholeBody {
  readonly kind: 'complete' | 'too-large' | 'broken';
  /** What was read, up to the piece that exceeds the limit. */
  readonly pieces: Buffer[];
}

/** The body of an error response. */
export interface ErrorBody {
  readonly text: string;
  /** The messages in it, if it contains nothing else. */
  readonly messages: readonly Message[];
}

interface Pausable {
  pause(): void;
  resume(): void;
}

/** How many lines of an event stream are read before other work gets a turn. */
const LINES_AT_ONCE = 256;
/** The shortest time between two log lines about the same problem, in milliseconds. */
const WARN_INTERVAL = 10_000;
/** The most that is read of an error response's body, in bytes. */
const ERROR_BODY_BYTES = 256 * 1024;
const ERROR_BODY_TIMEOUT_MS = 2000;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** Reads response bodies and delivers the messages in them. While it is paused, no body is read. */
export class Inbox {
  readonly #messageBytes: number;
  readonly #warn: (message: string) => void;
  readonly #bodies = new Set<Pausable>();
  #receiver: MessageReceiver | undefined;
  #readsRareMembers = false;
  #paused = false;
  #warnedAt = -Infinity;

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

  /** Stops delivering. */
  close(): void {
    this.#receiver = undefined;
  }

  /** `requestId` identifies our request on whose response stream the message arrived. */
  deliver(message: Message, requestId?: number): void {
    this.#receiver?.receive(message, requestId);
  }

  /** Reports that the request with this id will not be answered. */
  abandon(id: number, failure: SendFailure): void {
    if (id > 0)
      this.#receiver?.abandon(id, failure.kind, failure.kind === 'failed' ? failure.error : undefined);
  }

  /**
   * The messages in a body or in the data of an event: one, or several if the server sends an array. Line breaks
   * between tokens become spaces. For anything else, the id of our request that it answers; 0 if that is unknown.
   */
  parse(pieces: readonly Buffer[]): Message[] | number {
    const bare = withoutBom(pieces);
    const read = this.#scan(bare);
    if (read instanceof Message) return isJsonRpc(read) ? [read] : read.integer(Envelope.id);
    if (read.why !== 'not-an-object') return ownId(read.id);
    const items = readBatch(Buffer.concat(bare).toString()) ?? [];
    const messages: Message[] = [];
    for (const item of items) {
      const each = this.#scan([Buffer.from(item)]);
      if (!(each instanceof Message) || !isJsonRpc(each)) return 0;
      messages.push(each);
    }
    return messages.length > 0 ? messages : 0;
  }

  /**
   * Reads an event stream that continues after the event with the given id. Resolves when it ends; `complete` is false
   * if it was cut off.
   */
  async readEvents(
    response: IncomingMessage,
    events: MessageEvents,
    lastEventId?: string,
  ): Promise<{ parser: EventStreamParser; complete: boolean }> {
    const flood = new Flood();
    let isFlooded = false;
    const waste = (bytes: number): void => {
      if (isFlooded || !flood.add(bytes)) return;
      isFlooded = true;
      this.#warn('sent too much that is not a message');
      events.flooded();
      response.destroy();
    };
    const parser = new EventStreamParser(this.#messageBytes, {
      event: (type, data) => {
        if (type !== 'message') {
          events.other?.(type, data);
          waste(LEAST_LINE);
          return;
        }
        const read = this.parse(data);
        if (typeof read === 'number') {
          this.#warnInvalid();
          events.invalid(read);
          waste(data.reduce((sum, piece) => sum + piece.length, LEAST_LINE));
        } else for (const message of read) events.message(message);
      },
      oversize: (head, tail) => events.oversize(head, tail),
      waste,
    });
    parser.lastEventId = lastEventId;
    const reader = new TurnReader(response, (chunk, from) =>
      isFlooded ? chunk.length : parser.push(chunk, from, LINES_AT_ONCE),
    );
    this.#pausable(response, reader);
    const complete = await ended(response);
    await new Promise<void>((resolve) => reader.whenRead(resolve));
    return { parser, complete };
  }

  /** Limits the log lines for a server that sends many invalid messages. */
  #warnInvalid(): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_INTERVAL) return;
    this.#warnedAt = now;
    this.#warn('sent an event that is not a message');
  }

  /** Reads a body that is a single message. */
  readWhole(response: IncomingMessage): Promise<WholeBody> {
    this.#pausable(response);
    return readUpTo(this.#messageBytes, response);
  }

  /** Reads the body of an error response, as far as it arrives in time. Works while the inbox is paused. */
  async readError(response: IncomingMessage): Promise<ErrorBody> {
    destroyAfter(response, ERROR_BODY_TIMEOUT_MS);
    const { pieces } = await readUpTo(ERROR_BODY_BYTES, response);
    const read = this.parse(pieces);
    return { text: Buffer.concat(pieces).toString(), messages: typeof read === 'number' ? [] : read };
  }

  #pausable(response: IncomingMessage, reader: Pausable = response): void {
    if (!response.closed) this.#bodies.add(reader);
    response.on('close', () => this.#bodies.delete(reader));
    if (this.#paused) reader.pause();
  }

  #scan(pieces: readonly Buffer[]): ReturnType<typeof readMessage> {
    return readMessage(fromChunks(pieces), SERVER_SHAPE, 'content-length', this.#readsRareMembers);
  }
}

/** Resolves at the end of a body; false if it was cut off. */
function ended(response: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    response.on('end', () => resolve(response.complete));
    // Also emitted after an error, which HttpRequest listens for.
    response.on('close', () => resolve(false));
    if (response.closed) resolve(false);
  });
}

/** Reads a whole body, up to the limit in bytes. */
async function readUpTo(limit: number, response: IncomingMessage): Promise<WholeBody> {
  const collected = new ByteCollector();
  response.on('data', (chunk: Buffer) => {
    if (collected.length <= limit) collected.add(chunk);
    if (collected.length > limit) response.destroy();
  });
  const complete = await ended(response);
  const kind = collected.length > limit ? 'too-large' : complete ? 'complete' : 'broken';
  return { kind, pieces: collected.take() };
}

function isJsonRpc(message: Message): boolean {
  return message.has(Envelope.method) || message.has(Envelope.result) || message.has(Envelope.error);
}

/** A JSON id as a number; 0 if it cannot be one of ours. */
function ownId(text: string | undefined): number {
  return /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : 0;
}

/** Some servers write a byte order mark before JSON, where it has no meaning. */
function withoutBom(pieces: readonly Buffer[]): readonly Buffer[] {
  const first = pieces[0];
  if (first === undefined || first.length <= BOM.length || !first.subarray(0, BOM.length).equals(BOM))
    return pieces;
  return [first.subarray(BOM.length), ...pieces.slice(1)];
}
