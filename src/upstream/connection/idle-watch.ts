export interface IdleWatchOptions {
  /** A server that nobody used for so long is stopped, in milliseconds. */
  readonly idleMs: number | 'never';
  /** Whether something is under way that must not be cut off. */
  readonly busy: () => boolean;
  /** Nobody has used it for that long. */
  readonly idle: () => void;
}

/** Notices when a running server is not used any more. One timer looks again after the idle time; using costs nothing. */
export class IdleWatch {
  readonly #options: IdleWatchOptions;
  #idleMs: number | 'never';
  #timer: NodeJS.Timeout | undefined;
  /** True when it was used since the timer was set. */
  #used = false;

  constructor(options: IdleWatchOptions) {
    this.#options = options;
    this.#idleMs = options.idleMs;
  }

  used(): void {
    this.#used = true;
  }

  /** From now on, and if it runs, from this moment. */
  keepFor(idleMs: number | 'never', running: boolean): void {
    if (this.#idleMs === idleMs) return;
    this.#idleMs = idleMs;
    if (running) this.begin();
  }

  begin(): void {
    this.end();
    if (this.#idleMs === 'never') return;
    this.#used = false;
    this.#timer = setTimeout(() => this.#look(), this.#idleMs);
    this.#timer.unref();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    if (this.#used || this.#options.busy()) this.begin();
    else this.#options.idle();
  }
}
