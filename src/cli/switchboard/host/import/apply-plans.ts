import type { EditedConfig } from '../../../../config/index.ts';
import { expectedError, type SwitchboardError } from '../../../../shared/errors.ts';

/** A planned change of a file that has not been made yet. */
interface Plan<T> {
  write(): Promise<T>;
}

/** The outcome of plans. A failure in the file of one host is reported together with what was done. */
export interface AppliedPlans<C, H, T> {
  readonly configs: readonly { readonly plan: C; readonly edited: EditedConfig }[];
  readonly hosts: readonly { readonly plan: H; readonly change: T | SwitchboardError }[];
}

/** Changes our own files first, so that every server is always in at least one place. */
export async function applyPlans<C extends Plan<EditedConfig>, H, T>(
  configs: readonly C[],
  hosts: readonly (H & Plan<T>)[],
): Promise<AppliedPlans<C, H, T>> {
  const wrote: AppliedPlans<C, H, T>['configs'][number][] = [];
  for (const plan of configs) wrote.push({ plan, edited: await plan.write() });
  const changed: AppliedPlans<C, H, T>['hosts'][number][] = [];
  for (const plan of hosts) changed.push({ plan, change: await plan.write().catch(expectedError) });
  return { configs: wrote, hosts: changed };
}
