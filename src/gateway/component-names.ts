import { withMembers } from '../wire/index.ts';
import type { CatalogEntry } from './catalog.ts';
import { NameOrder } from './name-order.ts';
import type { NameReservations } from './name-reservations.ts';
import type { Component, Listing } from './component.ts';
import { freeName } from './tool-names.ts';
import { readTemplate, type UriTemplate } from './uri-template.ts';

/** The owner of a prompt or resource, and its name there and for clients. */
export interface OwnedComponent {
  readonly entry: CatalogEntry;
  /** Its name at its source. */
  readonly original: string;
  /** The name that clients use. */
  readonly exposed: string;
  /** Its definition as clients see it, as JSON text. */
  readonly text: string;
  /** Whether a source that is not listed yet may turn out to have priority for this name. */
  readonly provisional: boolean;
}

export interface OwnedTemplate extends OwnedComponent {
  /** Matches the source's own URIs; undefined if the template cannot be parsed. */
  readonly template: UriTemplate | undefined;
  /** The prefix of the source's own URIs in the URIs that clients use. */
  readonly prefix: string;
}

type EntryListings = readonly {
  readonly entry: CatalogEntry;
  readonly listing: Listing | undefined;
  /** Whether its components, which have names without a prefix, are not known yet. Default false. */
  readonly unlisted?: boolean;
}[];

/** Maps each prompt's exposed name to the prompt. */
export function namePrompts(
  entries: EntryListings,
  reservations: NameReservations,
): ReadonlyMap<string, OwnedComponent> {
  return nameComponents(entries, reservations, (entry, prompt, isFree) => {
    const { name: server } = entry.source;
    const prefixed = `${server}__${prompt.key}`;
    const names = entry.naming === 'prefixed' ? [prefixed] : [prompt.key, prefixed];
    const exposed = freeName(names, isFree, (name, count) => `${name}_${count}`);
    const text = renamedText(prompt, exposed, () => ({
      name: JSON.stringify(exposed),
      ...(entry.naming === 'plain'
        ? { description: JSON.stringify(labelWithServer(server, prompt.member('description'))) }
        : {}),
    }));
    return { exposed, text };
  });
}

/** Maps each resource's exposed URI to the resource: its own URI, or an alias if two servers have the same one. */
export function nameResources(
  entries: EntryListings,
  reservations: NameReservations,
): ReadonlyMap<string, OwnedComponent> {
  return nameComponents(entries, reservations, (entry, resource, isFree) => {
    const { exposed, text } = aliasedUri(entry, resource, 'uri', isFree);
    return { exposed, text };
  });
}

export function nameTemplates(
  entries: EntryListings,
  reservations: NameReservations,
): ReadonlyMap<string, OwnedTemplate> {
  return nameComponents(entries, reservations, (entry, component, isFree) => ({
    ...aliasedUri(entry, component, 'uriTemplate', isFree),
    template: readTemplate(component.key),
  }));
}

/** Gives each component the first name that its server may use; `named` returns what clients see. */
function nameComponents<T extends { readonly exposed: string; readonly text: string }>(
  entries: EntryListings,
  reservations: NameReservations,
  named: (entry: CatalogEntry, component: Component, isFree: (name: string) => boolean) => T,
): ReadonlyMap<string, OwnedComponent & T> {
  const byName = new Map<string, OwnedComponent & T>();
  // True until the first server has been listed, and afterwards for kinds that few servers have.
  if (entries.every(({ listing }) => listing === undefined || listing.components.length === 0)) return byName;
  const order = orderOf(entries, reservations);
  for (const { entry, listing } of entries) {
    const server = entry.source.name;
    const isFree = (name: string): boolean => !byName.has(name) && order.allows(name, server);
    for (const component of listing?.components ?? []) {
      const appearance = named(entry, component, isFree);
      const { exposed } = appearance;
      const provisional = order.give(exposed, server) && exposed === component.key;
      byName.set(exposed, { entry, original: component.key, provisional, ...appearance });
    }
  }
  return byName;
}

function orderOf(entries: EntryListings, reservations: NameReservations): NameOrder {
  const sources = entries.map(({ entry, unlisted = false }) => ({
    name: entry.source.name,
    listed: !unlisted,
  }));
  return new NameOrder(sources, reservations);
}

/** The template that matches a URI, preferring the most specific, and the URI as its source knows it. */
export function findTemplate(
  uri: string,
  templates: Iterable<OwnedTemplate>,
): { readonly entry: CatalogEntry; readonly original: string } | undefined {
  let best: OwnedTemplate | undefined;
  const spent = new Map<CatalogEntry, number>();
  for (const each of templates) {
    const { prefix, template } = each;
    if (template === undefined || !uri.startsWith(prefix)) continue;
    // Compared first because it is cheaper than matching.
    if (best !== undefined && template.literalLength + prefix.length <= specificity(best)) continue;
    // Templates are untrusted and may number in the thousands, so the work per URI is bounded for each server.
    const cost = (spent.get(each.entry) ?? 0) + template.parts * uri.length;
    if (cost > MATCH_BUDGET) continue;
    spent.set(each.entry, cost);
    if (template.matches(uri.slice(prefix.length))) best = each;
  }
  return best && { entry: best.entry, original: uri.slice(best.prefix.length) };
}

/** The limit per server for finding the owner of one URI: template parts times characters of the URI. */
const MATCH_BUDGET = 500_000;

function specificity({ template, prefix }: OwnedTemplate): number {
  return (template?.literalLength ?? 0) + prefix.length;
}

/** If two servers have the same URI, the later one is prefixed with its server's name, escaped. */
function aliasedUri(
  entry: CatalogEntry,
  component: Component,
  member: 'uri' | 'uriTemplate',
  isFree: (uri: string) => boolean,
): { exposed: string; text: string; prefix: string } {
  const server = entry.source.name;
  const { key } = component;
  const alias = `switchboard://${encodeURIComponent(server.replace(/\p{Cs}/gu, '\ufffd'))}/${key}`;
  // Otherwise a server that uses our scheme could take the alias of another server.
  const wanted = key.startsWith('switchboard:') ? [alias] : [key, alias];
  const exposed = freeName(wanted, isFree, (_, count) =>
    alias.replace('switchboard://', `switchboard://${count}.`),
  );
  const text = renamedText(component, exposed, () => ({
    ...(entry.naming === 'own'
      ? {}
      : { name: JSON.stringify(labelWithServer(server, component.member('name') ?? key)) }),
    ...(exposed === key ? {} : { [member]: JSON.stringify(exposed) }),
  }));
  return { exposed, text, prefix: exposed.slice(0, exposed.length - key.length) };
}

/** Prepends `[Server]` to a description. */
export function labelWithServer(server: string, said: unknown): string {
  return typeof said === 'string' && said !== '' ? `[${server}] ${said}` : `[${server}]`;
}

/** A component's text with some members changed, computed once per exposed name. */
function renamedText(
  component: Component,
  exposed: string,
  changes: () => Readonly<Record<string, string>>,
): string {
  const made = texts.get(component);
  if (made?.exposed === exposed) return made.text;
  const text = withMembers(component.text, changes());
  texts.set(component, { exposed, text });
  return text;
}

const texts = new WeakMap<Component, { readonly exposed: string; readonly text: string }>();
