import type { EditedConfig } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { ConfigPlan, HostChange, HostPlan, InitPlan } from './plan.ts';

/** What became of a plan. */
export interface InitDone {
  readonly configs: readonly { readonly plan: ConfigPlan; readonly edited: EditedConfig }[];
  /** A failure in one host is reported together with what was done. */
  readonly hosts: readonly { readonly plan: HostPlan; readonly change: HostChange | SwitchboardError }[];
}

/** Does it: our own files first, so that no server is ever in neither place. */
export async function applyPlan({ configs, hosts }: InitPlan): Promise<InitDone> {
  const wrote: InitDone['configs'][number][] = [];
  for (const plan of configs) wrote.push({ plan, edited: await plan.write() });
  const changed: InitDone['hosts'][number][] = [];
  for (const plan of hosts) {
    const change = await plan.write().catch((error: unknown) => {
      if (error instanceof SwitchboardError) return error;
      throw error;
    });
    changed.push({ plan, change });
  }
  return { configs: wrote, hosts: changed };
}
