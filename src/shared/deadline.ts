/** Something that happens at a certain time unless it is removed before. */
export interface Deadline {
  /** The time on the performance clock, in milliseconds. */
  at: number;
  /** Its index in the list; −1 if it is not in one. Maintained by `Deadlines`. */
  place: number;
  expired(): void;
}

/**
 * Many deadlines with one timer. Every call sets a deadline and removes it a moment later; separate timers would cost
 * more than everything else the program does for a call.
 */
export class Deadlines {
  readonly #pending: Deadline[] = [];
  #timer: NodeJS.Timeout | undefined;
  #due = Infinity;

  /** Calls `expired` at `deadline.at`, or a little later. */
  add(deadline: Deadline): void {
    deadline.place = this.#pending.length;
    this.#pending.push(deadline);
    if (deadline.at < this.#due) this.#aim(deadline.at);
  }

  /** Removes a deadline; does nothing if it is not set. */
  remove(deadline: Deadline): void {
    const { place } = deadline;
    if (place < 0) return;
    deadline.place = -1;
    const last = this.#pending.pop();
    if (last === undefined || last === deadline) return;
    this.#pending[place] = last;
    last.place = place;
  }

  /** Changes the time of a deadline that is set. */
  move(deadline: Deadline, at: number): void {
    deadline.at = at;
    if (deadline.place >= 0 && at < this.#due) this.#aim(at);
  }

  get size(): number {
    return this.#pending.length;
  }

  #aim(at: number): void {
    clearTimeout(this.#timer);
    this.#due = at;
    this.#timer = setTimeout(() => this.#fire(), Math.min(Math.max(at - performance.now(), 1), MAX_TIMEOUT));
    // What a deadline guards keeps the program alive; the deadline itself must not.
    this.#timer.unref();
  }

  #fire(): void {
    this.#due = Infinity;
    const now = performance.now();
    const expired = this.#pending.filter((deadline) => deadline.at <= now);
    for (const deadline of expired) this.remove(deadline);
    const next = this.#pending.reduce((soonest, { at }) => Math.min(soonest, at), Infinity);
    if (next < Infinity) this.#aim(next);
    for (const deadline of expired) deadline.expired();
  }
}

/** Timers beyond 2³¹ − 1 ms fire immediately. Firing early is harmless here. */
const MAX_TIMEOUT = 0x7fffffff;
