import { memberText, withMembers } from '../wire/index.ts';
import { Component, type Listing } from './component.ts';
import type { ResultLimits } from './results.ts';

/** Which tools of a source are exposed, and how. The same rules apply to listing and calling. */
export interface ToolRules {
  /** Takes the tool's own name. */
  allows(tool: string): boolean;
  /** Changes to individual tools, by their own names. */
  readonly overrides: ReadonlyMap<string, ToolOverrides>;
  /** The limits for the results of a tool, by its own name. Default: no limits. */
  readonly resultLimits?: ((tool: string) => ResultLimits | undefined) | undefined;
}

export interface ToolOverrides {
  /** Another name for clients. */
  readonly exposed?: string | undefined;
  /** Another description. */
  readonly description?: string | undefined;
  /** Arguments that the client neither sees nor sets. */
  readonly presets?: Readonly<Record<string, unknown>> | undefined;
}

/** A tool that clients can see and call. */
export interface OfferedTool {
  /** The name that clients use, within its source. */
  readonly name: string;
  /** Its name at its server. */
  readonly original: string;
  /** The tool as clients see it, under `name`. */
  readonly component: Component;
  /** Arguments that are added to every call, as JSON texts. */
  readonly presets: ReadonlyMap<string, string> | undefined;
  /** How long its results may be. Default: no limit. */
  readonly resultLimits?: ResultLimits | undefined;
}

/** The tools of one listing that the rules allow. */
export interface FilteredTools {
  readonly listing: Listing;
  readonly tools: readonly OfferedTool[];
  readonly byName: ReadonlyMap<string, OfferedTool>;
}

/** Applies the rules. Returns the same object for the same listing and rules. */
export function filterTools(listing: Listing, rules: ToolRules): FilteredTools {
  const cached = filteredByListing.get(listing);
  if (cached?.rules === rules) return cached.filtered;
  const tools: OfferedTool[] = [];
  const byName = new Map<string, OfferedTool>();
  for (const component of listing.components) {
    if (!rules.allows(component.key)) continue;
    const tool = offer(component, rules, byName);
    tools.push(tool);
    byName.set(tool.name, tool);
  }
  const filtered = { listing, tools, byName };
  filteredByListing.set(listing, { rules, filtered });
  return filtered;
}

const filteredByListing = new WeakMap<
  Listing,
  { readonly rules: ToolRules; readonly filtered: FilteredTools }
>();

/** The server's own name for a tool that clients call `name`; undefined for the old name of a renamed tool. */
export function originalName(name: string, { overrides }: ToolRules): string | undefined {
  for (const [original, { exposed }] of overrides) if (exposed === name) return original;
  const renamed = overrides.get(name)?.exposed;
  return renamed === undefined || renamed === name ? name : undefined;
}

function offer(component: Component, rules: ToolRules, taken: ReadonlyMap<string, unknown>): OfferedTool {
  const overrides = rules.overrides.get(component.key);
  const wanted = overrides?.exposed ?? component.key;
  let name = wanted;
  // A tool may be renamed to a name that another tool already has.
  for (let count = 2; taken.has(name); count++) name = `${wanted}_${count}`;
  const presets = presetsOf(overrides);
  const changes = new Map<string, string | undefined>();
  if (name !== component.key) changes.set('name', JSON.stringify(name));
  if (overrides?.description !== undefined) changes.set('description', JSON.stringify(overrides.description));
  if (presets !== undefined) {
    const schema = memberText(component.text, 'inputSchema');
    if (schema !== undefined) changes.set('inputSchema', withoutArguments(schema, presets));
  }
  const shown = changes.size === 0 ? component : new Component(name, withMembers(component.text, changes));
  const resultLimits = rules.resultLimits?.(component.key);
  return { name, original: component.key, component: shown, presets, resultLimits };
}

/** The arguments that are added to every call of a tool, by its own name, as JSON texts. */
export function presetsFor(
  original: string,
  { overrides }: ToolRules,
): ReadonlyMap<string, string> | undefined {
  return presetsOf(overrides.get(original));
}

/** A tool as clients see it, by its own name: without the preset arguments. */
export function overriddenTool(component: Component, rules: ToolRules): Component {
  return offer(component, rules, NOTHING_TAKEN).component;
}

const NOTHING_TAKEN: ReadonlyMap<string, unknown> = new Map();

function presetsOf(overrides: ToolOverrides | undefined): ReadonlyMap<string, string> | undefined {
  const entries = Object.entries(overrides?.presets ?? {});
  if (entries.length === 0) return undefined;
  return new Map(entries.map(([key, value]) => [key, JSON.stringify(value)]));
}

/** The schema without some of its properties, otherwise unchanged. */
function withoutArguments(schema: string, presets: ReadonlyMap<string, string>): string {
  if (!schema.startsWith('{')) return schema;
  const changes = new Map<string, string | undefined>();
  const properties = memberText(schema, 'properties');
  if (properties?.startsWith('{')) {
    changes.set(
      'properties',
      withMembers(properties, new Map([...presets.keys()].map((key) => [key, undefined]))),
    );
  }
  const required = memberText(schema, 'required');
  const names: unknown = required === undefined ? undefined : JSON.parse(required);
  if (Array.isArray(names)) {
    changes.set('required', JSON.stringify(names.filter((name) => !presets.has(name as string))));
  }
  return withMembers(schema, changes);
}

/** Adds the presets to arguments given as the JSON text of an object; a client cannot set those itself. */
export function withPresets(args: string, presets: ReadonlyMap<string, string>): string {
  return withMembers(args, presets);
}
