/** How many scripts run at a time: for one client, and in all. Each needs a thread and its memory. */
const OF_ONE_CLIENT = 4;
const OF_ALL = 16;

interface Waiting {
  readonly client: object;
  readonly enter: () => void;
}

/** Limits how many scripts run at a time, so that no client can take all threads. */
export class ScriptSlots {
  readonly #running = new Map<object, number>();
  #waiting: readonly Waiting[] = [];
  #total = 0;

  /** Resolves when this client may run a script, with the function to call when the script has ended. */
  async enter(client: object, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        client,
        enter: () => {
          signal.removeEventListener('abort', leave);
          resolve();
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting = [...this.#waiting, waiting];
      this.#next();
    });
    return () => {
      this.#count(client, -1);
      this.#next();
    };
  }

  #next(): void {
    while (this.#total < OF_ALL) {
      const next = this.#waiting.find(({ client }) => (this.#running.get(client) ?? 0) < OF_ONE_CLIENT);
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((each) => each !== next);
      this.#count(next.client, 1);
      next.enter();
    }
  }

  #count(client: object, change: number): void {
    const count = (this.#running.get(client) ?? 0) + change;
    if (count === 0) this.#running.delete(client);
    else this.#running.set(client, count);
    this.#total += change;
  }
}
