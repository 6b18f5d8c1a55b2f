import type { ServerResponse } from 'node:http';
import { viewsOf, type Message } from '../../wire/index.ts';
import { cursorText, eventHead, MAX_EVENT_BYTES, type EventLog } from './event-log.ts';
import { EVENTS_TYPE } from './media.ts';

export interface ResumableStreamOptions {
  /** Its number among the streams of its session. */
  readonly number: number;
  readonly log: EventLog;
  /** Whether it begins with an event without data, from which a client can resume before anything has happened. */
  readonly primes: boolean;
  /** Called after every write. */
  readonly sent: (response: ServerResponse, bytes: number) => void;
}

/**
 * One event stream to a client. It outlives the response that carries it: events sent without one are replayed on
 * resume.
 */
export class ResumableStream {
  readonly number: number;
  readonly #options: ResumableStreamOptions;
  #response: ServerResponse | undefined;
  #sentAt = 0;

  constructor(options: ResumableStreamOptions) {
    this.number = options.number;
    this.#options = options;
  }

  /** Whether a client is connected to it. */
  get attached(): boolean {
    return this.#response !== undefined;
  }

  /** Continues on this response and ends an earlier one. `after` is the event that the client saw last. */
  attach(response: ServerResponse, after?: number): void {
    const { log, primes, number } = this.#options;
    this.#response?.end();
    this.#response = response;
    response.on('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    beginEvents(response);
    this.#sentAt = performance.now();
    const missed = after === undefined ? [] : log.after({ stream: number, event: after });
    for (const event of missed) this.#write(event);
    // Also on a resume with nothing missed: a client without an event id of this connection forgets the stream.
    if (primes && missed.length === 0)
      this.#write(`id: ${cursorText({ stream: number, event: log.next() })}\ndata: \n\n`);
  }

  /** `answers` is the id of the request that this is the answer to, as JSON text. */
  send(message: Message, answers?: string): void {
    const { log, number } = this.#options;
    const cursor = { stream: number, event: log.next() };
    const head = Buffer.from(eventHead(cursor));
    if (message.length + OVERHEAD <= MAX_EVENT_BYTES) {
      const event = joined(head, message);
      log.add(cursor, event, answers);
      this.#write(event);
      return;
    }
    // Even while the client is connected: it may lose its connection in the middle.
    if (answers !== undefined) log.lose(cursor, answers);
    if (this.#response) writeInPieces(this.#response, head, message, this.#options.sent);
  }

  /** Sends a comment after this much silence. */
  keepAlive(now: number, ms: number): void {
    if (this.#response === undefined || now - this.#sentAt < ms) return;
    // Unsent data is enough of a sign of life.
    if (this.#response.writableLength === 0) this.#write(COMMENT);
  }

  end(): void {
    this.#response?.end();
    this.#response = undefined;
  }

  #write(event: Buffer | string): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#sentAt = performance.now();
    response.write(event);
    this.#options.sent(response, event.length);
  }
}

/** Sends the headers of an event stream. */
export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, EVENT_HEADERS);
  response.flushHeaders();
}

/** A message as one event, in as few copies as its size allows. */
export function writeEvent(
  response: ServerResponse,
  message: Message,
  sent: ResumableStreamOptions['sent'],
): void {
  const head = Buffer.from(MESSAGE_HEAD);
  if (message.length >= JOIN_BELOW) {
    writeInPieces(response, head, message, sent);
    return;
  }
  const event = joined(head, message);
  response.write(event);
  sent(response, event.length);
}

export const COMMENT = ':\n\n';

const EVENT_HEADERS = {
  'Content-Type': EVENTS_TYPE,
  'Cache-Control': 'no-cache',
  // Proxies would buffer the events otherwise.
  'X-Accel-Buffering': 'no',
};
const MESSAGE_HEAD = 'event: message\ndata: ';
const TAIL = Buffer.from('\n\n');
/** Room for the lines around a message in an event. */
const OVERHEAD = 64;
const JOIN_BELOW = 64 * 1024;

function joined(head: Buffer, { bytes }: Message): Buffer {
  return Buffer.concat([head, ...viewsOf(bytes, bytes.from, bytes.to), TAIL]);
}

function writeInPieces(
  response: ServerResponse,
  head: Buffer,
  { bytes, length }: Message,
  sent: ResumableStreamOptions['sent'],
): void {
  response.cork();
  response.write(head);
  for (const view of viewsOf(bytes, bytes.from, bytes.to)) response.write(view);
  response.write(TAIL);
  response.uncork();
  sent(response, length);
}
