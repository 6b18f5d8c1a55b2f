import type { Logger } from '../../shared/log.ts';
import { Component } from '../../gateway/index.ts';
import { LIST_KINDS, type ListKind } from '../../protocol/index.ts';
import { wellFormed } from './well-formed.ts';

/** Limits for one list. */
export const MAX_COMPONENTS = 1000;
export const MAX_ENTRIES = 10 * MAX_COMPONENTS;
/** The longest item, in UTF-16 units. Each item is parsed and searched without a pause, some for every call. */
const MAX_ITEM = 256 * 1024;
/** How many faulty items are logged per list. */
const MAX_LOGGED = 10;

/** Returns why a component is unusable; undefined if it is usable. */
export type Screen = (key: string, text: string) => string | undefined;

/**
 * Collects the items of a list and checks each one, whether the list comes from a running server or from the cache
 * file. Items without a key or with a duplicate key are skipped, and members that clients would reject are left out.
 */
export class Collector {
  readonly components: Component[] = [];
  readonly byKey = new Map<string, Component>();
  readonly #kind: ListKind;
  readonly #screen: Screen | undefined;
  readonly #unusable = new Map<string, string>();
  readonly #repaired = new Map<string, readonly string[]>();
  #skipped = 0;
  #tooLong = 0;

  constructor(kind: ListKind, screen?: Screen) {
    this.#kind = kind;
    this.#screen = screen;
  }

  /** Adds the JSON text of an item, unless the list is full. */
  add(item: string): void {
    if (this.components.length === MAX_COMPONENTS) return;
    if (item.length > MAX_ITEM) {
      this.#tooLong++;
      return;
    }
    const component = this.#read(item);
    if (component === undefined) {
      this.#skipped++;
      return;
    }
    const { key } = component;
    const unusable = this.#screen?.(key, component.text);
    if (unusable !== undefined) this.#unusable.set(key, unusable);
    else if (this.byKey.has(key)) this.#skipped++;
    else {
      this.byKey.set(key, component);
      this.components.push(component);
    }
  }

  /** Which items are missing because of their length; undefined if none are. */
  get leftOut(): string | undefined {
    if (this.#tooLong === 0) return undefined;
    return `${this.#tooLong} of its ${LIST_KINDS[this.#kind].member} are left out, because they are longer than ${MAX_ITEM} characters.`;
  }

  /** Logs the problems found in the items. */
  logProblems(log: Logger, server: string): void {
    const kind = this.#kind;
    const { member, key } = LIST_KINDS[kind];
    if (this.#skipped > 0)
      log.warn(`skipped ${member} with a missing or duplicate ${key}`, {
        server,
        count: this.#skipped,
      });
    if (this.leftOut !== undefined)
      log.warn(`incomplete list of ${member}`, { server, reason: this.leftOut });
    for (const [name, bad] of [...this.#repaired].slice(0, MAX_LOGGED))
      log.warn(`dropped invalid members`, { server, [kind]: name, members: bad.join(',') });
    for (const [name, reason] of [...this.#unusable].slice(0, MAX_LOGGED))
      log.warn(`dropped an unusable item`, { server, [kind]: name, reason });
  }

  /** Undefined for an item without a key. */
  #read(item: string): Component | undefined {
    if (!item.startsWith('{')) return undefined;
    const { text, value, bad } = wellFormed(item, this.#kind);
    const key = value[LIST_KINDS[this.#kind].key];
    if (typeof key !== 'string') return undefined;
    if (bad.length > 0) this.#repaired.set(key, bad);
    return new Component(key, text);
  }
}
