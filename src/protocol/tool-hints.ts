import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from './json.ts';

/** What a tool declares about its effects, with the protocol's defaults for anything missing. */
export interface ToolHints {
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly idempotent: boolean;
  readonly openWorld: boolean;
}

/** Reads the annotations of a tool. A tool that only reads destroys nothing and may be repeated. */
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

/** The hints of a tool that does what any of these tools do; undefined if there are none. */
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
