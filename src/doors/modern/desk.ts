import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type AnswerListener } from '../../wire/index.ts';

/** A request of a client that can bring it a question: its answer is the question then. */
export interface Carrier {
  /** Whether it may be answered with a question: some requests may not, and none that is over. */
  readonly mayAsk: boolean;
  /** Whether the client waits for its answer now, and is not away with a question already. */
  readonly present: boolean;
  /** There is a question for it to bring. */
  bring(): void;
}

export interface Question {
  /** What the client calls it by. */
  readonly key: string;
  readonly request: Message;
}

interface Open extends Question {
  readonly listener: AnswerListener;
  carrier: Carrier;
}

/**
 * The questions to one person that are not answered yet. A question need not be about the request that brings it: a server
 * does not say which call it asks for. So when that one is answered otherwise, another brings it, as long as there is one.
 */
export class Desk {
  readonly #carriers: () => readonly Carrier[];
  readonly #open = new Map<number, Open>();
  #lastId = 0;

  /** `carriers`: the requests of that person, the latest first. They are counted when there is a question: most have none. */
  constructor(carriers: () => readonly Carrier[]) {
    this.#carriers = carriers;
  }

  /** One is over; what it was to bring is brought by another. */
  leave(carrier: Carrier): void {
    if (this.#open.size === 0) return;
    for (const [id, question] of [...this.#open]) {
      if (question.carrier !== carrier) continue;
      const other = this.#pick(undefined);
      if (other === undefined) this.#refuse(id);
      else this.#give(question, other);
    }
  }

  /** It cannot bring what it was to bring: nobody answers that. */
  refuse(carrier: Carrier): void {
    for (const [id, question] of [...this.#open]) if (question.carrier === carrier) this.#refuse(id);
  }

  /** Takes a question that was meant for the client of one request. Returns its id. */
  ask(request: Message, listener: AnswerListener, meant: Carrier): number {
    const id = ++this.#lastId;
    const carrier = this.#pick(meant);
    const question: Open = { key: `question_${id}`, request, listener, carrier: carrier ?? meant };
    this.#open.set(id, question);
    if (carrier) carrier.bring();
    else setImmediate(() => this.#refuse(id));
    return id;
  }

  withdraw(id: number): void {
    this.#open.delete(id);
  }

  /** What one is to bring. */
  for(carrier: Carrier): Question[] {
    return [...this.#open.values()].filter((question) => question.carrier === carrier);
  }

  /** The client has answered, by key, what it was asked with one of its requests; each is JSON text. */
  answered(carrier: Carrier, answers: ReadonlyMap<string, string>): void {
    for (const [id, question] of [...this.#open]) {
      const text = question.carrier === carrier ? answers.get(question.key) : undefined;
      // What is done with one answer may end the call, and with it the others.
      if (text === undefined || !this.#open.delete(id)) continue;
      question.listener.answered(
        Message.fromText(`{"jsonrpc":"2.0","id":${id},"result":${text}}`, CLIENT_SHAPE),
      );
    }
  }

  /** Who is there is asked rather than who is away, and the one that was meant rather than another. */
  #pick(meant: Carrier | undefined): Carrier | undefined {
    const able = this.#carriers().filter((carrier) => carrier.mayAsk);
    if (meant !== undefined && able.includes(meant)) able.unshift(meant);
    return able.find((carrier) => carrier.present) ?? able[0];
  }

  #give(question: Open, carrier: Carrier): void {
    question.carrier = carrier;
    carrier.bring();
  }

  #refuse(id: number): void {
    const question = this.#open.get(id);
    this.#open.delete(id);
    question?.listener.unanswered('closed');
  }
}
