import { matchGlob } from '../shared/glob.ts';
import { didYouMean } from '../shared/nearest.ts';
import type { Origin, Pattern, ToolSettings } from '../config/index.ts';
import type { Listing, ToolRules } from '../gateway/index.ts';

/**
 * The single rule for listing and calling: a tool is allowed unless a pattern denies it, and if there is a list of
 * allowed patterns, one has to match.
 */
export function toolRules({ allow, deny, shapes }: ToolSettings): ToolRules {
  const all = allow === undefined && deny.length === 0;
  return {
    allows: all
      ? () => true
      : (tool) =>
          (allow === undefined || allow.some((pattern) => matches(pattern, tool))) &&
          !deny.some((pattern) => matches(pattern, tool)),
    overrides: shapes,
  };
}

interface SettingWarning extends Origin {
  readonly message: string;
}

/**
 * Warns about likely mistakes: settings for tools that the server does not have, and new names that it already uses.
 */
export function toolSettingWarnings(settings: ToolSettings, listing: Listing): SettingWarning[] {
  return [...unmatched(settings, listing), ...renameClashes(settings, listing)];
}

function unmatched({ allow = [], deny, shapes }: ToolSettings, listing: Listing): SettingWarning[] {
  // An incomplete list proves nothing.
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
    const message = `${JSON.stringify(word)} does not match any tool of this server.${hint === undefined ? '' : ` ${hint}`}`;
    return [{ ...origin, message }];
  });
}

/** Tools that were given the name of another tool of the same server; these are exposed with a number. */
function renameClashes(settings: ToolSettings, listing: Listing): SettingWarning[] {
  const rules = toolRules(settings);
  return [...settings.shapes].flatMap(([tool, { exposed, origin }]) => {
    if (exposed === undefined || exposed === tool || !listing.byKey.has(tool) || !rules.allows(tool))
      return [];
    const keepsItsName = settings.shapes.get(exposed)?.exposed === undefined;
    const taken = listing.byKey.has(exposed) && rules.allows(exposed) && keepsItsName;
    if (!taken) return [];
    const message = `"${tool}" is renamed to "${exposed}", but the server already has a tool with that name, which is exposed under another one. Choose another name`;
    return [{ ...origin, message }];
  });
}

/** Whether a pattern of the settings matches a tool. */
export function matches({ pattern, literal }: Pattern, tool: string): boolean {
  return literal ? pattern === tool : matchGlob(pattern, tool);
}
