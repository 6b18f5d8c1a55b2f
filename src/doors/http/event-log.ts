import { RpcCode } from '../../wire/index.ts';

/** A position on a stream: `3-17` is event 17 of stream 3. */
export interface Cursor {
  readonly stream: number;
  readonly event: number;
}

interface LoggedEvent extends Cursor {
  readonly log: EventLog;
  readonly bytes: Buffer;
  /** When it was sent, on the performance clock. */
  readonly at: number;
  /** The id of the request that it answers, as JSON text; an answer ends the stream. */
  readonly answers: string | undefined;
}

/** An answer that was sent and cannot be replayed. */
interface LostAnswer extends Cursor {
  readonly id: string;
}

const MAX_EVENTS = 256;
const MAX_LOST = 100;
/** Larger events are not kept. */
export const MAX_EVENT_BYTES = 2 * 1024 * 1024;

/** The latest events of one client, to replay them if it loses its connection. */
export class EventLog {
  readonly #store: EventStore;
  #events: LoggedEvent[] = [];
  readonly #lost: LostAnswer[] = [];
  #bytes = 0;
  #last = 0;

  constructor(store: EventStore) {
    this.#store = store;
  }

  /**
   * The number of the next event. Events are numbered across all streams of a client, so that no number is used twice.
   */
  next(): number {
    return ++this.#last;
  }

  /** `answers` is the id of the request that this event answers, as JSON text. */
  add({ stream, event }: Cursor, bytes: Buffer, answers?: string): void {
    const logged = { stream, event, bytes, answers, at: performance.now(), log: this };
    this.#events.push(logged);
    this.#bytes += bytes.length;
    this.#store.add(logged);
    while (this.#events.length > MAX_EVENTS || this.#bytes > MAX_EVENT_BYTES) this.dropOldest();
  }

  /** Records an answer that cannot be kept: a client that resumes the stream gets an error instead. */
  lose({ stream, event }: Cursor, id: string): void {
    this.#lost.push({ stream, event, id });
    if (this.#lost.length > MAX_LOST) this.#lost.shift();
  }

  dropOldest(): void {
    const oldest = this.#events.shift();
    if (oldest !== undefined) this.#dropped(oldest);
  }

  /** Drops events sent before this time on streams that are not open. */
  dropBefore(time: number, isOpen: (stream: number) => boolean): void {
    const [oldest] = this.#events;
    if (oldest === undefined || oldest.at >= time) return;
    const old = new Set(this.#events.filter(({ at, stream }) => at < time && !isOpen(stream)));
    if (old.size === 0) return;
    this.#events = this.#events.filter((event) => !old.has(event));
    for (const event of old) this.#dropped(event);
  }

  /** The client disconnected. */
  clear(): void {
    for (const event of this.#events) this.#store.remove(event);
    this.#events = [];
    this.#lost.length = 0;
    this.#bytes = 0;
  }

  /** The events of the stream after this one, as they were sent, with an error for each lost answer. */
  after({ stream, event }: Cursor): Buffer[] {
    const isBehind = (cursor: Cursor): boolean => cursor.stream === stream && cursor.event > event;
    return [
      ...this.#events.filter(isBehind).map(({ bytes }) => bytes),
      ...this.#lost.filter(isBehind).map(lostAnswerEvent),
    ];
  }

  #dropped(event: LoggedEvent): void {
    this.#bytes -= event.bytes.length;
    this.#store.remove(event);
    if (event.answers !== undefined) this.lose(event, event.answers);
  }
}

/** The lines of an event before its message. */
export function eventHead(cursor: Cursor): string {
  return `id: ${cursorText(cursor)}\nevent: message\ndata: `;
}

export function cursorText({ stream, event }: Cursor): string {
  return `${stream}-${event}`;
}

/** Parses a Last-Event-ID; undefined if it is not one of ours. */
export function readCursor(text: string | undefined): Cursor | undefined {
  const parts = text === undefined ? null : /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return parts === null ? undefined : { stream: Number(parts[1]), event: Number(parts[2]) };
}

const LOST = JSON.stringify({
  code: RpcCode.serverError,
  message:
    'The response arrived while the connection was down and was too large or too old to keep. ' +
    'Send the request again if it is safe to run twice.',
});

function lostAnswerEvent({ id, ...cursor }: LostAnswer): Buffer {
  return Buffer.from(`${eventHead(cursor)}{"jsonrpc":"2.0","id":${id},"error":${LOST}}\n\n`);
}

/**
 * The events of all clients, oldest first. Above the limit, the oldest event is dropped, whichever client it belongs
 * to.
 */
export class EventStore {
  readonly #mostBytes: number;
  readonly #events = new Set<LoggedEvent>();
  #bytes = 0;

  constructor(mostBytes = 64 * 1024 * 1024) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(event: LoggedEvent): void {
    this.#events.add(event);
    this.#bytes += event.bytes.length;
    for (const oldest of this.#events) {
      if (this.#bytes <= this.#mostBytes) break;
      oldest.log.dropOldest();
    }
  }

  /** An event was dropped from its log. */
  remove(event: LoggedEvent): void {
    if (this.#events.delete(event)) this.#bytes -= event.bytes.length;
  }
}
