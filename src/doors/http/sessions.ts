import type { Session } from './session.ts';

export interface SessionsOptions {
  /** How many there may be at a time. */
  readonly limit: number;
  /** One that is unused for so long is closed, in milliseconds. */
  readonly idleMs: number;
  /** One that is unused for so long is closed when there is no room for another, in milliseconds. */
  readonly evictMs: number;
  /** How often they are looked after, in milliseconds. */
  readonly tickMs: number;
  /** The last client has left. */
  readonly emptied: () => void;
}

/** All clients that are here over HTTP, by the id that each was given. */
export class Sessions {
  readonly #byId = new Map<string, Session>();
  readonly #options: SessionsOptions;
  /** Runs while there is anybody to look after. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether a client has been here since nobody was. */
  #visited = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): Session[] {
    return [...this.#byId.values()];
  }

  /** The session with this id, if it is of this kind: an id given out at one address is worth nothing at another. */
  find<S extends Session>(id: string, kind: abstract new (...args: never[]) => S): S | undefined {
    const session = this.#byId.get(id);
    return session instanceof kind ? session : undefined;
  }

  /** Whether there is room for one more; one that nobody has used for a while makes it. */
  makeRoom(): boolean {
    if (this.#byId.size < this.#options.limit) return true;
    const now = performance.now();
    let idlest: Session | undefined;
    let longest = this.#options.evictMs;
    for (const session of this.#byId.values()) {
      const idle = session.idleFor(now);
      if (idle <= longest) continue;
      idlest = session;
      longest = idle;
    }
    if (idlest === undefined) return false;
    // Taken out first: with somebody else about to come for it, it is not the last.
    this.#takeOut(idlest);
    void idlest.close();
    return true;
  }

  add(session: Session): void {
    this.#byId.set(session.id, session);
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs).unref();
  }

  remove(session: Session): void {
    if (!this.#takeOut(session) || this.#byId.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#visited) return;
    this.#visited = false;
    this.#options.emptied();
  }

  /** Ends them all. */
  async close(): Promise<void> {
    await Promise.all(this.all().map((session) => session.close()));
  }

  #takeOut(session: Session): boolean {
    if (session.greeted) this.#visited = true;
    return this.#byId.delete(session.id);
  }

  #tick(): void {
    const now = performance.now();
    for (const session of this.all()) {
      session.tick(now);
      if (session.idleFor(now) > this.#options.idleMs) void session.close();
    }
  }
}
