import { isDeepStrictEqual } from 'node:util';
import type { ConfigInput } from './schema/config.ts';

/** Which tools of a server run only after a person has agreed. */
export interface ToolApproval {
  /** `destructive`: those that do not say they are harmless. A list: those that match one of these patterns. */
  readonly which: 'none' | 'destructive' | 'all' | readonly string[];
  /** Tools that are, or are not, whatever else holds; by their own names. */
  readonly tools: ReadonlyMap<string, boolean>;
  /** Those that are as well, whatever is said above: what the user says, where a project says something else. */
  readonly atLeast?: ToolApproval | undefined;
}

/** What one place of the configuration says about it. */
export interface ApprovalWords {
  readonly approve?: false | 'destructive' | 'all' | readonly string[] | undefined;
  readonly tools?: Readonly<Record<string, { readonly approve?: boolean | undefined }>> | undefined;
}

/**
 * Brings together what several places say, the one with the most say first, and what the places of the user alone say.
 * Undefined: no tool asks.
 */
export function toolApproval(
  places: readonly (ApprovalWords | undefined)[],
  ofUser: readonly (ApprovalWords | undefined)[],
): ToolApproval | undefined {
  const said = approvalIn(places);
  const atLeast = approvalIn(ofUser);
  if (said === undefined || atLeast === undefined) return said ?? atLeast;
  return isDeepStrictEqual(said, atLeast) ? said : { ...said, atLeast };
}

function approvalIn(places: readonly (ApprovalWords | undefined)[]): ToolApproval | undefined {
  // As most servers: nothing is said of them.
  if (places.every((place) => place?.approve === undefined && place?.tools === undefined)) return undefined;
  const said = places.find((place) => place?.approve !== undefined)?.approve ?? false;
  const which = said === false || said.length === 0 ? 'none' : said;
  const tools = new Map<string, boolean>();
  for (const place of places)
    for (const [tool, { approve }] of Object.entries(place?.tools ?? {}))
      if (approve !== undefined && !tools.has(tool)) tools.set(tool, approve);
  const none = which === 'none' && ![...tools.values()].includes(true);
  return none ? undefined : { which, tools };
}

type Pin = NonNullable<ConfigInput['pin']>;

/** A project may only be stricter than its user. */
export function stricterPin(said: Pin, ofUser: Pin | undefined): Pin {
  return ofUser !== undefined && PINS.indexOf(ofUser) > PINS.indexOf(said) ? ofUser : said;
}

const PINS: readonly Pin[] = ['off', 'warn', 'block'];
