import type { SwitchboardError } from '../shared/errors.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import type { Call } from './call.ts';
import { serverError } from './server-error.ts';

/** Waits for the end of a call. */
export interface PendingAnswer {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** The part of a client inside this program that passes the end of each call to the code waiting for it. */
export abstract class WaitingClient<Entry extends PendingAnswer> {
  /** By the id of the call. */
  protected readonly waiting = new Map<string, Entry>();

  protected abstract parsed(
    answer: Message,
    edits: readonly Edit[],
  ): { readonly result: JsonObject; readonly error?: unknown };

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    const waiting = this.take(call);
    const { result, error } = this.parsed(answer, edits);
    if (error === undefined) waiting?.resolve(result);
    else waiting?.reject(serverError(error));
  }

  answer(call: Call, result: JsonObject): void {
    this.take(call)?.resolve(result);
  }

  answerText(call: Call, resultText: string): void {
    this.answer(call, JSON.parse(resultText) as JsonObject);
  }

  fail(call: Call, error: SwitchboardError): void {
    this.take(call)?.reject(error);
  }

  notify(): void {
    // Lists are fetched when needed.
  }

  protected take({ id }: Call): Entry | undefined {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    return waiting;
  }
}
