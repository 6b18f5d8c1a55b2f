import { matchGlob } from '../shared/glob.ts';
import { didYouMean } from '../shared/nearest.ts';
import type { Pattern, ToolSettings } from '../config/index.ts';
import type { Listing, ToolRules } from '../gateway/index.ts';

/** The one rule for listing and calling: allowed where no list is given or a pattern of it matches, and no pattern denies it. */
export function toolRules({ allow, deny, shapes }: ToolSettings): ToolRules {
  const all = allow === undefined && deny.length === 0;
  return {
    admits: all
      ? () => true
      : (tool) =>
          (allow === undefined || allow.some((pattern) => matches(pattern, tool))) &&
          !deny.some((pattern) => matches(pattern, tool)),
    shapes,
  };
}

/** What the settings say about tools that the server does not have: most likely slips, each with where it stands. */
export function unmatched(
  { allow = [], deny, shapes }: ToolSettings,
  listing: Listing,
): { readonly file: string; readonly key: string; readonly message: string }[] {
  // A list that is not all of it proves nothing.
  if (listing.incomplete !== undefined) return [];
  const names = [...listing.byKey.keys()];
  const patterns = [...allow, ...deny].filter((pattern) => !names.some((name) => matches(pattern, name)));
  const unknown = [...shapes].filter(([name]) => !listing.byKey.has(name));
  const found = [
    ...patterns.map(({ pattern, origin }) => ({ word: pattern, origin })),
    ...unknown.map(([word, { origin }]) => ({ word, origin })),
  ];
  const told = new Set<string>();
  return found.flatMap(({ word, origin }) => {
    const place = `${origin.file}\n${origin.key}`;
    if (told.has(place)) return [];
    told.add(place);
    const hint = didYouMean(word, names);
    const message = `${JSON.stringify(word)} matches no tool of this server.${hint === undefined ? '' : ` ${hint}`}`;
    return [{ ...origin, message }];
  });
}

/** Whether a pattern of the settings means a tool. */
export function matches({ pattern, literal }: Pattern, tool: string): boolean {
  return literal ? pattern === tool : matchGlob(pattern, tool);
}
