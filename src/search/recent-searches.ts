/** How long after a search the client's calls are connected with it, in milliseconds. */
const RECENT_MS = 10 * 60_000;
/**
 * How long after a fruitless search its words are connected with the tools that the next one found, in milliseconds.
 */
const RETRIED_MS = 2 * 60_000;
const MOST_RECENT = 8;

export interface RecentNeed {
  readonly words: readonly string[];
  /** The tools that were found, as `server.tool`. */
  readonly found: ReadonlySet<string>;
}

interface RecentSearch {
  readonly at: number;
  readonly needs: readonly RecentNeed[];
}

/** What clients have searched for recently, to learn from the tools they call next. */
export class RecentSearches {
  readonly #searches = new WeakMap<object, RecentSearch[]>();

  add(client: object, needs: readonly RecentNeed[]): void {
    const now = performance.now();
    const recent = (this.#searches.get(client) ?? []).filter(({ at }) => now - at < RECENT_MS);
    this.#searches.set(client, [...recent, { at: now, needs }].slice(-MOST_RECENT));
  }

  /** Returns the words that led a client to a tool it has used, and forgets them. */
  take(client: object, path: string): string[][] {
    const recent = this.#searches.get(client) ?? [];
    const at = recent.findLastIndex(({ needs }) => needs.some(({ found }) => found.has(path)));
    const search = recent[at];
    if (search === undefined) return [];
    const needs = search.needs.filter(({ found }) => found.has(path));
    const before = recent[at - 1];
    // The client has tried again with other words.
    const retried =
      before !== undefined && before.needs.length === 1 && search.at - before.at < RETRIED_MS
        ? before.needs
        : [];
    this.#searches.set(
      client,
      recent.flatMap((each) => {
        if (each === before && retried.length > 0) return [];
        if (each !== search) return [each];
        const others = each.needs.filter((need) => !needs.includes(need));
        return others.length === 0 ? [] : [{ ...each, needs: others }];
      }),
    );
    return [...needs, ...retried].map(({ words }) => [...words]);
  }
}
