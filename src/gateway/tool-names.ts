import type { Call } from './call.ts';
import type { PresentedTool } from './exposure.ts';
import { NameOrder } from './name-order.ts';
import type { NameReservations } from './name-reservations.ts';
import { validToolName } from './valid-tool-name.ts';
import type { Source } from './source.ts';

/** A tool under the name that clients use. Kept small: each of many clients may see thousands. */
export class ExposedTool {
  readonly name: string;
  /** The source it belongs to; undefined if it belongs to several. */
  readonly owner: Source | undefined;
  /** Whether a source that is not listed yet may turn out to have priority for this name. */
  readonly provisional: boolean;
  /** Whether it has been called, which reserves its name for its source. */
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

  /** Its definition, as JSON text. */
  get definition(): string {
    return this.#tool.definition(this.name);
  }

  run(call: Call): void {
    this.#tool.run(call, this.name, this.owner);
  }
}

export interface ToolGroup {
  /** Undefined for tools that belong to several sources. */
  readonly source: Source | undefined;
  readonly tools: readonly PresentedTool[];
  /** Whether its tools were named by the user or by us: no server may use such a name for one of its tools. */
  readonly hasPriority: boolean;
  /** Whether its tools, which have names without a prefix, are not known yet. Default false. */
  readonly unlisted?: boolean;
}

/** Maps the name of each tool, for listing and calling, to the tool, in the order of the list. */
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

/** Whether a tool's name does not say which server it is for, so that another server may have it too. */
function isPlain({ names: [first = '', ...others] }: PresentedTool, name: string): boolean {
  return others.length > 0 && name === validToolName(first);
}

/**
 * The first free name; if there is none, the last name with a number. `counts` remembers the numbers that are known to
 * be taken: counting up from 2 for each of a thousand tools would be slow.
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
