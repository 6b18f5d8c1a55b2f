import type { HttpExchange } from './exchange.ts';

/** The POSTs of one client that wait for their answer. */
export class OpenPosts {
  /** The oldest of each id; newer ones with the same id are linked behind it. */
  readonly #byId = new Map<string, HttpExchange>();
  readonly #byToken = new Map<string, HttpExchange>();
  readonly #inOrder = new Set<HttpExchange>();

  get size(): number {
    return this.#inOrder.size;
  }

  all(): Iterable<HttpExchange> {
    return this.#inOrder;
  }

  add(exchange: HttpExchange): void {
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
  takeAnswered(id: string): HttpExchange | undefined {
    const oldest = this.#byId.get(id);
    if (oldest) this.#take(oldest);
    return oldest;
  }

  /** Takes out the exchange that a cancellation of this id means: the newest of several. */
  takeCancelled(id: string): HttpExchange | undefined {
    let youngest = this.#byId.get(id);
    while (youngest?.next) youngest = youngest.next;
    if (youngest) this.#take(youngest);
    return youngest;
  }

  /** Takes out the exchange with the largest request. */
  takeLargest(): HttpExchange | undefined {
    let largest: HttpExchange | undefined;
    for (const exchange of this.#inOrder)
      if (largest === undefined || exchange.size > largest.size) largest = exchange;
    if (largest) this.#take(largest);
    return largest;
  }

  withToken(token: string): HttpExchange | undefined {
    return this.#byToken.get(token);
  }

  onStream(number: number): HttpExchange | undefined {
    for (const exchange of this.#inOrder) if (exchange.stream?.number === number) return exchange;
    return undefined;
  }

  /** The newest exchange that can carry other messages than its answer. */
  youngestCarrier(): HttpExchange | undefined {
    let found: HttpExchange | undefined;
    for (const exchange of this.#inOrder) if (exchange.carries) found = exchange;
    return found;
  }

  takeAll(): HttpExchange[] {
    const all = [...this.#inOrder];
    this.#inOrder.clear();
    this.#byId.clear();
    this.#byToken.clear();
    return all;
  }

  #take(exchange: HttpExchange): void {
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
