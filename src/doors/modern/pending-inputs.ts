import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type AnswerListener } from '../../wire/index.ts';

/** A client's request that can carry a server's request to the client, as an `input_required` answer. */
export interface InputCarrier {
  /** Whether it may be answered with `input_required`: its method has to allow it, and it must not be finished. */
  readonly mayRequireInput: boolean;
  /** Whether the client is waiting for its answer, and has not left with an earlier input request. */
  readonly connected: boolean;
  /** There is an input request to deliver. */
  deliver(): void;
}

export interface PendingInput {
  /** The key in `inputRequests`. */
  readonly key: string;
  readonly request: Message;
}

interface OpenInput extends PendingInput {
  readonly listener: AnswerListener;
  carrier: InputCarrier;
}

/**
 * The pending requests of servers to one principal. A server does not say which call its request is for, so it may be
 * carried by a different call than the one it is about. If the carrier is answered first, another one takes over, if
 * there is one.
 */
export class PendingInputs {
  readonly #carriers: () => readonly InputCarrier[];
  readonly #open = new Map<number, OpenInput>();
  #lastId = 0;

  /** `carriers` returns the principal's requests, newest first. Called only when there is input to request. */
  constructor(carriers: () => readonly InputCarrier[]) {
    this.#carriers = carriers;
  }

  /** A carrier has finished: another one takes over its inputs. */
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

  /** A carrier cannot deliver its inputs, so they stay unanswered. */
  refuse(carrier: InputCarrier): void {
    for (const [id, input] of [...this.#open]) if (input.carrier === carrier) this.#refuse(id);
  }

  /** Adds a server's request, with this carrier if possible. Returns its id. */
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

  /** The client has answered a carrier's inputs. The answers are JSON texts by key. */
  answered(carrier: InputCarrier, answers: ReadonlyMap<string, string>): void {
    for (const [id, input] of [...this.#open]) {
      const text = input.carrier === carrier ? answers.get(input.key) : undefined;
      // Handling one answer may end the call and, with it, the other inputs.
      if (text === undefined || !this.#open.delete(id)) continue;
      input.listener.answered(
        Message.fromText(`{"jsonrpc":"2.0","id":${id},"result":${text}}`, CLIENT_SHAPE),
      );
    }
  }

  /** Chooses a carrier: connected ones first, and among those the preferred one. */
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
