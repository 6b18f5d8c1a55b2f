import { CATALOG_KINDS, LIST_KINDS, type CatalogKind } from '../protocol/index.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { ListedName, NameReservations } from './name-reservations.ts';
import type { Listing } from './component.ts';
import {
  namePrompts,
  nameResources,
  nameTemplates,
  type OwnedComponent,
  type OwnedTemplate,
} from './component-names.ts';
import type { OverallExposure, FilteredEntry } from './exposure.ts';
import { RESULT_TEMPLATE } from './results.ts';
import { filterTools } from './tool-filter.ts';
import { nameTools, type ExposedTool } from './tool-names.ts';

/** Everything derived from one catalog and the lists of its sources, so that a change replaces a single value. */
export interface Snapshot {
  readonly catalog: Catalog;
  readonly tools: ReadonlyMap<string, ExposedTool>;
  readonly prompts: ReadonlyMap<string, OwnedComponent>;
  readonly resources: ReadonlyMap<string, OwnedComponent>;
  readonly templates: ReadonlyMap<string, OwnedTemplate>;
  /** The results of the list requests, as JSON text. */
  readonly texts: Readonly<ListTexts>;
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
    catalog.entries.map((entry) => {
      const offers = entry.offers.has(kind);
      const listing = offers ? listingsOf(entry)?.[kind] : undefined;
      // The names of its tools and prompts include the server; URIs never do.
      const isPrefixed = entry.naming === 'prefixed' && (kind === 'tools' || kind === 'prompts');
      return { entry, listing, unlisted: offers && listing === undefined && !isPrefixed };
    });
  const filteredEntries = listings('tools').map(({ entry, listing, unlisted }) => ({
    entry,
    filtered: listing && filterTools(listing, entry.rules),
    unlisted: unlisted && entry.exposure.needsTools,
  }));
  const find = (source: string): FilteredEntry | undefined =>
    filteredEntries.find((each) => each.entry.source.name === source);
  const tools = nameTools(
    [
      ...overall.map((exposure) => ({
        source: undefined,
        tools: exposure.present(find, catalog.entries),
        hasPriority: true,
      })),
      ...filteredEntries.map(({ entry, filtered, unlisted }) => ({
        source: entry.source,
        tools: entry.offers.has('tools') ? entry.exposure.present(entry, filtered) : [],
        hasPriority: !entry.exposure.needsTools,
        unlisted,
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
    resourceTemplates: [...textsIn(templates), ...(keepsResults(catalog) ? [RESULT_TEMPLATE] : [])],
  };
  const text = (kind: CatalogKind) => `{"${LIST_KINDS[kind].member}":[${[...parts[kind]].join(',')}]}`;
  const texts = shared(Object.fromEntries(CATALOG_KINDS.map((kind) => [kind, text(kind)])) as ListTexts);
  return { catalog, tools, prompts, resources, templates, texts };
}

/** Whether some results may be too long and are then kept for their client to read. */
export function keepsResults({ entries }: Catalog): boolean {
  return entries.some(({ rules }) => rules.resultLimits !== undefined);
}

/** Reuses equal lists of recent snapshots, to save memory: the lists of many clients are long and mostly equal. */
function shared(texts: ListTexts): ListTexts {
  for (const kind of CATALOG_KINDS) {
    const known = recent.find((each) => each.deref()?.[kind] === texts[kind]);
    texts[kind] = known?.deref()?.[kind] ?? texts[kind];
  }
  recent.unshift(new WeakRef(texts));
  if (recent.length > RECENT) recent.pop();
  return texts;
}

type ListTexts = Record<CatalogKind, string>;

const RECENT = 16;
const recent: WeakRef<ListTexts>[] = [];

function textsIn(components: ReadonlyMap<string, OwnedComponent>): string[] {
  return [...components.values()].map(({ text }) => text);
}

/** The names of one kind that a client sees, each with the source it belongs to. */
export function listedNames(snapshot: Snapshot, kind: CatalogKind): ListedName[] {
  if (kind === 'tools')
    return [...snapshot.tools.values()].map(({ name, source = '', provisional }) => [
      name,
      source,
      provisional,
    ]);
  const components: ReadonlyMap<string, OwnedComponent> =
    kind === 'prompts' ? snapshot.prompts : kind === 'resources' ? snapshot.resources : snapshot.templates;
  return [...components].map(([name, { entry, provisional }]) => [name, entry.source.name, provisional]);
}
