/** Where a client was on a stream: `3-17` is event 17 on stream 3. */
export interface Cursor {
  readonly stream: number;
  readonly event: number;
}

const MOST_EVENTS = 256;
/** A larger event is not kept. */
export const MOST_BYTES = 2 * 1024 * 1024;

/** The events that one client was sent last, so that it can have them again when it lost its connection. */
export class EventLog {
  readonly #events: (Cursor & { readonly bytes: Buffer })[] = [];
  #bytes = 0;
  #last = 0;

  /** The number of the next event. Numbers count up over all streams of a client, so none is used twice. */
  next(): number {
    return ++this.#last;
  }

  add(cursor: Cursor, bytes: Buffer): void {
    this.#events.push({ ...cursor, bytes });
    this.#bytes += bytes.length;
    while (this.#events.length > MOST_EVENTS || this.#bytes > MOST_BYTES)
      this.#bytes -= this.#events.shift()!.bytes.length;
  }

  /** What came on that stream behind that event, as it was sent. */
  after({ stream, event }: Cursor): Buffer[] {
    return this.#events
      .filter((logged) => logged.stream === stream && logged.event > event)
      .map(({ bytes }) => bytes);
  }
}

export function cursorText({ stream, event }: Cursor): string {
  return `${stream}-${event}`;
}

/** Reads what a client gives as the last event that it saw; undefined for what we never said. */
export function readCursor(text: string | undefined): Cursor | undefined {
  const parts = text === undefined ? null : /^(\d{1,15})-(\d{1,15})$/.exec(text);
  return parts === null ? undefined : { stream: Number(parts[1]), event: Number(parts[2]) };
}
