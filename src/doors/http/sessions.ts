import type { Logger } from '../../shared/log.ts';
import type { HttpSession } from './session.ts';

export interface HttpSessionsOptions {
  /** How many there may be at a time. */
  readonly limit: number;
  /** One that is unused for so long is closed, in milliseconds. */
  readonly idleMs: number;
  /** One that is unused for so long is closed when there is no room for another, in milliseconds. */
  readonly evictMs: number;
  /** How often they are looked after, in milliseconds. */
  readonly tickMs: number;
  readonly log: Logger;
  /** The last client has left. */
  readonly emptied: () => void;
}

/** All clients that are here over HTTP, by the id that each was given. */
export class HttpSessions {
  readonly #byId = new Map<string, HttpSession>();
  readonly #options: HttpSessionsOptions;
  /** What the clients that are there call themselves; undefined where they do not say. */
  readonly #clients = new WeakMap<HttpSession, { readonly name: string | undefined }>();
  /** Runs while there is anybody to look after. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether a client has been here since nobody was. */
  #visited = false;
  #closing = false;

  constructor(options: HttpSessionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): HttpSession[] {
    return [...this.#byId.values()];
  }

  /** The session with this id, if it is of this kind: an id given out at one address is worth nothing at another. */
  find<S extends HttpSession>(id: string, kind: abstract new (...args: never[]) => S): S | undefined {
    const session = this.#byId.get(id);
    return session instanceof kind ? session : undefined;
  }

  /** Whether there is room for one more; one that nobody has used for a while makes it. */
  makeRoom(): boolean {
    if (this.#byId.size < this.#options.limit) return true;
    const now = performance.now();
    let idlest: HttpSession | undefined;
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

  add(session: HttpSession): void {
    this.#byId.set(session.id, session);
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs).unref();
  }

  /** Notes that a client is there now, by the name it gave itself. Its id stays a secret. */
  initialized(session: HttpSession, name: string | undefined): void {
    if (!this.#byId.has(session.id) || this.#clients.has(session)) return;
    this.#clients.set(session, { name });
    this.#options.log.info('client connected', { name, sessions: this.size });
  }

  remove(session: HttpSession): void {
    if (!this.#takeOut(session) || this.#byId.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#visited) return;
    this.#visited = false;
    this.#options.emptied();
  }

  /** Ends them all. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.all().map((session) => session.close()));
  }

  #takeOut(session: HttpSession): boolean {
    if (session.initialized) this.#visited = true;
    const known = this.#byId.delete(session.id);
    const client = this.#clients.get(session);
    // At the end all leave, which is no news of any one of them.
    if (known && client && !this.#closing)
      this.#options.log.info('client left', { name: client.name, sessions: this.size });
    return known;
  }

  #tick(): void {
    const now = performance.now();
    for (const session of this.all()) {
      session.tick(now);
      if (session.idleFor(now) > this.#options.idleMs) void session.close();
    }
  }
}
