import type { EditedConfig } from '../../../../config/index.ts';
import { expectedError, type SwitchboardError } from '../../../../shared/errors.ts';

/** A change of a file that was worked out, and is not made yet. */
interface Plan<T> {
  write(): Promise<T>;
}

/** What became of plans. A failure in the file of one host is reported together with what was done. */
export interface AppliedPlans<C, H, T> {
  readonly configs: readonly { readonly plan: C; readonly edited: EditedConfig }[];
  readonly hosts: readonly { readonly plan: H; readonly change: T | SwitchboardError }[];
}

/** Changes our own files first, so that no server is ever in neither place. */
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
