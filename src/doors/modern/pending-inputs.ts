import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type AnswerListener } from '../../wire/index.ts';

/** A request of a client that can carry a server's request to it: as an `input_required` answer. */
export interface InputCarrier {
  /** Whether it may be answered with `input_required`: not every method allows it, and it must not be finished. */
  readonly mayRequireInput: boolean;
  /** Whether the client waits for its answer now, and is not away with an earlier one. */
  readonly connected: boolean;
  /** There is an input request to deliver. */
  deliver(): void;
}

export interface PendingInput {
  /** Its key in `inputRequests`. */
  readonly key: string;
  readonly request: Message;
}

interface OpenInput extends PendingInput {
  readonly listener: AnswerListener;
  carrier: InputCarrier;
}

/**
 * The pending requests of servers to one principal. A server does not say which call its request is for, so the request
 * that carries it need not be the one it is about: when that one is answered first, another carries it, if there is one.
 */
export class PendingInputs {
  readonly #carriers: () => readonly InputCarrier[];
  readonly #open = new Map<number, OpenInput>();
  #lastId = 0;

  /** `carriers`: the requests of that principal, the newest first. Called only when there is input to request. */
  constructor(carriers: () => readonly InputCarrier[]) {
    this.#carriers = carriers;
  }

  /** A carrier has finished; another one takes over its inputs. */
  leave(carrier: InputCarrier): void {
    if (this.#open.size === 0) return;
    for (const [id, input] of [...this.#open]) {
      if (input.carrier !== carrier) continue;
      const other = this.#pick(undefined);
      if (other === undefined) this.#refuse(id);
      else {
        input.carrier = other;
        other.deliver();
      }
    }
  }

  /** A carrier cannot deliver its inputs: they stay unanswered. */
  refuse(carrier: InputCarrier): void {
    for (const [id, input] of [...this.#open]) if (input.carrier === carrier) this.#refuse(id);
  }

  /** Adds a server's request, preferably for this carrier. Returns its id. */
  ask(request: Message, listener: AnswerListener, preferred: InputCarrier): number {
    const id = ++this.#lastId;
    const carrier = this.#pick(preferred);
    const input: OpenInput = { key: `question_${id}`, request, listener, carrier: carrier ?? preferred };
    this.#open.set(id, input);
    if (carrier) carrier.deliver();
    else setImmediate(() => this.#refuse(id));
    return id;
  }

  withdraw(id: number): void {
    this.#open.delete(id);
  }

  /** The inputs that a carrier has to deliver. */
  for(carrier: InputCarrier): PendingInput[] {
    return [...this.#open.values()].filter((input) => input.carrier === carrier);
  }

  /** The client has answered inputs of a carrier, by key; each answer is JSON text. */
  answered(carrier: InputCarrier, answers: ReadonlyMap<string, string>): void {
    for (const [id, input] of [...this.#open]) {
      const text = input.carrier === carrier ? answers.get(input.key) : undefined;
      // Handling one answer may end the call, and with it the other inputs.
      if (text === undefined || !this.#open.delete(id)) continue;
      input.listener.answered(
        Message.fromText(`{"jsonrpc":"2.0","id":${id},"result":${text}}`, CLIENT_SHAPE),
      );
    }
  }

  /** Prefers a connected carrier over one that is away, and then the preferred one. */
  #pick(preferred: InputCarrier | undefined): InputCarrier | undefined {
    const able = this.#carriers().filter((carrier) => carrier.mayRequireInput);
    if (preferred !== undefined && able.includes(preferred)) able.unshift(preferred);
    return able.find((carrier) => carrier.connected) ?? able[0];
  }

  #refuse(id: number): void {
    const input = this.#open.get(id);
    this.#open.delete(id);
    input?.listener.unanswered('closed');
  }
}
