import type { Deadlines } from '../../shared/deadline.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { Call } from '../../gateway/index.ts';
import { ModernCode, Server } from '../../protocol/index.ts';
import type { Edit, Message } from '../../wire/index.ts';
import { errorCode } from '../error-answer.ts';
import type { PendingCall } from '../calls/pending-call.ts';
import { isModern, type Modern } from './modern.ts';
import { legacyAnswer, resultKind, unknownKind } from './modern-answer.ts';
import { InputLoops, type RetryParams } from './input-loop.ts';

export interface ModernCallsOptions {
  readonly deadlines: Deadlines;
  /** Sends a call to the server again, as soon as that is possible. */
  readonly again: (call: Call, edits: Edit[]) => void;
  /** Lists the server's tools again; undefined if that changes nothing. */
  readonly relist: (() => Promise<unknown>) | undefined;
}

/** What is particular about calls to a modern server, over all its runs. */
export class ModernCalls {
  readonly #options: ModernCallsOptions;
  readonly #inputLoops: InputLoops;
  /** Calls that were sent again because their headers did not match the tool. */
  readonly #relisted = new WeakSet<Call>();

  constructor(options: ModernCallsOptions) {
    this.#options = options;
    this.#inputLoops = new InputLoops(options);
  }

  /** How many calls wait for a client instead of the server. */
  get waiting(): number {
    return this.#inputLoops.size;
  }

  /** The server is stopped for good; `why` is a sentence. */
  close(why: string): void {
    this.#inputLoops.close(why);
  }

  /** The parameters that a retried call carries in addition to its client's. A modern client sends everything itself. */
  carried(call: Call): RetryParams | undefined {
    return isModern(call) ? undefined : this.#inputLoops.carried(call);
  }

  /** The edits with which a call is sent; undefined if it has been answered or failed instead. */
  prepare(modern: Modern, call: Call, edits: Edit[], carried: RetryParams | undefined): Edit[] | undefined {
    // The previous runner has finished with it, even if it is not sent.
    call.runBy(undefined);
    if (call.method !== 'tools/call' && modern.answers(call, edits)) return undefined;
    const stamped = modern.stampEdits(call, edits, carried);
    if (!(stamped instanceof SwitchboardError)) return stamped;
    call.fail(stamped);
    return undefined;
  }

  /** Reviews an answer. Returns what the client gets; undefined: nothing yet. */
  review(answer: Message, pending: PendingCall): Message | undefined {
    const { call } = pending;
    if (!call.open) return answer;
    if (answer.has(Server.error)) return this.#mismatched(answer, call, pending.edits) ? undefined : answer;
    // A modern client understands every result.
    if (isModern(call)) return answer;
    switch (resultKind(answer)) {
      case 'complete':
        return legacyAnswer(answer);
      case 'other':
        return unknownKind(call, answer);
      case 'input_required':
        this.#inputLoops.begin(call, pending.edits, answer, pending.latest);
        return undefined;
    }
  }

  /** The server requires other headers than its tool declared when it was listed: lists the tools again, once. */
  #mismatched(answer: Message, call: Call, edits: Edit[]): boolean {
    const { relist, again } = this.#options;
    if (relist === undefined || call.method !== 'tools/call' || this.#relisted.has(call)) return false;
    if (errorCode(answer) !== ModernCode.headerMismatch) return false;
    this.#relisted.add(call);
    call.runBy(undefined);
    relist().then(
      () => {
        if (call.open) again(call, edits);
      },
      (error: unknown) => {
        const message = `${call.subject()} was not run: the server requires other headers and could not list its tools. ${messageOf(error)}`;
        call.fail(new SwitchboardError('LIST_FAILED', message, { cause: error }));
      },
    );
    return true;
  }
}
