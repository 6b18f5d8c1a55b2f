import type { Call } from './call.ts';
import type { CatalogEntry } from './catalog.ts';
import type { FilteredTools } from './tool-filter.ts';
import type { Source } from './source.ts';

/**
 * How one entry of the catalog looks to a client. Each tool is presented together with the way to run it, so that
 * finding a tool again is a look into a table made from the same list: what is listed can be called and nothing else
 * can. Entries of one catalog may be shown in different ways, side by side.
 */
export interface Exposure {
  /** Whether it shows the source's own tools, so that the source is started to learn them. */
  readonly needsTools: boolean;
  /** `filtered` is what the source offers; undefined as long as that is not known. */
  present(entry: CatalogEntry, filtered: FilteredTools | undefined): readonly PresentedTool[];
}

/** A way to show tools that looks at the whole catalog. */
export interface OverallExposure {
  present(find: (source: string) => FilteredEntry | undefined): readonly PresentedTool[];
}

/** An entry and what is known of its tools. */
export interface FilteredEntry {
  readonly entry: CatalogEntry;
  readonly filtered: FilteredTools | undefined;
}

export interface PresentedTool {
  /** The names it should have, best first; where all are taken, the last one is numbered. */
  readonly names: readonly string[];
  /** The tool as the client sees it in `tools/list`, under the name it got, as JSON text. */
  definition(name: string): string;
  /**
   * Runs a `tools/call` for it under the name it got; the answer goes to the call. `source` is that of the entry it was
   * presented for, so that what is presented can be the same for many catalogs.
   */
  run(call: Call, name: string, source: Source | undefined): void;
}
