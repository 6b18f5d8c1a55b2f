/** Removes the entries that were added first, until no more than so many are left. */
export function dropOldest<K>(from: Map<K, unknown> | Set<K>, most: number): void {
  for (const key of from.keys()) {
    if (from.size <= most) return;
    from.delete(key);
  }
}
