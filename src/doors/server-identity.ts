import type { CatalogKind, JsonObject } from '../protocol/index.ts';

/** Our identity for clients. */
export interface ServerIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** The instructions for the client's model, read when the client connects. */
  readonly instructions: () => string;
  /**
   * Whether our components never change while we run, so that clients get no subscriptions and no list_changed. Default
   * false.
   */
  readonly fixed?: boolean;
  /** Whether a client may send requests without initialize. Default false. */
  readonly initializeOptional?: boolean;
}

/**
 * Our capabilities. We do not ask the servers first, because the client would have to wait, so they include everything
 * that a server may have; a list that no server has is empty. `eraCapabilities` are those of a single protocol version.
 */
export function serverCapabilities(
  { fixed = false }: ServerIdentity,
  kinds: ReadonlySet<CatalogKind>,
  eraCapabilities: JsonObject,
): JsonObject {
  const has = (kind: CatalogKind): boolean => kinds.has(kind);
  if (fixed)
    return {
      ...(has('tools') ? { tools: { listChanged: false } } : {}),
      ...(has('resources') ? { resources: { subscribe: false, listChanged: false } } : {}),
      ...(has('prompts') ? { prompts: { listChanged: false } } : {}),
    };
  return {
    tools: { listChanged: true },
    ...(has('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(has('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(has('prompts') || has('resources') ? { completions: {} } : {}),
    ...(kinds.size > 0 ? { logging: {} } : {}),
    ...eraCapabilities,
  };
}
