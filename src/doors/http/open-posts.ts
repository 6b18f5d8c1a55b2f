import type { SessionExchange } from './session-exchange.ts';

/** The POSTs of one client that wait for their answer. */
export class OpenPosts {
  /** The oldest of each id; newer ones with the same id are linked behind it. */
  readonly #byId = new Map<string, SessionExchange>();
  readonly #byToken = new Map<string, SessionExchange>();
  readonly #inOrder = new Set<SessionExchange>();

  get size(): number {
    return this.#inOrder.size;
  }

  all(): Iterable<SessionExchange> {
    return this.#inOrder;
  }

  add(exchange: SessionExchange): void {
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

  /** Takes out the exchange that an answer with this id belongs to. */
  takeAnswered(id: string): SessionExchange | undefined {
    const oldest = this.#byId.get(id);
    if (oldest) this.#take(oldest);
    return oldest;
  }

  /** Takes out the exchange that a cancellation of this id means: the newest of several. */
  takeCancelled(id: string): SessionExchange | undefined {
    let youngest = this.#byId.get(id);
    while (youngest?.next) youngest = youngest.next;
    if (youngest) this.#take(youngest);
    return youngest;
  }

  withToken(token: string): SessionExchange | undefined {
    return this.#byToken.get(token);
  }

  onStream(number: number): SessionExchange | undefined {
    for (const exchange of this.#inOrder) if (exchange.stream?.number === number) return exchange;
    return undefined;
  }

  /** The newest exchange that can carry other messages than its answer. */
  youngestCarrier(): SessionExchange | undefined {
    let found: SessionExchange | undefined;
    for (const exchange of this.#inOrder) if (exchange.carries) found = exchange;
    return found;
  }

  takeAll(): SessionExchange[] {
    const all = [...this.#inOrder];
    this.#inOrder.clear();
    this.#byId.clear();
    this.#byToken.clear();
    return all;
  }

  #take(exchange: SessionExchange): void {
    const { id, token, next } = exchange;
    let older = this.#byId.get(id)!;
    if (older !== exchange) {
      while (older.next !== exchange) older = older.next!;
      older.next = next;
    } else if (next) this.#byId.set(id, next);
    else this.#byId.delete(id);
    this.#inOrder.delete(exchange);
    if (token !== undefined && this.#byToken.get(token) === exchange) this.#byToken.delete(token);
  }
}
