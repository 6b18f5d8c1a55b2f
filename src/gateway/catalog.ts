import type { Exposure } from './exposure.ts';
import type { Source } from './source.ts';

/** An immutable snapshot of all sources and how each is shown. A change builds a new one. */
export interface Catalog {
  /** Counts up with every change. */
  readonly generation: number;
  readonly entries: readonly CatalogEntry[];
}

export interface CatalogEntry {
  readonly source: Source;
  /** True for a tool of the source that may be seen and called, however it is shown. */
  readonly admits: (tool: string) => boolean;
  readonly exposure: Exposure;
}
