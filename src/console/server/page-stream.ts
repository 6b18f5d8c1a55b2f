import type { ServerResponse } from 'node:http';
import type { ConsoleEvent, Topic } from '../protocol.ts';

/** Changes within this time are sent together, in milliseconds: at most ten batches a second. */
const COALESCE_MS = 100;
/** A page with this many unread bytes gets nothing more until it has read them, and then a new snapshot. */
const MOST_UNREAD = 4 * 1024 * 1024;
/** How often something is sent, in milliseconds, so that both sides notice a lost connection. */
const ALIVE_MS = 15_000;
/** How many calls and lines are sent in one batch. */
const MOST_CALLS = 1000;
const MOST_LINES = 1000;

/** The stream of events to one page. */
export class PageStream {
  readonly id: string;
  topics: ReadonlySet<Topic> = new Set();
  readonly #response: ServerResponse;
  readonly #snapshot: () => ConsoleEvent;
  readonly #alive: NodeJS.Timeout;
  /** The events to send; a newer event replaces an earlier one with the same key. */
  #pending = new Map<string, ConsoleEvent>();
  /** Calls that the page knows to be running, so that it must be told when they end. */
  readonly #running = new Set<string>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #stalled = false;

  constructor(id: string, response: ServerResponse, snapshot: () => ConsoleEvent) {
    this.id = id;
    this.#response = response;
    this.#snapshot = snapshot;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    this.#alive = setInterval(() => this.#write(': alive\n\n'), ALIVE_MS).unref();
    response.on('drain', () => this.#drained());
    response.on('close', () => {
      clearInterval(this.#alive);
      clearTimeout(this.#timer);
    });
  }

  /** Sends the current state. */
  begin(): void {
    this.#pending.clear();
    const snapshot = this.#snapshot();
    if (snapshot.type === 'snapshot')
      for (const call of snapshot.state.calls) this.#note({ type: 'call', call });
    this.#send([snapshot]);
  }

  tell(event: ConsoleEvent): void {
    if (this.#stalled || !this.#wants(event)) return;
    this.#pending.set(keyOf(event) ?? `${++this.#count}`, event);
    this.#timer ??= setTimeout(() => this.#flush(), COALESCE_MS).unref();
  }

  end(): void {
    this.#response.end();
  }

  #wants({ type }: ConsoleEvent): boolean {
    if (type === 'call') return this.topics.has('calls');
    if (type === 'log') return this.topics.has('logs');
    if (type === 'projects') return this.topics.has('projects');
    return true;
  }

  #flush(): void {
    this.#timer = undefined;
    const events = [...this.#pending.values()];
    this.#pending = new Map();
    const told = this.#bounded(events);
    for (const event of told) this.#note(event);
    this.#send(told);
  }

  #note(event: ConsoleEvent): void {
    if (event.type !== 'call') return;
    const key = keyOf(event) ?? '';
    if (event.call.outcome === null) this.#running.add(key);
    else this.#running.delete(key);
  }

  /**
   * Limits calls and lines to what a page can draw. Drops the oldest, but never the end of a call that the page knows.
   */
  #bounded(events: readonly ConsoleEvent[]): readonly ConsoleEvent[] {
    const lines = events.flatMap((event) => (event.type === 'log' ? event.lines : []));
    const isNew = (event: ConsoleEvent): boolean =>
      event.type === 'call' && !this.#running.has(keyOf(event) ?? '');
    const left = {
      calls: Math.max(0, events.filter(isNew).length - MOST_CALLS),
      lines: Math.max(0, lines.length - MOST_LINES),
    };
    let dropped = 0;
    const kept = events.filter((event) => {
      if (event.type === 'log') return false;
      return !isNew(event) || ++dropped > left.calls;
    });
    return [
      ...kept,
      ...(lines.length === 0 ? [] : [{ type: 'log', lines: lines.slice(left.lines) } as const]),
      ...(left.calls + left.lines === 0 ? [] : [{ type: 'left-out', ...left } as const]),
    ];
  }

  #send(events: readonly ConsoleEvent[]): void {
    // JSON text on one line contains no line breaks.
    this.#write(`data: ${JSON.stringify(events)}\n\n`);
  }

  #write(text: string): void {
    if (this.#response.destroyed || this.#stalled) return;
    this.#response.write(text);
    if (this.#response.writableLength > MOST_UNREAD) this.#stalled = true;
  }

  /** The page has read everything. */
  #drained(): void {
    if (!this.#stalled) return;
    this.#stalled = false;
    this.begin();
  }
}

/** A newer event replaces an earlier one with the same key; undefined for events that are all sent. */
function keyOf(event: ConsoleEvent): string | undefined {
  switch (event.type) {
    case 'server':
      return `server ${event.server.gateway} ${event.server.name}`;
    case 'client':
      return `client ${event.client.gateway} ${event.client.id}`;
    case 'call':
      return `call ${event.call.gateway} ${event.call.id}`;
    case 'projects':
      return 'projects';
    default:
      return undefined;
  }
}
