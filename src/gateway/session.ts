import { SwitchboardError } from '../shared/errors.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { Call } from './call.ts';

/** What a door lends the core: the way to say something to one client. */
export interface ClientLink {
  forwardAnswer(answer: Message, id: string): void;
  forwardNotification(notification: Message, edits: readonly Edit[]): void;
  answer(id: string, result: JsonObject): void;
  fail(call: Call, error: SwitchboardError): void;
  /** True while the client takes its messages more slowly than they come. */
  readonly congested: boolean;
  whenDrained(listener: () => void): void;
}

/** One client: its link and its running calls. */
export class Session {
  readonly client: ClientLink;
  /** By the id's JSON text, which keeps `1` and `"1"` apart. */
  readonly #calls = new Map<string, Call>();
  #onIdle: (() => void)[] = [];

  constructor(client: ClientLink) {
    this.client = client;
  }

  /** Opens a call, or returns undefined when one with the same id still runs: its answers could not be told apart. */
  open(request: Message, id: string, method: string): Call | undefined {
    const key = keyOf(id);
    if (this.#calls.has(key)) return undefined;
    const call = new Call(this, request, id, method);
    this.#calls.set(key, call);
    return call;
  }

  get running(): number {
    return this.#calls.size;
  }

  cancel(id: string, reason: string | undefined): boolean {
    const call = this.#calls.get(keyOf(id));
    call?.cancel(reason);
    return call !== undefined;
  }

  /** Gives up on what still runs: each call is answered with an error and cancelled where it runs. */
  failAll(): void {
    for (const call of [...this.#calls.values()]) {
      call.abort(
        new SwitchboardError('STOPPING', `${call.subject} was not finished: Switchboard is stopping.`),
      );
    }
  }

  ended(call: Call): void {
    this.#calls.delete(keyOf(call.id));
    if (this.#calls.size === 0) for (const listener of this.#onIdle.splice(0)) listener();
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    return this.#calls.size === 0
      ? Promise.resolve()
      : new Promise((resolve) => {
          this.#onIdle.push(resolve);
        });
  }
}

/** One spelling for each id: a cancellation may write the same string with other escapes. */
function keyOf(id: string): string {
  return id.includes('\\') ? JSON.stringify(JSON.parse(id)) : id;
}
