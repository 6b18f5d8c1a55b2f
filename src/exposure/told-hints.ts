import type { OfferedTool } from '../gateway/index.ts';
import {
  annotationsOf,
  combinedHints,
  toolHints,
  type JsonObject,
  type ToolHints,
} from '../protocol/index.ts';

/**
 * What clients are told that a tool of ours does, which stands for several: the sum of what those say. Hosts decide by it
 * what runs without a question, so it must not promise more than holds. While nothing is known of the tools it says
 * nothing, and in one run it is only corrected to the worse: a list that changes costs hosts their prompt cache.
 */
export class ToldHints {
  readonly #sum: () => ToolHints | undefined;
  #begun = false;
  #told: ToolHints | undefined;

  /** `sum`: for all that it stands for, as far as that is known now. */
  constructor(sum: () => ToolHints | undefined) {
    this.#sum = sum;
  }

  /** The annotations that clients are shown now, as a member of the tool. */
  show(): { readonly annotations?: JsonObject } {
    if (!this.#begun) this.#told = this.#sum();
    else if (this.#told !== undefined) this.#told = combinedHints([this.#told, this.#sum() ?? this.#told]);
    this.#begun = true;
    return this.#told === undefined ? {} : { annotations: annotationsOf(this.#told) };
  }

  /** Whether clients may have let a call pass that does this because they were told that nothing like it happens. */
  mislead(hints: ToolHints): boolean {
    const { readOnly = false, destructive = true } = this.#told ?? {};
    return (readOnly && !hints.readOnly) || (!destructive && hints.destructive);
  }
}

/** What a tool says it does; undefined: one of which nothing is known. */
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
/** Every call of a suite asks for them. */
const read = new WeakMap<OfferedTool['component'], ToolHints>();
