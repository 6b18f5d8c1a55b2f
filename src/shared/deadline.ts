/** Something that happens at a moment unless it is taken back before. */
export interface Deadline {
  /** When, on the performance clock, in milliseconds. */
  at: number;
  /** Its place in the list; −1 while it is in none. Kept by `Deadlines`. */
  place: number;
  expired(): void;
}

/**
 * Many deadlines on one timer. A call sets one and takes it back a moment later; a timer of its own for each would cost
 * more than the rest of its way through the program.
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

  /** Takes one back; does nothing for one that is not set. */
  remove(deadline: Deadline): void {
    const { place } = deadline;
    if (place < 0) return;
    deadline.place = -1;
    const last = this.#pending.pop();
    if (last === undefined || last === deadline) return;
    this.#pending[place] = last;
    last.place = place;
  }

  /** Moves one that is set to another moment. */
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

/** Timers beyond 2³¹ − 1 ms fire at once; firing early is harmless here. */
const MAX_TIMEOUT = 0x7fffffff;
