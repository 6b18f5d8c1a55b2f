import type { ConfigInput } from './schema/config.ts';

/** Limits on the results of tools. Undefined members have no effect. */
export interface ResultSettings {
  /** The longest text of a result, in tokens. */
  readonly maxTokens?: number | undefined;
  /** Whether JSON texts lose the white space between their tokens. */
  readonly minify?: boolean | undefined;
}

type Written = ConfigInput['results'];

/**
 * Combines settings from several places, the one with the highest precedence first; `false` ends the list. Undefined if
 * nothing is limited.
 */
export function resultSettings(...places: readonly Written[]): ResultSettings | undefined {
  const end = places.indexOf(false);
  const said = (end === -1 ? places : places.slice(0, end)).filter((place) => typeof place === 'object');
  const maxTokens = said.find((place) => place.maxTokens !== undefined)?.maxTokens;
  const minify = said.find((place) => place.minify !== undefined)?.minify;
  return maxTokens === undefined && minify !== true ? undefined : { maxTokens, minify };
}
