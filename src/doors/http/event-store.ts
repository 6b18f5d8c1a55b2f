/** One event as it is kept, and the log that has it. */
export interface StoredEvent {
  readonly bytes: Buffer;
  readonly log: { dropOldest(): void };
}

/** The events of all clients, oldest first. Over the limit, the oldest is dropped, whichever client it belongs to. */
export class EventStore {
  readonly #mostBytes: number;
  readonly #events = new Set<StoredEvent>();
  #bytes = 0;

  constructor(mostBytes = 64 * 1024 * 1024) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(event: StoredEvent): void {
    this.#events.add(event);
    this.#bytes += event.bytes.length;
    while (this.#bytes > this.#mostBytes) this.#oldest()!.log.dropOldest();
  }

  /** A log has it no longer. */
  remove(event: StoredEvent): void {
    if (this.#events.delete(event)) this.#bytes -= event.bytes.length;
  }

  #oldest(): StoredEvent | undefined {
    for (const event of this.#events) return event;
    return undefined;
  }
}
