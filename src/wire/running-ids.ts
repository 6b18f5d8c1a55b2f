import { Envelope } from './envelope.ts';
import { idKey } from './ids.ts';
import type { Message } from './message.ts';

/** The ids of the requests that have not been answered. The protocol allows each id only once at a time. */
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

/** Most ids are positive integers and need no text. A string's key is JSON text in quotes, so `1` and `"1"` differ. */
function keyOf(request: Message): string | number {
  return request.integer(Envelope.id) || shortest(idKey(request.text(Envelope.id)!));
}

/** Another notation of a short integer is the same id. */
function shortest(key: string): string | number {
  return /^[1-9]\d{0,14}$/.test(key) ? Number(key) : key;
}
