import type { LoadedConfig, UnusableServer } from '../config/index.ts';

/** A server that cannot be used, for scripts. */
export function unusableData({ name, reason, nextStep, origin }: UnusableServer): object {
  return { name, reason, nextStep, source: origin };
}

/** The warnings without those about servers that cannot be used: for who says that of each server anyway. */
export function otherWarnings({ unusable, warnings }: LoadedConfig): LoadedConfig['warnings'] {
  return warnings.filter(({ server }) => !unusable.some(({ name }) => name === server));
}
