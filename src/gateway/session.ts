import { SwitchboardError } from '../shared/errors.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { Call } from './call.ts';

/** What a door lends the core: the way to say something to one client. */
export interface ClientLink {
  /** Passes a source's answer on as it came, under the id of the call. */
  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void;
  forwardNotification(notification: Message, edits: readonly Edit[], call: Call): void;
  answer(call: Call, result: JsonObject): void;
  fail(call: Call, error: SwitchboardError): void;
  /** True while the client takes its messages more slowly than they come. */
  readonly congested: boolean;
  whenDrained(listener: () => void): void;
}

/** One client: its link and its running calls. */
export class Session {
  readonly client: ClientLink;
  // A list through the calls themselves: every call enters and leaves, and hardly one is ever looked for. Two calls
  // with one id, which the protocol forbids, are two calls; a cancellation then means the newer one.
  #newest: Call | undefined;
  /** The calls by their id, from the first cancellation until none is running. */
  #byId: Map<string, Call> | undefined;
  #running = 0;
  #onIdle: (() => void)[] = [];

  constructor(client: ClientLink) {
    this.client = client;
  }

  open(request: Message, method: string): Call {
    const call = new Call(this, request, method);
    call.before = this.#newest;
    if (this.#newest) this.#newest.after = call;
    this.#newest = call;
    this.#byId?.set(keyOf(call.id), call);
    this.#running++;
    return call;
  }

  get running(): number {
    return this.#running;
  }

  /** Cancels the call with this id, given as JSON text, where `1` and `"1"` are two. */
  cancel(id: string, reason: string | undefined): void {
    if (this.#byId === undefined) {
      this.#byId = new Map();
      for (let call = this.#newest; call; call = call.before) {
        const key = keyOf(call.id);
        if (!this.#byId.has(key)) this.#byId.set(key, call);
      }
    }
    this.#byId.get(keyOf(id))?.cancel(reason);
  }

  /** Gives up on what still runs: each call is answered with an error and cancelled where it runs. */
  failAll(): void {
    while (this.#newest) {
      const call = this.#newest;
      call.abort(
        new SwitchboardError('STOPPING', `${call.subject()} was not finished: Switchboard is stopping.`),
      );
    }
  }

  ended(call: Call): void {
    const { before, after } = call;
    if (after) after.before = before;
    else this.#newest = before;
    if (before) before.after = after;
    this.#running--;
    if (this.#byId) this.#forget(call, this.#byId);
    if (this.#running === 0) for (const listener of this.#onIdle.splice(0)) listener();
  }

  #forget(call: Call, byId: Map<string, Call>): void {
    const key = keyOf(call.id);
    if (byId.get(key) === call) byId.delete(key);
    if (this.#running === 0) this.#byId = undefined;
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    if (this.#running === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
    });
  }
}

/** One spelling for each id: a cancellation may write the same string with other escapes. */
function keyOf(id: string): string {
  return id.includes('\\') ? JSON.stringify(JSON.parse(id)) : id;
}
