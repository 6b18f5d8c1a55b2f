import { Client } from '../../protocol/index.ts';
import type { Message, Peer } from '../../wire/index.ts';
import type { Linked } from './chain.ts';

/** Who a turn is answered to. */
export interface TurnKeeper {
  readonly peer: Peer;
  /** It has been answered. */
  ended(turn: Turn): void;
}

/** Who works at a turn. */
export interface Worker {
  /** The client does not want it any more. */
  cancel(reason: string | undefined): void;
}

/** One request on one connection, until it is answered: where it came from and where its answer goes. */
export class Turn implements Linked<Turn> {
  before: Turn | undefined = undefined;
  after: Turn | undefined = undefined;
  readonly request: Message;
  worker: Worker | undefined = undefined;
  readonly #keeper: TurnKeeper;

  constructor(keeper: TurnKeeper, request: Message) {
    this.#keeper = keeper;
    this.request = request;
  }

  get peer(): Peer {
    return this.#keeper.peer;
  }

  /** Of the request, as JSON text. */
  get id(): string {
    return this.request.text(Client.id)!;
  }

  /** It has been answered. */
  over(): void {
    this.#keeper.ended(this);
  }
}
