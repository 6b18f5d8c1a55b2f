import type { TableEntry } from './process-table.ts';

/** A process that is or was in the tree of a server. */
export interface Lineage {
  readonly pid: number;
  /** The process that started it; stays the same when that process has ended. */
  readonly parent: number;
  /** The range in which it was started, in milliseconds since the epoch; a single moment for all except a root. */
  readonly start: number;
  readonly latest: number;
  /** Whether it was missing from the last table. */
  gone: boolean;
}

/**
 * Updates the lineage of a tree: the root and everything that descends from it, by pid. A process that has ended stays
 * for one more table, so that what it started last is found by the pid of its parent. Without start times (Wine), a
 * process is as old as the first table it was in, whose time `seen` remembers, in milliseconds since the epoch.
 *
 * Windows reuses pids soon. A process belongs to the parent it names only if it was started while that parent ran. Sent
 * to another Node as text, so it uses nothing from outside.
 */
export function followLineage(
  lineage: Map<number, Lineage>,
  table: readonly TableEntry[],
  seen: ReadonlyMap<number, number>,
): void {
  const exact = table.some(({ start }) => start !== undefined);
  const rows = table
    .map(({ pid, parent, start }) => ({ pid, parent, start: start ?? seen.get(pid) ?? Infinity }))
    .sort((a, b) => a.start - b.start);
  const living = new Map(rows.map((row) => [row.pid, row]));
  const isSame = ({ pid, parent, start, latest }: Lineage): boolean => {
    const found = living.get(pid);
    if (found === undefined || found.parent !== parent) return false;
    return !exact || (found.start >= start && found.start <= latest);
  };
  for (const one of lineage.values()) {
    if (one.gone) lineage.delete(one.pid);
    else one.gone = !isSame(one);
  }

  for (let grew = true; grew;) {
    grew = false;
    for (const { pid, parent, start } of rows) {
      const ancestor = lineage.get(parent);
      if (ancestor === undefined || pid === parent || lineage.get(pid)?.gone === false) continue;
      if (start < ancestor.start) continue;
      // The pid of a process that has ended may have been reused by one that then started the child itself.
      const successor = exact && ancestor.gone ? living.get(parent) : undefined;
      if (successor !== undefined && start >= successor.start) continue;
      lineage.set(pid, { pid, parent, start, latest: start, gone: false });
      grew = true;
    }
  }
}
