import { keyPath } from './problem.ts';
import type { Warn } from './candidate.ts';
import { fillValue, type Filler, type Place } from './filler.ts';
import type { Look } from './schema/config.ts';

/** Which tools of a server are offered, and how they look. */
export interface ToolSettings {
  /** Patterns of the only tools offered; undefined: all are. */
  readonly allow: readonly Pattern[] | undefined;
  /** Patterns of tools not offered, even if allowed. */
  readonly deny: readonly Pattern[];
  /** By the tool's own name. */
  readonly shapes: ReadonlyMap<string, ToolShape>;
}

/** A pattern and where it was written, for a warning when it matches nothing. */
export interface Pattern {
  readonly pattern: string;
  /** True where the pattern is the very name of a tool, whatever characters it has. */
  readonly literal: boolean;
  readonly origin: Origin;
}

/** How one tool looks. */
export interface ToolShape {
  /** The name it is offered under. Default: its own. */
  readonly exposed?: string | undefined;
  /** The description it is offered with. Default: its own. */
  readonly description?: string | undefined;
  /** Arguments the client neither sees nor gives, filled in. Never to be logged. */
  readonly presets?: Readonly<Record<string, unknown>> | undefined;
  /** Arguments that are never logged. */
  readonly redact?: readonly string[] | undefined;
  readonly origin: Origin;
}

export interface Origin {
  readonly file: string;
  /** The place in the file, for example `mcpServers.github.exposedTools[0]`. */
  readonly key: string;
}

/** What one place says about the tools of a server. */
export interface ToolWords extends Place {
  readonly says: Pick<Look, 'expose' | 'exposedTools' | 'hiddenTools' | 'tools'>;
}

/**
 * Brings together what several places say, the one with the most say first. A list of the first place that has one
 * holds alone, renames in it included; of a tool's settings, each is taken from the first place that has it.
 */
export function toolSettings(places: readonly ToolWords[], filler: Filler, warn: Warn): ToolSettings {
  const allowing = places.find(({ says }) => says.expose?.allow ?? says.exposedTools);
  const denying = places.find(({ says }) => says.expose?.deny ?? says.hiddenTools);
  return {
    allow: allowing && [
      ...patterns(allowing, allowing.says.expose?.allow, 'expose', 'allow'),
      ...patterns(allowing, allowing.says.exposedTools, 'exposedTools'),
    ],
    deny:
      denying === undefined
        ? []
        : [
            ...patterns(denying, denying.says.expose?.deny, 'expose', 'deny'),
            ...patterns(denying, denying.says.hiddenTools, 'hiddenTools'),
          ],
    shapes: shapesOf(places, allowing, filler, warn),
  };
}

type Rename = Exclude<NonNullable<Look['exposedTools']>[number], string>;

function patterns(
  place: Place,
  list: readonly (string | Rename)[] | undefined = [],
  ...path: string[]
): Pattern[] {
  return list.map((each, index) => {
    const literal = typeof each !== 'string';
    const origin = originOf(within(place, ...path, index));
    return { pattern: literal ? each.original : each, literal, origin };
  });
}

function shapesOf(
  places: readonly ToolWords[],
  allowing: ToolWords | undefined,
  filler: Filler,
  warn: Warn,
): ReadonlyMap<string, ToolShape> {
  const spoken = places.map((place) => shapesAt(place, place === allowing, warn));
  const shapes = new Map<string, ToolShape>();
  for (const tool of new Set(spoken.flatMap((words) => [...words.keys()]))) {
    const words = spoken.flatMap((each) => each.get(tool) ?? []);
    const presets = words.find((each) => each.presets !== undefined);
    shapes.set(tool, {
      exposed: words.find((each) => each.exposed !== undefined)?.exposed,
      description: words.find((each) => each.description !== undefined)?.description,
      // Only what holds is filled in: what is not used need not be set.
      presets:
        presets &&
        (fillValue(presets.presets, within(presets.place, 'presets'), filler) as Record<string, unknown>),
      redact: words.find((each) => each.redact !== undefined)?.redact,
      origin: originOf(words[0]!.place),
    });
  }
  warnAboutSharedNames(shapes, warn);
  return shapes;
}

/** What one place says about one tool, nothing filled in. */
type ShapeWords = Omit<ToolShape, 'origin'> & { readonly place: Place };

function shapesAt(place: ToolWords, renames: boolean, warn: Warn): Map<string, ShapeWords> {
  const { exposedTools = [], tools = {} } = place.says;
  const shapes = new Map<string, ShapeWords>();
  for (const [tool, { name: exposed, ...rest }] of Object.entries(tools)) {
    shapes.set(tool, { exposed, ...rest, place: within(place, 'tools', tool) });
  }
  if (!renames) return shapes;
  for (const [index, each] of exposedTools.entries()) {
    if (typeof each === 'string') continue;
    const { original, exposed } = each;
    const here = within(place, 'exposedTools', index);
    const known = shapes.get(original);
    if (known?.exposed === undefined) {
      shapes.set(original, { place: here, ...known, exposed });
    } else if (known.exposed !== exposed) {
      const message = `"${original}" is already renamed to "${known.exposed}" in ${keyPath(known.place.path)}, which holds`;
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
      const message = `"${exposed}" is the new name of "${owner}" already; give "${tool}" another one`;
      warn({ ...origin, message, level: 'warn' });
    }
  }
}

function within({ file, path }: Place, ...steps: (string | number)[]): Place {
  return { file, path: [...path, ...steps] };
}

function originOf({ file, path }: Place): Origin {
  return { file, key: keyPath(path) };
}
