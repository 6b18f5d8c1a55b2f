import { Envelope } from './envelope.ts';
import { idKey } from './ids.ts';
import type { Message } from './message.ts';

/** The ids of the requests that wait for an answer. The protocol allows each of them once at a time. */
export class RunningIds {
  readonly #keys = new Set<string | number>();

  has(request: Message): boolean {
    return this.#keys.has(keyOf(request));
  }

  add(request: Message): void {
    this.#keys.add(keyOf(request));
  }

  remove(request: Message): void {
    this.#keys.delete(keyOf(request));
  }
}

/** Most ids are positive integers, which need no text. The key of a string is JSON text in quotes: `1` and `"1"` are two. */
function keyOf(request: Message): string | number {
  return request.integer(Envelope.id) || shortest(idKey(request.text(Envelope.id)!));
}

/** A long spelling of a short integer is no other id. */
function shortest(key: string): string | number {
  return /^[1-9]\d{0,14}$/.test(key) ? Number(key) : key;
}
