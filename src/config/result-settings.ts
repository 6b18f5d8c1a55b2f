import type { ConfigInput } from './schema/config.ts';

/** How long the results of tools may be. Undefined members: nothing is done. */
export interface ResultSettings {
  /** Longest text of a result, in tokens. */
  readonly maxTokens?: number | undefined;
  /** Whether JSON texts lose the white space between their tokens. */
  readonly minify?: boolean | undefined;
}

type Written = ConfigInput['results'];

/** Brings together what several places say, the one with the most say first; `false` ends the list. Undefined: nothing is limited. */
export function resultSettings(...places: readonly Written[]): ResultSettings | undefined {
  const end = places.indexOf(false);
  const said = (end === -1 ? places : places.slice(0, end)).filter((place) => typeof place === 'object');
  const maxTokens = said.find((place) => place.maxTokens !== undefined)?.maxTokens;
  const minify = said.find((place) => place.minify !== undefined)?.minify;
  return maxTokens === undefined && minify !== true ? undefined : { maxTokens, minify };
}
