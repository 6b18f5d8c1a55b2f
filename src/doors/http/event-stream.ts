import type { ServerResponse } from 'node:http';
import type { SerializedMessage } from '../../wire/index.ts';
import { cursorText, eventHead, MAX_EVENT_BYTES, type EventLog } from './event-log.ts';
import { EVENTS_TYPE } from './media.ts';
import type { UnsentData } from './unsent-data.ts';

/** Allows a client to resume a stream. */
export interface StreamHistory {
  /** The number of the stream among those of its session. */
  readonly number: number;
  readonly log: EventLog;
  /** Whether it starts with an event without data, so that a client can resume it even if nothing else was sent. */
  readonly primes: boolean;
}

/**
 * One event stream to a client. With a history, its events have ids and it outlives the response that carries it:
 * events sent while there is no response are replayed on resume.
 */
export class EventStream {
  readonly #unsent: UnsentData;
  readonly #history: StreamHistory | undefined;
  #response: ServerResponse | undefined;
  #sentAt = 0;
  #requests: number;

  /** `requests` is the number of requests it carries answers for; it ends with the last answer. */
  constructor(unsent: UnsentData, history?: StreamHistory, requests = 1) {
    this.#unsent = unsent;
    this.#history = history;
    this.#requests = requests;
  }

  get number(): number | undefined {
    return this.#history?.number;
  }

  /** Whether a client is connected to it. */
  get attached(): boolean {
    return this.#response !== undefined;
  }

  /** Continues on this response and ends the previous one. `after` is the last event that the client saw. */
  attach(response: ServerResponse, after?: number): void {
    this.#response?.end();
    this.#response = response;
    response.on('close', () => {
      if (this.#response === response) this.#response = undefined;
    });
    beginEvents(response);
    this.#sentAt = performance.now();
    if (this.#history) this.#catchUp(this.#history, after);
  }

  #catchUp({ log, number, primes }: StreamHistory, after: number | undefined): void {
    const missed = after === undefined ? [] : log.after({ stream: number, event: after });
    for (const event of missed) this.write(event);
    // Needed even if nothing was missed: a client without an event id on this connection forgets the stream.
    if (primes && missed.length === 0)
      this.write(`id: ${cursorText({ stream: number, event: log.next() })}\ndata: \n\n`);
  }

  /** `answers` is the id of the request that this message answers, as JSON text. */
  send(message: SerializedMessage, answers?: string): void {
    if (this.#history) this.#sendResumable(message, this.#history, answers);
    else if (message.length < JOIN_BELOW) this.write(joined(MESSAGE_HEAD, message));
    else this.#writeInPieces(MESSAGE_HEAD, message);
  }

  #sendResumable(
    message: SerializedMessage,
    { log, number }: StreamHistory,
    answers: string | undefined,
  ): void {
    const cursor = { stream: number, event: log.next() };
    const head = Buffer.from(eventHead(cursor));
    if (message.length + OVERHEAD <= MAX_EVENT_BYTES) {
      const event = joined(head, message);
      log.add(cursor, event, answers);
      this.write(event);
      return;
    }
    // Even while the client is connected: it may lose its connection halfway.
    if (answers !== undefined) log.lose(cursor, answers);
    this.#writeInPieces(head, message);
  }

  /** Sends a comment if nothing was sent for this long. */
  keepAlive(now: number, ms: number): void {
    if (this.#response === undefined || now - this.#sentAt < ms) return;
    // Waiting data is enough of a sign of life.
    if (this.#response.writableLength === 0) this.write(COMMENT);
  }

  /** One of its requests gets no further messages. */
  end(): void {
    if (--this.#requests > 0) return;
    this.#response?.end();
    this.#response = undefined;
  }

  /** Writes events as they are, if a client is connected. */
  write(events: Buffer | string): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#sentAt = performance.now();
    response.write(events);
    this.#unsent.sent(response, events.length);
  }

  #writeInPieces(head: Buffer, { pieces, length }: SerializedMessage): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#sentAt = performance.now();
    response.cork();
    response.write(head);
    for (const piece of pieces) response.write(piece);
    response.write(TAIL);
    response.uncork();
    this.#unsent.sent(response, length);
  }
}

/** Sends the headers of an event stream. */
export function beginEvents(response: ServerResponse): void {
  response.writeHead(200, EVENT_HEADERS);
  response.flushHeaders();
}

const COMMENT = ':\n\n';

const EVENT_HEADERS = {
  'Content-Type': EVENTS_TYPE,
  'Cache-Control': 'no-cache',
  // Proxies would buffer the events otherwise.
  'X-Accel-Buffering': 'no',
};
const MESSAGE_HEAD = Buffer.from('event: message\ndata: ');
const TAIL = Buffer.from('\n\n');
/** Room for the lines around a message in an event. */
const OVERHEAD = 64;
const JOIN_BELOW = 64 * 1024;

function joined(head: Buffer, { pieces }: SerializedMessage): Buffer {
  return Buffer.concat([head, ...pieces, TAIL]);
}
