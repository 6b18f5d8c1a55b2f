import { CATALOG_KINDS, LIST_KINDS, type CatalogKind } from '../protocol/index.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { NameReservations } from './name-reservations.ts';
import type { Listing } from './component.ts';
import {
  namePrompts,
  nameResources,
  nameTemplates,
  type OwnedComponent,
  type OwnedTemplate,
} from './component-names.ts';
import type { OverallExposure, FilteredEntry } from './exposure.ts';
import { filterTools } from './tool-filter.ts';
import { nameTools, type ExposedTool } from './tool-names.ts';

/** Everything derived from one catalog and the lists of its sources, so that a change replaces one value. */
export interface Snapshot {
  readonly catalog: Catalog;
  readonly tools: ReadonlyMap<string, ExposedTool>;
  readonly prompts: ReadonlyMap<string, OwnedComponent>;
  readonly resources: ReadonlyMap<string, OwnedComponent>;
  readonly templates: ReadonlyMap<string, OwnedTemplate>;
  /** The answers to the requests that list them, as JSON text. */
  readonly texts: Readonly<Record<CatalogKind, string>>;
}

/** The known lists of one source, by kind. */
export type SourceListings = Readonly<Record<CatalogKind, Listing | undefined>>;

export function takeSnapshot(
  catalog: Catalog,
  overall: readonly OverallExposure[],
  listingsOf: (entry: CatalogEntry) => SourceListings | undefined,
  reservations: Readonly<Record<CatalogKind, NameReservations>>,
): Snapshot {
  const listings = (kind: CatalogKind) =>
    catalog.entries.map((entry) => ({
      entry,
      listing: entry.offers.has(kind) ? listingsOf(entry)?.[kind] : undefined,
    }));
  const filteredEntries: FilteredEntry[] = listings('tools').map(({ entry, listing }) => ({
    entry,
    filtered: listing && filterTools(listing, entry.rules),
  }));
  const find = (source: string): FilteredEntry | undefined =>
    filteredEntries.find((each) => each.entry.source.name === source);
  const tools = nameTools(
    [
      ...overall.map((exposure) => ({
        source: undefined,
        tools: exposure.present(find),
        hasPriority: true,
      })),
      ...filteredEntries.map(({ entry, filtered }) => ({
        source: entry.source,
        tools: entry.offers.has('tools') ? entry.exposure.present(entry, filtered) : [],
        hasPriority: !entry.exposure.needsTools,
      })),
    ],
    reservations.tools,
  );
  const prompts = namePrompts(listings('prompts'), reservations.prompts);
  const resources = nameResources(listings('resources'), reservations.resources);
  const templates = nameTemplates(listings('resourceTemplates'), reservations.resourceTemplates);
  const parts: Record<CatalogKind, Iterable<string>> = {
    tools: [...tools.values()].map((tool) => tool.definition),
    prompts: textsIn(prompts),
    resources: textsIn(resources),
    resourceTemplates: textsIn(templates),
  };
  const texts = Object.fromEntries(
    CATALOG_KINDS.map((kind) => [
      kind,
      interned(`{"${LIST_KINDS[kind].member}":[${[...parts[kind]].join(',')}]}`),
    ]),
  ) as Record<CatalogKind, string>;
  return { catalog, tools, prompts, resources, templates, texts };
}

/**
 * Returns an equal recent string instead of the new one, to save memory: the lists of many clients are mostly equal, and
 * long.
 */
function interned(text: string): string {
  const known = latest.find((each) => each.length === text.length && each === text);
  if (known !== undefined) return known;
  latest.unshift(text);
  if (latest.length > LATEST) latest.pop();
  return text;
}

const LATEST = 16;
const latest: string[] = [];

function textsIn(components: ReadonlyMap<string, OwnedComponent>): string[] {
  return [...components.values()].map(({ text }) => text);
}

/** The names of one kind that a client sees, each with the source it belongs to. */
export function listedNames(snapshot: Snapshot, kind: CatalogKind): [name: string, owner: string][] {
  if (kind === 'tools') return [...snapshot.tools.values()].map(({ name, source = '' }) => [name, source]);
  const components: ReadonlyMap<string, OwnedComponent> =
    kind === 'prompts' ? snapshot.prompts : kind === 'resources' ? snapshot.resources : snapshot.templates;
  return [...components].map(([name, { entry }]) => [name, entry.source.name]);
}
