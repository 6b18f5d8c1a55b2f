import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from '../protocol/index.ts';
import { memberText } from '../wire/index.ts';

/**
 * A tool, resource, template or prompt as its server described it. The original text is kept and passed on, so that
 * unknown members and numbers too large for JavaScript survive; it is parsed only when its value is read.
 */
export class Component {
  /** Its key within its server: a name or a URI. */
  readonly key: string;
  /** Its JSON text, on one line. */
  readonly text: string;
  #value: JsonObject | undefined;

  constructor(key: string, text: string) {
    this.key = key;
    this.text = text;
  }

  /** Returns one member of its value without parsing the rest, which is much longer. */
  member(key: string): unknown {
    // Most components lack the member. Its key may be written with escapes.
    if (!this.text.includes(`"${key}"`) && !this.text.includes('\\u')) return undefined;
    const text = memberText(this.text, key);
    return text === undefined ? undefined : JSON.parse(text);
  }

  get value(): JsonObject {
    if (this.#value === undefined) {
      const parsed: unknown = JSON.parse(this.text);
      this.#value = isObject(parsed) ? parsed : {};
    }
    return this.#value;
  }
}

/** Everything a source offers of one kind. */
export interface Listing {
  /** In the server's own order. */
  readonly components: readonly Component[];
  readonly byKey: ReadonlyMap<string, Component>;
  /** Why the list is incomplete; undefined if it is complete. */
  readonly incomplete: string | undefined;
  /** How long the list may be cached, in milliseconds; undefined if the server does not say. */
  readonly ttlMs?: number | undefined;
  /** Whether it comes from an earlier run of the server, which may list something else by now. Default false. */
  readonly remembered?: boolean;
}

export const EMPTY_LISTING: Listing = { components: [], byKey: new Map(), incomplete: undefined };
