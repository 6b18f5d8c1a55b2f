import { isDeepStrictEqual } from 'node:util';
import type { ConfigInput } from './schema/config.ts';

/** Which tools of a server run only after a person has agreed. */
export interface ToolApproval {
  /** `destructive`: tools that do not declare themselves harmless. A list: tools that match one of these patterns. */
  readonly which: 'none' | 'destructive' | 'all' | readonly string[];
  /** Tools that always or never require approval, whatever `which` says, by their own names. */
  readonly tools: ReadonlyMap<string, boolean>;
  /** Tools that also require approval, whatever is said above: the user's own rule, if the project's differs. */
  readonly atLeast?: ToolApproval | undefined;
}

/** What one part of the configuration says about approval. */
export interface ApprovalWords {
  readonly approve?: false | 'destructive' | 'all' | readonly string[] | undefined;
  readonly tools?: Readonly<Record<string, { readonly approve?: boolean | undefined }>> | undefined;
}

/**
 * Combines the rules of several parts of the configuration, the one with the highest precedence first, with those of
 * the user alone. Undefined: no tool requires approval.
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
  // The usual case: nothing is configured.
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

/** A project may only be stricter than the user. */
export function stricterPin(said: Pin, ofUser: Pin | undefined): Pin {
  return ofUser !== undefined && PINS.indexOf(ofUser) > PINS.indexOf(said) ? ofUser : said;
}

const PINS: readonly Pin[] = ['off', 'warn', 'block'];
