/** A client's searches are connected with what it calls then for so long, in milliseconds. */
const RECENT_MS = 10 * 60_000;
/** A search that found nothing useful is connected with what the next one found for so long, in milliseconds. */
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

/** What clients have searched for lately, to learn from what they call then. */
export class RecentSearches {
  readonly #searches = new WeakMap<object, RecentSearch[]>();

  add(client: object, needs: readonly RecentNeed[]): void {
    const now = performance.now();
    const recent = (this.#searches.get(client) ?? []).filter(({ at }) => now - at < RECENT_MS);
    this.#searches.set(client, [...recent, { at: now, needs }].slice(-MOST_RECENT));
  }

  /** The words that led a client to a tool it has used; they lead nowhere else from then on. */
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
