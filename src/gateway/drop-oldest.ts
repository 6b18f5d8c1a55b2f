/** Removes the oldest entries until at most `most` are left. */
export function dropOldest<K>(from: Map<K, unknown> | Set<K>, most: number): void {
  for (const key of from.keys()) {
    if (from.size <= most) return;
    from.delete(key);
  }
}
