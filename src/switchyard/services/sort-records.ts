import type { ProjectConfig } from '../config/definition.ts';
import { slug } from '../names.ts';
import type { ServiceRecord } from '../state/records.ts';

/** Records in the order in which people expect them: by branch, and within one as in the configuration. */
export function sortRecords(
  config: ProjectConfig,
  records: readonly ServiceRecord[],
): readonly ServiceRecord[] {
  const order = new Map(config.services.map(({ name }, index) => [name, index]));
  // One that was taken out of the file comes last.
  const place = ({ service }: ServiceRecord): number => order.get(slug(service)) ?? order.size;
  return [...records].sort((a, b) =>
    a.branch_slug === b.branch_slug ? place(a) - place(b) : a.branch_slug < b.branch_slug ? -1 : 1,
  );
}
