import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type AnswerListener } from '../../wire/index.ts';

/** A request of a client that can bring it a question: its answer is the question then. */
export interface InputCarrier {
  /** Whether it may be answered with a question: some requests may not, and none that is over. */
  readonly mayRequireInput: boolean;
  /** Whether the client waits for its answer now, and is not away with a question already. */
  readonly connected: boolean;
  /** There is a question for it to bring. */
  deliver(): void;
}

export interface PendingInput {
  /** What the client calls it by. */
  readonly key: string;
  readonly request: Message;
}

interface OpenInput extends PendingInput {
  readonly listener: AnswerListener;
  carrier: InputCarrier;
}

/**
 * The questions to one person that are not answered yet. A question need not be about the request that brings it: a server
 * does not say which call it asks for. So when that one is answered otherwise, another brings it, as long as there is one.
 */
export class PendingInputs {
  readonly #carriers: () => readonly InputCarrier[];
  readonly #open = new Map<number, OpenInput>();
  #lastId = 0;

  /** `carriers`: the requests of that person, the latest first. They are counted when there is a question: most have none. */
  constructor(carriers: () => readonly InputCarrier[]) {
    this.#carriers = carriers;
  }

  /** One is over; what it was to bring is brought by another. */
  leave(carrier: InputCarrier): void {
    if (this.#open.size === 0) return;
    for (const [id, input] of [...this.#open]) {
      if (input.carrier !== carrier) continue;
      const other = this.#pick(undefined);
      if (other === undefined) this.#refuse(id);
      else this.#assign(input, other);
    }
  }

  /** It cannot bring what it was to bring: nobody answers that. */
  refuse(carrier: InputCarrier): void {
    for (const [id, input] of [...this.#open]) if (input.carrier === carrier) this.#refuse(id);
  }

  /** Takes a question that was meant for the client of one request. Returns its id. */
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

  /** What one is to bring. */
  for(carrier: InputCarrier): PendingInput[] {
    return [...this.#open.values()].filter((input) => input.carrier === carrier);
  }

  /** The client has answered, by key, what it was asked with one of its requests; each is JSON text. */
  answered(carrier: InputCarrier, answers: ReadonlyMap<string, string>): void {
    for (const [id, input] of [...this.#open]) {
      const text = input.carrier === carrier ? answers.get(input.key) : undefined;
      // What is done with one answer may end the call, and with it the others.
      if (text === undefined || !this.#open.delete(id)) continue;
      input.listener.answered(
        Message.fromText(`{"jsonrpc":"2.0","id":${id},"result":${text}}`, CLIENT_SHAPE),
      );
    }
  }

  /** Who is there is asked rather than who is away, and the one that was meant rather than another. */
  #pick(preferred: InputCarrier | undefined): InputCarrier | undefined {
    const able = this.#carriers().filter((carrier) => carrier.mayRequireInput);
    if (preferred !== undefined && able.includes(preferred)) able.unshift(preferred);
    return able.find((carrier) => carrier.connected) ?? able[0];
  }

  #assign(input: OpenInput, carrier: InputCarrier): void {
    input.carrier = carrier;
    carrier.deliver();
  }

  #refuse(id: number): void {
    const input = this.#open.get(id);
    this.#open.delete(id);
    input?.listener.unanswered('closed');
  }
}
