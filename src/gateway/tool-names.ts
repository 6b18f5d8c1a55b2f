import type { Call } from './call.ts';
import type { PresentedTool } from './exposure.ts';
import { NameOrder } from './name-order.ts';
import type { NameReservations } from './name-reservations.ts';
import { validToolName } from './valid-tool-name.ts';
import type { Source } from './source.ts';

/** A tool under the name that clients use. Small: each of many clients may see thousands. */
export class ExposedTool {
  readonly name: string;
  /** The source it belongs to; undefined for one that belongs to several. */
  readonly owner: Source | undefined;
  /** Whether a source that is not listed yet may turn out to come first with this name. */
  readonly provisional: boolean;
  /** Whether it has been called, so that its name stays with its source. */
  called = false;
  readonly #tool: PresentedTool;

  constructor(name: string, tool: PresentedTool, owner: Source | undefined, provisional: boolean) {
    this.name = name;
    this.owner = owner;
    this.provisional = provisional;
    this.#tool = tool;
  }

  /** The name of the source it belongs to. */
  get source(): string | undefined {
    return this.owner?.name;
  }

  /** As JSON text. */
  get definition(): string {
    return this.#tool.definition(this.name);
  }

  run(call: Call): void {
    this.#tool.run(call, this.name, this.owner);
  }
}

export interface ToolGroup {
  /** Undefined for tools that belong to several. */
  readonly source: Source | undefined;
  readonly tools: readonly PresentedTool[];
  /** True for tools named by the user or by us: no server may take such a name with a tool of its own. */
  readonly hasPriority: boolean;
  /** Whether its tools, which have names of their own, are not known yet. Default false. */
  readonly unlisted?: boolean;
}

/** Every tool by the one name it is listed and called by, in the order of the list. */
export function nameTools(
  groups: readonly ToolGroup[],
  reservations: NameReservations,
): ReadonlyMap<string, ExposedTool> {
  const order = new NameOrder(
    groups.map(({ source, unlisted = false }) => ({ name: source?.name ?? '', listed: !unlisted })),
    reservations,
  );
  const names = new Map<string, PresentedTool>();
  const nameOf = new Map<PresentedTool, string>();
  for (const first of [true, false]) {
    for (const { source, tools, hasPriority } of groups) {
      if (hasPriority !== first) continue;
      const isFree = (name: string): boolean => !names.has(name) && order.allows(name, source?.name ?? '');
      const counts = new Map<string, number>();
      for (const tool of tools) {
        const name = freeName(
          tool.names.map(validToolName),
          isFree,
          (wanted, count) => validToolName(`${wanted.slice(0, 60)}_${count}`),
          counts,
        );
        names.set(name, tool);
        nameOf.set(tool, name);
      }
    }
  }
  const byName = new Map<string, ExposedTool>();
  for (const { source, tools } of groups) {
    for (const tool of tools) {
      const name = nameOf.get(tool);
      if (name === undefined) continue;
      const provisional = source !== undefined && order.give(name, source.name) && isPlain(tool, name);
      byName.set(name, new ExposedTool(name, tool, source, provisional));
    }
  }
  return byName;
}

/** Whether a tool has a name that another server may have too; the others say which server they are for. */
function isPlain({ names: [first = '', ...others] }: PresentedTool, name: string): boolean {
  return others.length > 0 && name === validToolName(first);
}

/**
 * The first of the names that is free; where none is, the last one numbered by its place in the list. `counts` holds the
 * numbers that are known to be taken: counting up to a thousand for each of a thousand tools would take its time.
 */
export function freeName(
  wanted: readonly string[],
  isFree: (name: string) => boolean,
  numbered: (name: string, count: number) => string,
  counts = new Map<string, number>(),
): string {
  for (const name of wanted) if (isFree(name)) return name;
  const last = wanted.at(-1) ?? '';
  for (let count = counts.get(last) ?? 2; ; count++) {
    const name = numbered(last, count);
    if (!isFree(name)) continue;
    counts.set(last, count + 1);
    return name;
  }
}
