import { idKey } from './ids.ts';
import { jsonItems } from './json-text.ts';

/** More messages in one batch are refused: each costs far more memory than its few bytes. */
const MOST_MESSAGES = 1000;

/** In characters. A batch is read in one go, and each of its messages twice. */
const MAX_LENGTH = 2 * 1024 * 1024;

/** The texts of the messages in a batch, given as JSON; undefined where it is not an array, is empty or too long. */
export function readBatch(text: string): string[] | undefined {
  if (text.length > MAX_LENGTH || !text.trimStart().startsWith('[')) return undefined;
  const items: string[] = [];
  for (const item of jsonItems(text)) if (items.push(item) > MOST_MESSAGES) return undefined;
  return items.length > 0 ? items : undefined;
}

/**
 * Answers that are held back until their whole batch is answered. JSON-RPC wants one array of answers for an array of
 * requests; protocol version 2025-03-26 is the only one that has them.
 */
export class BatchedAnswers {
  readonly #byId = new Map<string, Batch>();
  readonly #send: (text: string) => void;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  /** Runs `read` for a batch whose requests have these ids; errors for refused messages go into its answer, too. */
  collect(ids: readonly string[], read: (refuse: (answer: string) => void) => void): void {
    const batch: Batch = { open: 1, answers: [] };
    for (const id of ids) {
      const key = idKey(id);
      // The answers to two requests with one id cannot be distinguished.
      if (this.#byId.has(key)) continue;
      this.#byId.set(key, batch);
      batch.open++;
    }
    read((answer) => batch.answers.push(answer));
    this.#close(batch);
  }

  /** Takes an answer that belongs to a batch; false where it does not. */
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
  /** Requests without an answer, and one more while the batch is being read. */
  open: number;
  readonly answers: string[];
}
