import type { Caller } from './caller.ts';
import type { HttpDoorOptions } from './door.ts';
import type { HttpSession } from './session.ts';
import type { HttpTimeouts } from './timeouts.ts';

/** All sessions, by id. */
export class HttpSessions {
  readonly #byId = new Map<string, HttpSession>();
  readonly #options: HttpDoorOptions;
  readonly #timeouts: HttpTimeouts;
  /** The names of initialized clients; undefined for a client without a name. */
  readonly #clients = new WeakMap<HttpSession, { readonly name: string | undefined }>();
  /** Runs while there are sessions. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether a client has initialized since there was last none. */
  #visited = false;
  #closing = false;

  constructor(options: HttpDoorOptions, timeouts: HttpTimeouts) {
    this.#options = options;
    this.#timeouts = timeouts;
  }

  get size(): number {
    return this.#byId.size;
  }

  all(): HttpSession[] {
    return [...this.#byId.values()];
  }

  /**
   * The session with this id, if it is of this kind and was opened by this principal: an id is not valid at another
   * endpoint or with another token.
   */
  find<S extends HttpSession>(
    id: string,
    kind: abstract new (...args: never[]) => S,
    { principal }: Caller,
  ): S | undefined {
    const session = this.#byId.get(id);
    return session instanceof kind && session.principal === principal ? session : undefined;
  }

  /** Ends the sessions of callers whose tokens were revoked. */
  endThose(isRevoked: (caller: Caller) => boolean): void {
    for (const session of this.all()) if (isRevoked(session.caller)) void session.close();
  }

  /** Makes room for one more session, by closing an idle one if necessary. Returns whether there is room. */
  makeRoom(): boolean {
    if (this.#byId.size < this.#options.limits.sessions) return true;
    const now = performance.now();
    let idlest: HttpSession | undefined;
    let longest = this.#timeouts.evictMs;
    for (const session of this.#byId.values()) {
      const idle = session.idleFor(now);
      if (idle <= longest) continue;
      idlest = session;
      longest = idle;
    }
    if (idlest === undefined) return false;
    // Removed first, without counting as the last client: a new one is about to take its place.
    this.#takeOut(idlest);
    void idlest.close();
    return true;
  }

  add(session: HttpSession): void {
    this.#byId.set(session.id, session);
    this.#timer ??= setInterval(() => this.#tick(), this.#timeouts.tickMs).unref();
  }

  /** Logs a new client by its name, not by its session id, which is a secret. */
  initialized(session: HttpSession, name: string | undefined): void {
    if (!this.#byId.has(session.id) || this.#clients.has(session)) return;
    this.#clients.set(session, { name });
    this.#options.log.info('client connected', { name, sessions: this.size });
  }

  remove(session: HttpSession): void {
    if (!this.#takeOut(session) || this.#byId.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (!this.#visited || this.#closing) return;
    this.#visited = false;
    this.#options.emptied?.();
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    this.#closing = true;
    await Promise.all(this.all().map((session) => session.close()));
  }

  #takeOut(session: HttpSession): boolean {
    if (session.initialized) this.#visited = true;
    const known = this.#byId.delete(session.id);
    const client = this.#clients.get(session);
    // Do not log every client when the door closes.
    if (known && client && !this.#closing)
      this.#options.log.info('client disconnected', { name: client.name, sessions: this.size });
    return known;
  }

  #tick(): void {
    const now = performance.now();
    for (const session of this.all()) {
      session.tick(now);
      if (session.idleFor(now) > this.#options.limits.sessionIdleMs) void session.close();
    }
  }
}
