import { keyPath } from './problem.ts';
import type { Warn } from './candidate.ts';
import { fillValue, type ReferenceFiller, type KeyLocation } from './filler.ts';
import type { PresentationSettings } from './schema/config.ts';

/** Which tools of a server are offered, and how they are presented. */
export interface ToolSettings {
  /** Patterns of the only tools offered; undefined: all tools. */
  readonly allow: readonly Pattern[] | undefined;
  /** Patterns of tools that are not offered, even if allowed. */
  readonly deny: readonly Pattern[];
  /** By the tool's own name. */
  readonly shapes: ReadonlyMap<string, ToolShape>;
}

/** A pattern and where it was written, for a warning if it matches nothing. */
export interface Pattern {
  readonly pattern: string;
  /** True if the pattern is exactly the name of a tool, whatever characters it contains. */
  readonly literal: boolean;
  readonly origin: Origin;
}

/** How one tool is presented. */
export interface ToolShape {
  /** The name it is offered under. Default: its own. */
  readonly exposed?: string | undefined;
  /** The description it is offered with. Default: its own. */
  readonly description?: string | undefined;
  /** Arguments that the client neither sees nor sets, with references filled in. Must never be logged. */
  readonly presets?: Readonly<Record<string, unknown>> | undefined;
  /** Arguments that are never logged. */
  readonly redact?: readonly string[] | undefined;
  /** Limits on its results, as written; false: no limit. Default: those of its server. */
  readonly results?: PresentationSettings['results'];
  readonly origin: Origin;
}

export interface Origin {
  readonly file: string;
  /** The location in the file, for example `mcpServers.github.exposedTools[0]`. */
  readonly key: string;
}

/** What one part of the configuration says about the tools of a server. */
export interface ToolSettingSource extends KeyLocation {
  readonly settings: Pick<PresentationSettings, 'expose' | 'exposedTools' | 'hiddenTools' | 'tools'>;
}

/**
 * Combines several sources, the one with the highest precedence first. Only the first list counts, including its
 * renames; each setting of a tool comes from the first source that has it.
 */
export function toolSettings(
  sources: readonly ToolSettingSource[],
  filler: ReferenceFiller,
  warn: Warn,
): ToolSettings {
  if (!sources.some(({ settings }) => saysAnything(settings))) return ALL_TOOLS;
  const allowing = sources.find(({ settings }) => settings.expose?.allow ?? settings.exposedTools);
  const denying = sources.find(({ settings }) => settings.expose?.deny ?? settings.hiddenTools);
  return {
    allow: allowing && [
      ...patterns(allowing, allowing.settings.expose?.allow, 'expose', 'allow'),
      ...patterns(allowing, allowing.settings.exposedTools, 'exposedTools'),
    ],
    deny:
      denying === undefined
        ? []
        : [
            ...patterns(denying, denying.settings.expose?.deny, 'expose', 'deny'),
            ...patterns(denying, denying.settings.hiddenTools, 'hiddenTools'),
          ],
    shapes: shapesOf(sources, allowing, filler, warn),
  };
}

const ALL_TOOLS: ToolSettings = { allow: undefined, deny: [], shapes: new Map() };

function saysAnything({ expose, exposedTools, hiddenTools, tools }: ToolSettingSource['settings']): boolean {
  return (expose ?? exposedTools ?? hiddenTools ?? tools) !== undefined;
}

type Rename = Exclude<NonNullable<PresentationSettings['exposedTools']>[number], string>;

function patterns(
  location: KeyLocation,
  list: readonly (string | Rename)[] | undefined = [],
  ...path: string[]
): Pattern[] {
  return list.map((each, index) => {
    const literal = typeof each !== 'string';
    const origin = originOf(within(location, ...path, index));
    return { pattern: literal ? each.original : each, literal, origin };
  });
}

function shapesOf(
  sources: readonly ToolSettingSource[],
  allowing: ToolSettingSource | undefined,
  filler: ReferenceFiller,
  warn: Warn,
): ReadonlyMap<string, ToolShape> {
  const perSource = sources.map((source) => shapesAt(source, source === allowing, warn));
  const shapes = new Map<string, ToolShape>();
  for (const tool of new Set(perSource.flatMap((words) => [...words.keys()]))) {
    const words = perSource.flatMap((each) => each.get(tool) ?? []);
    const [first] = words;
    if (first === undefined) continue;
    const presets = words.find((each) => each.presets !== undefined);
    shapes.set(tool, {
      exposed: words.find((each) => each.exposed !== undefined)?.exposed,
      description: words.find((each) => each.description !== undefined)?.description,
      // Only values that take effect are filled in: unused ones need not be set.
      presets:
        presets &&
        (fillValue(presets.presets, within(presets.location, 'presets'), filler) as Record<string, unknown>),
      redact: words.find((each) => each.redact !== undefined)?.redact,
      ...resultsIn(words),
      origin: originOf(first.location),
    });
  }
  warnAboutSharedNames(shapes, warn);
  return shapes;
}

function resultsIn(words: readonly ShapeSettings[]): Pick<ToolShape, 'results'> {
  const found = words.find((each) => each.results !== undefined);
  return found === undefined ? {} : { results: found.results };
}

/** The settings that one source has for one tool, with references not filled in. */
type ShapeSettings = Omit<ToolShape, 'origin'> & { readonly location: KeyLocation };

function shapesAt(source: ToolSettingSource, renames: boolean, warn: Warn): Map<string, ShapeSettings> {
  const { exposedTools = [], tools = {} } = source.settings;
  const shapes = new Map<string, ShapeSettings>();
  for (const [tool, { name: exposed, ...rest }] of Object.entries(tools)) {
    shapes.set(tool, { exposed, ...rest, location: within(source, 'tools', tool) });
  }
  if (!renames) return shapes;
  for (const [index, each] of exposedTools.entries()) {
    if (typeof each === 'string') continue;
    const { original, exposed } = each;
    const here = within(source, 'exposedTools', index);
    const known = shapes.get(original);
    if (known?.exposed === undefined) {
      shapes.set(original, { location: here, ...known, exposed });
    } else if (known.exposed !== exposed) {
      const message = `"${original}" is already renamed to "${known.exposed}" in ${keyPath(known.location.path)}, which is used`;
      warn({ ...originOf(within(here, 'exposed')), message, level: 'warn' });
    }
  }
  return shapes;
}

function warnAboutSharedNames(shapes: ReadonlyMap<string, ToolShape>, warn: Warn): void {
  const owners = new Map<string, string>();
  for (const [tool, { exposed, origin }] of shapes) {
    if (exposed === undefined) continue;
    const owner = owners.get(exposed);
    if (owner === undefined) owners.set(exposed, tool);
    else {
      const message = `"${exposed}" is already the new name of "${owner}"; choose another name for "${tool}"`;
      warn({ ...origin, message, level: 'warn' });
    }
  }
}

function within({ file, path }: KeyLocation, ...steps: (string | number)[]): KeyLocation {
  return { file, path: [...path, ...steps] };
}

function originOf({ file, path }: KeyLocation): Origin {
  return { file, key: keyPath(path) };
}
