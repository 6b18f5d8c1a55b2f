import type { ProjectConfig } from '../../records/config/definition.ts';
import { slug } from '../../records/names.ts';
import type { ServiceRecord } from '../../records/state/records.ts';

/** Sorts records by branch, and within a branch as in the configuration. */
export function sortRecords(
  config: ProjectConfig,
  records: readonly ServiceRecord[],
): readonly ServiceRecord[] {
  const order = new Map(config.services.map(({ name }, index) => [name, index]));
  // Services that are no longer in the file come last.
  const rank = ({ service }: ServiceRecord): number => order.get(slug(service)) ?? order.size;
  return [...records].sort((a, b) =>
    a.branch_slug === b.branch_slug ? rank(a) - rank(b) : a.branch_slug < b.branch_slug ? -1 : 1,
  );
}
