import { slug } from '../names.ts';
import type { Table } from './table.ts';

/** The tables below `[services]` or `[profiles]` by slug, in the order of the file. */
export function namedTables(parent: Table, kind: 'service' | 'profile'): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  const written = new Map<string, string>();
  for (const [name, table] of parent.tables()) {
    const short = slug(name);
    const other = written.get(short);
    if (other !== undefined) {
      throw parent.error(
        name,
        `conflicts with "${other}": ${kind} names collide after slugging, both become "${short}"`,
        'Rename one of them; names may differ only in letters, digits and dashes.',
      );
    }
    written.set(short, name);
    tables.set(short, table);
  }
  return tables;
}
