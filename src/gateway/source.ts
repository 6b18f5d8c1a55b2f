import type { JsonObject } from '../protocol/index.ts';
import type { Edit } from '../wire/index.ts';
import type { Call } from './call.ts';

/** Anything that offers components (tools, later resources and prompts) and runs them. */
export interface Source {
  readonly name: string;
  readonly state: SourceState;
  /** What the source said of itself; undefined until it has been started once. */
  about(): SourceInfo | undefined;
  /** Everything it offers of one kind, in its own order, as it described it. */
  list(kind: Kind): Promise<Listing>;
  /** The same where it is known already and has not changed since; asks nobody. */
  known(kind: Kind): Listing | undefined;
  /**
   * The one way in for every method: the client's own request, with what the exposure rewrites in it.
   * The answer goes to the call, exactly once, now or later.
   */
  request(edits: Edit[], call: Call): void;
  /** Called when what it offers may have changed. Returns the way to stop listening. */
  onChange(listener: (kind: Kind) => void): () => void;
  close(): Promise<void>;
}

export type Kind = 'tools';

export type SourceState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting'; readonly attempt: number }
  | { readonly kind: 'running'; readonly pid: number | undefined; readonly since: number }
  | { readonly kind: 'crashed'; readonly error: Error; readonly at: number }
  | { readonly kind: 'stopped' };

export interface SourceInfo {
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}

export interface Listing {
  readonly components: readonly Component[];
  readonly names: ReadonlySet<string>;
  /** Why the list is not everything, where it is not. */
  readonly incomplete: string | undefined;
}

/** A tool as its server described it; only the name is certain. */
export interface Component extends JsonObject {
  readonly name: string;
}
