import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from '../protocol/index.ts';
import { memberText } from '../wire/index.ts';

/**
 * A tool, resource, template or prompt as its server described it. The text is kept and passed on, so that members
 * we do not know and numbers too large for JavaScript survive; it is parsed only when its value is read.
 */
export class Component {
  /** What it goes by in its server: a name or a URI. */
  readonly key: string;
  /** Its JSON text, on one line. */
  readonly text: string;
  #value: JsonObject | undefined;

  constructor(key: string, text: string) {
    this.key = key;
    this.text = text;
  }

  /** One member of its value. Without parsing the rest, which is much longer. */
  member(key: string): unknown {
    // Most have no such member. A name may be written with escapes.
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
  /** Why the list is not everything, where it is not. */
  readonly incomplete: string | undefined;
  /** How long it may be kept, in milliseconds; undefined where the server does not say. */
  readonly ttlMs?: number | undefined;
  /** Whether it is from an earlier run of the server, which may list something else by now. Default false. */
  readonly remembered?: boolean;
}

export const EMPTY_LISTING: Listing = { components: [], byKey: new Map(), incomplete: undefined };
