import { filterTools, type CatalogEntry, type Exposure, type FilteredTools } from '../../gateway/index.ts';

/** For tools that are in no list: `find_tool` finds them, `call_tool` runs them. */
export const searched: Exposure = { needsTools: false, isSearched: true, present: () => [] };

/** The same, but scripts may also call the tools. */
export const scripted: Exposure = { ...searched, isScripted: true };

/** The servers whose tools are found by searching. */
export function searchedEntries(entries: readonly CatalogEntry[]): CatalogEntry[] {
  return entries.filter(({ exposure, offers }) => exposure.isSearched === true && offers.has('tools'));
}

/** The tools of a server, as far as they are known; starts nothing. */
export function knownTools({ source, rules }: CatalogEntry): FilteredTools | undefined {
  const listing = source.known('tools') ?? source.remembered('tools');
  // A server with an empty list would never be called, and so never be listed again.
  if (listing === undefined || (listing.remembered === true && listing.components.length === 0))
    return undefined;
  return filterTools(listing, rules);
}
