import type { Call } from './call.ts';
import type { CatalogEntry } from './catalog.ts';
import type { FilteredTools } from './tool-filter.ts';
import type { Source } from './source.ts';

/**
 * How one entry of the catalog is exposed to clients. Each tool is presented together with the function that runs it,
 * so that exactly the listed tools can be called. Entries of one catalog may use different exposures.
 */
export interface Exposure {
  /** Whether it exposes the source's own tools, so that the source has to be started to list them. */
  readonly needsTools: boolean;
  /** Whether its tools are found by searching instead of being listed. Default false. */
  readonly isSearched?: boolean;
  /** Whether scripts may call its tools. Default false. */
  readonly isScripted?: boolean;
  /** `filtered` is undefined until the source's tools are known. */
  present(entry: CatalogEntry, filtered: FilteredTools | undefined): readonly PresentedTool[];
}

/** Tools made from the whole catalog. */
export interface OverallExposure {
  present(
    find: (source: string) => FilteredEntry | undefined,
    entries: readonly CatalogEntry[],
  ): readonly PresentedTool[];
}

/** An entry and its tools, if they are known. */
export interface FilteredEntry {
  readonly entry: CatalogEntry;
  readonly filtered: FilteredTools | undefined;
}

export interface PresentedTool {
  /** The names it should have, in order of preference; if all are taken, the last one is numbered. */
  readonly names: readonly string[];
  /** The tool as clients see it in `tools/list`, under the given name, as JSON text. */
  definition(name: string): string;
  /**
   * Runs a `tools/call` for the tool under the given name and answers the call. `source` is the source of the entry it
   * was presented for, so that one presented tool can serve many catalogs.
   */
  run(call: Call, name: string, source: Source | undefined): void;
}
