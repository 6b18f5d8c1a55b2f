import { DEFAULTS, type APPROVALS } from './defaults.ts';
import type { ConfigInput } from './schema/config.ts';

/** Whether and how servers are added and removed at run time. */
export interface Management {
  readonly enabled: boolean;
  /** Whether a person is asked before a server is added. */
  readonly approval: (typeof APPROVALS)[number];
  /** Whether changes are also written to the configuration. */
  readonly persist: boolean;
}

/** The configured settings. An object turns it on unless it says otherwise. */
export function resolveManagement(
  given: ConfigInput['management'],
  defaults: Management = DEFAULTS.management,
): Management {
  if (given === undefined) return defaults;
  if (typeof given === 'boolean') return { ...defaults, enabled: given };
  return {
    enabled: given.enabled ?? true,
    approval: given.approval ?? defaults.approval,
    persist: given.persist ?? defaults.persist,
  };
}
