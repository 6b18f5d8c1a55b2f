import type { Exchange } from './exchange.ts';

/** The POSTs of one client that wait for their answer. */
export class OpenPosts {
  /** The oldest under each id; younger ones with the same id hang behind it. */
  readonly #byId = new Map<string, Exchange>();
  readonly #byToken = new Map<string, Exchange>();
  readonly #inOrder = new Set<Exchange>();

  get size(): number {
    return this.#inOrder.size;
  }

  all(): Iterable<Exchange> {
    return this.#inOrder;
  }

  add(exchange: Exchange): void {
    this.#inOrder.add(exchange);
    if (exchange.token !== undefined) this.#byToken.set(exchange.token, exchange);
    let older = this.#byId.get(exchange.id);
    if (older === undefined) {
      this.#byId.set(exchange.id, exchange);
      return;
    }
    while (older.next) older = older.next;
    older.next = exchange;
  }

  /** The one that an answer with this id is for, which is no longer open then. */
  takeAnswered(id: string): Exchange | undefined {
    const oldest = this.#byId.get(id);
    if (oldest === undefined) return undefined;
    if (oldest.next) this.#byId.set(id, oldest.next);
    else this.#byId.delete(id);
    this.#forget(oldest);
    return oldest;
  }

  /** The one that a cancellation of this id means: of several the youngest. */
  takeCancelled(id: string): Exchange | undefined {
    let youngest = this.#byId.get(id);
    if (youngest?.next === undefined) return this.takeAnswered(id);
    let before = youngest;
    for (youngest = youngest.next; youngest.next; youngest = youngest.next) before = youngest;
    before.next = undefined;
    this.#forget(youngest);
    return youngest;
  }

  withToken(token: string): Exchange | undefined {
    return this.#byToken.get(token);
  }

  onStream(number: number): Exchange | undefined {
    for (const exchange of this.#inOrder) if (exchange.stream?.number === number) return exchange;
    return undefined;
  }

  /** The youngest on which something beside its answer reaches the client. */
  youngestCarrier(): Exchange | undefined {
    let found: Exchange | undefined;
    for (const exchange of this.#inOrder) if (exchange.carries) found = exchange;
    return found;
  }

  takeAll(): Exchange[] {
    const all = [...this.#inOrder];
    this.#inOrder.clear();
    this.#byId.clear();
    this.#byToken.clear();
    return all;
  }

  #forget(exchange: Exchange): void {
    this.#inOrder.delete(exchange);
    const { token } = exchange;
    if (token !== undefined && this.#byToken.get(token) === exchange) this.#byToken.delete(token);
  }
}
