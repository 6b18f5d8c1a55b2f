import type { CatalogKind } from '../protocol/index.ts';
import type { Exposure } from './exposure.ts';
import type { ToolRules } from './tool-filter.ts';
import type { Source } from './source.ts';

/** An immutable list of all sources and how each is exposed. A change builds a new one. */
export interface Catalog {
  /** Increases with every change. */
  readonly generation: number;
  readonly entries: readonly CatalogEntry[];
}

export interface CatalogEntry {
  readonly source: Source;
  /** Which tools of the source clients can see and call, and how they appear. */
  readonly rules: ToolRules;
  readonly exposure: Exposure;
  /** The kinds of components of the source that clients see. */
  readonly offers: ReadonlySet<CatalogKind>;
  /**
   * Whether the source exists only while it runs: its components disappear with it, and the code that adds it starts
   * it. Default false.
   */
  readonly volatile?: boolean;
  /** How its prompts are named, `server__prompt` or the prompt's own name, and how its resources are named. */
  readonly naming: Naming;
}

/**
 * `prefixed`: `server__name`. `plain`: the name itself, with `[server] ` before the description. `own`: everything
 * exactly as the server describes it, for a catalog with a single source.
 */
export type Naming = 'prefixed' | 'plain' | 'own';
