import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from './json.ts';

/** What a tool says it does, with the protocol's defaults for what it does not say. */
export interface ToolHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** Reads the annotations of a tool. A tool that only reads destroys nothing, and may be repeated. */
export function toolHints(annotations: unknown): ToolHints {
  const given = isObject(annotations) ? annotations : {};
  const readOnly = given.readOnlyHint === true;
  return {
    readOnly,
    destructive: !readOnly && given.destructiveHint !== false,
    idempotent: readOnly || given.idempotentHint === true,
    openWorld: given.openWorldHint !== false,
  };
}

/** What holds for a tool that does what any of these do; undefined for none. */
export function combinedHints(hints: readonly ToolHints[]): ToolHints | undefined {
  if (hints.length === 0) return undefined;
  return {
    readOnly: hints.every((each) => each.readOnly),
    destructive: hints.some((each) => each.destructive),
    idempotent: hints.every((each) => each.idempotent),
    openWorld: hints.some((each) => each.openWorld),
  };
}

export function annotationsOf({ readOnly, destructive, idempotent, openWorld }: ToolHints): JsonObject {
  return {
    readOnlyHint: readOnly,
    destructiveHint: destructive,
    idempotentHint: idempotent,
    openWorldHint: openWorld,
  };
}
