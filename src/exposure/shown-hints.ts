import type { OfferedTool } from '../gateway/index.ts';
import {
  annotationsOf,
  combinedHints,
  toolHints,
  type JsonObject,
  type ToolHints,
} from '../protocol/index.ts';

/**
 * The annotations that clients see for one of our tools that represents several: their tools' annotations combined.
 * Hosts use them to decide what may run without asking, so they must not promise too much. There are none while the
 * tools are unknown. During a run they only become stricter, because a changed list costs hosts their prompt cache.
 */
export class ShownHints {
  readonly #sum: () => ToolHints | undefined;
  #begun = false;
  #shown: ToolHints | undefined;

  /** `sum` returns the combined hints of all currently known tools. */
  constructor(sum: () => ToolHints | undefined) {
    this.#sum = sum;
  }

  /** The annotations that clients see now, as a member of the tool. */
  show(): { readonly annotations?: JsonObject } {
    if (!this.#begun) this.#shown = this.#sum();
    else if (this.#shown !== undefined)
      this.#shown = combinedHints([this.#shown, this.#sum() ?? this.#shown]);
    this.#begun = true;
    return this.#shown === undefined ? {} : { annotations: annotationsOf(this.#shown) };
  }

  /** Whether the annotations promise anything that a tool could break. */
  get promisesAnything(): boolean {
    return this.#shown !== undefined && (this.#shown.readOnly || !this.#shown.destructive);
  }

  /** Whether a client may have allowed a call with these hints because the annotations promised something safer. */
  mislead(hints: ToolHints): boolean {
    const { readOnly = false, destructive = true } = this.#shown ?? {};
    return (readOnly && !hints.readOnly) || (!destructive && hints.destructive);
  }
}

/** The hints of a tool, or those to assume for an unknown one. */
export function hintsOf(tool: Pick<OfferedTool, 'component'> | undefined): ToolHints {
  if (tool === undefined) return UNKNOWN;
  let hints = read.get(tool.component);
  if (hints === undefined) {
    hints = toolHints(tool.component.member('annotations'));
    read.set(tool.component, hints);
  }
  return hints;
}

const UNKNOWN = toolHints(undefined);
/** Cached, because every call of a suite reads them. */
const read = new WeakMap<OfferedTool['component'], ToolHints>();
