import type { Session } from '../../gateway/index.ts';

/** A call that was given up may go on for so long, in milliseconds; what the server asks then may be about it. */
const LINGER = 60_000;

/** Clients of a shared server that gave a call up: not every server stops when it is told to. */
export class RecentlyCancelled {
  /** Until when the server may go on all the same, on the performance clock. */
  readonly #until = new Map<Session, number>();

  note(session: Session): void {
    this.#forgetOld();
    this.#until.delete(session);
    this.#until.set(session, performance.now() + LINGER);
  }

  sessions(): Iterable<Session> {
    this.#forgetOld();
    return this.#until.keys();
  }

  clear(): void {
    this.#until.clear();
  }

  #forgetOld(): void {
    const now = performance.now();
    for (const [session, until] of this.#until) if (until < now) this.#until.delete(session);
  }
}
