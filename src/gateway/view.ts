import { KEPT_KINDS, KINDS, type KeptKind } from '../protocol/index.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { Claims } from './claims.ts';
import type { Listing } from './component.ts';
import { promptsOf, resourcesOf, templatesOf, type Owned, type OwnedTemplate } from './directory.ts';
import type { OverallExposure, Shown } from './exposure.ts';
import { select } from './selection.ts';
import { tableOf, type ExposedTool } from './table.ts';

/** Everything that follows from one catalog and what its sources offer, so that a change is a change of one value. */
export interface View {
  readonly catalog: Catalog;
  readonly tools: ReadonlyMap<string, ExposedTool>;
  readonly prompts: ReadonlyMap<string, Owned>;
  readonly resources: ReadonlyMap<string, Owned>;
  readonly templates: ReadonlyMap<string, OwnedTemplate>;
  /** The answers to the requests that list them, as JSON text. */
  readonly texts: Readonly<Record<KeptKind, string>>;
}

/** What is known of an entry's source, by kind. */
export type Offers = Readonly<Record<KeptKind, Listing | undefined>>;

export function viewOf(
  catalog: Catalog,
  overall: readonly OverallExposure[],
  offersOf: (entry: CatalogEntry) => Offers,
  claims: Readonly<Record<KeptKind, Claims>>,
): View {
  const listings = (kind: KeptKind) =>
    catalog.entries.map((entry) => ({
      entry,
      listing: entry.offers.has(kind) ? offersOf(entry)[kind] : undefined,
    }));
  const shown: Shown[] = listings('tools').map(({ entry, listing }) => ({
    entry,
    selection: listing && select(listing, entry.rules),
  }));
  const find = (source: string): Shown | undefined => shown.find((each) => each.entry.source.name === source);
  const tools = tableOf(
    [
      ...overall.map((exposure) => ({
        source: undefined,
        tools: exposure.present(find),
        choosesFirst: true,
      })),
      ...shown.map(({ entry, selection }) => ({
        source: entry.source,
        tools: entry.offers.has('tools') ? entry.exposure.present(entry, selection) : [],
        choosesFirst: !entry.exposure.needsTools,
      })),
    ],
    claims.tools,
  );
  const prompts = promptsOf(listings('prompts'), claims.prompts);
  const resources = resourcesOf(listings('resources'), claims.resources);
  const templates = templatesOf(listings('resourceTemplates'), claims.resourceTemplates);
  const parts: Record<KeptKind, Iterable<string>> = {
    tools: [...tools.values()].map((tool) => tool.definition),
    prompts: textsIn(prompts),
    resources: textsIn(resources),
    resourceTemplates: textsIn(templates),
  };
  const texts = Object.fromEntries(
    KEPT_KINDS.map((kind) => [kind, interned(`{"${KINDS[kind].member}":[${[...parts[kind]].join(',')}]}`)]),
  ) as Record<KeptKind, string>;
  return { catalog, tools, prompts, resources, templates, texts };
}

/**
 * The same text as an object that others hold already, where one of the latest is equal: the lists that many clients see
 * are mostly the same, and long.
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

function textsIn(table: ReadonlyMap<string, Owned>): string[] {
  return [...table.values()].map(({ text }) => text);
}

/** The names of one kind that a client sees, each with the source it belongs to. */
export function namesIn(view: View, kind: KeptKind): [name: string, owner: string][] {
  if (kind === 'tools') return [...view.tools.values()].map(({ name, source = '' }) => [name, source]);
  const table: ReadonlyMap<string, Owned> =
    kind === 'prompts' ? view.prompts : kind === 'resources' ? view.resources : view.templates;
  return [...table].map(([name, { entry }]) => [name, entry.source.name]);
}
