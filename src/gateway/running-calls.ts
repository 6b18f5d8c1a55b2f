import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { Waiters } from '../shared/waiters.ts';
import { SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { editedText, MAX_PARSED, Message, type Edit } from '../wire/index.ts';
import type { Call, Runner } from './call.ts';

/** A request, parsed for our own code. */
export interface ParsedRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** The calls that our own code runs, instead of a server. */
export class RunningCalls {
  readonly #running = new Map<Call, AbortController>();
  readonly #idle = new Waiters();

  get size(): number {
    return this.#running.size;
  }

  /** Answers a call with the result of the work, which is aborted when the client cancels. */
  run(
    call: Call,
    edits: readonly Edit[],
    work: (request: ParsedRequest, signal: AbortSignal) => Promise<JsonObject>,
    suspended?: Runner['suspended'],
  ): void {
    const controller = new AbortController();
    call.runBy({
      cancelled: (reason = 'The client cancelled the request.') => controller.abort(new Error(reason)),
      ...(suspended === undefined ? {} : { suspended }),
    });
    this.#running.set(call, controller);
    void answer(call, edits, (request) => work(request, controller.signal)).finally(() => {
      this.#running.delete(call);
      if (this.#running.size === 0) this.#idle.tell();
    });
  }

  /**
   * Waits up to this many milliseconds for running calls. The others fail with this error, and their work is aborted.
   */
  async close(reason: string, drainMs: number, errorOf: (call: Call) => SwitchboardError): Promise<void> {
    if (this.#running.size > 0 && drainMs > 0) await this.#idle.wait(drainMs);
    for (const [call, controller] of this.#running) {
      call.fail(errorOf(call));
      controller.abort(new Error(reason));
    }
  }
}

async function answer(
  call: Call,
  edits: readonly Edit[],
  work: (request: ParsedRequest) => Promise<JsonObject>,
): Promise<void> {
  try {
    if (call.request.length > MAX_PARSED)
      throw new SwitchboardError('PARAMS_INVALID', `The request is longer than ${MAX_PARSED} bytes.`);
    const result = await work(JSON.parse(editedText(call.request, edits)) as ParsedRequest);
    call.relay(Message.from({ jsonrpc: '2.0', id: 0, result }, SERVER_SHAPE));
  } catch (error) {
    call.fail(asError(error, call));
  }
}

function asError(error: unknown, call: Call): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError('INTERNAL', `${call.subject()} failed: ${messageOf(error)}`, { cause: error });
}
