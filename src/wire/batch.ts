import { idKey } from './ids.ts';
import { jsonItems } from './json-text.ts';

/** The limit for the messages in a batch: each costs far more memory than its few bytes. */
const MOST_MESSAGES = 1000;

/** The limit for a batch, in characters. A batch is read in one go, and each of its messages twice. */
const MAX_LENGTH = 2 * 1024 * 1024;

/** The texts of the messages in a batch, given as JSON; undefined if it is not an array, is empty or is too long. */
export function readBatch(text: string): string[] | undefined {
  if (text.length > MAX_LENGTH || !text.trimStart().startsWith('[')) return undefined;
  const items: string[] = [];
  for (const item of jsonItems(text)) if (items.push(item) > MOST_MESSAGES) return undefined;
  return items.length > 0 ? items : undefined;
}

/**
 * Holds back answers until their whole batch is answered. JSON-RPC requires one array of answers for an array of
 * requests; only protocol version 2025-03-26 has batches.
 */
export class BatchedAnswers {
  readonly #byId = new Map<string, Batch>();
  readonly #send: (text: string) => void;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  /** Runs `read` for a batch whose requests have these ids. Errors for refused messages become part of its answer. */
  collect(ids: readonly string[], read: (refuse: (answer: string) => void) => void): void {
    const batch: Batch = { open: 1, answers: [] };
    for (const id of ids) {
      const key = idKey(id);
      // The answers to two requests with the same id cannot be distinguished.
      if (this.#byId.has(key)) continue;
      this.#byId.set(key, batch);
      batch.open++;
    }
    read((answer) => batch.answers.push(answer));
    this.#close(batch);
  }

  /** Takes an answer if it belongs to a batch. Returns whether it did. */
  take(id: string, answer: () => string): boolean {
    return this.#settle(id, (batch) => batch.answers.push(answer()));
  }

  /** The request was cancelled and gets no answer. */
  drop(id: string): void {
    this.#settle(id, () => undefined);
  }

  #settle(id: string, settle: (batch: Batch) => void): boolean {
    const key = idKey(id);
    const batch = this.#byId.get(key);
    if (batch === undefined) return false;
    this.#byId.delete(key);
    settle(batch);
    this.#close(batch);
    return true;
  }

  #close(batch: Batch): void {
    if (--batch.open === 0 && batch.answers.length > 0) this.#send(`[${batch.answers.join(',')}]`);
  }
}

interface Batch {
  /** The number of unanswered requests, plus one while the batch is being read. */
  open: number;
  readonly answers: string[];
}
