import { filterTools, type CatalogEntry } from '../../gateway/index.ts';
import { combinedHints, type ToolHints } from '../../protocol/index.ts';
import { hintsOf } from '../shown-hints.ts';

/** A tool that represents a server: all of its tools, or those with one effect. */
export interface SuitePart {
  readonly name: string;
  /** Text added to its description. */
  readonly remark: string;
  /** Whether it may call a tool with these hints. */
  readonly includes: (hints: ToolHints) => boolean;
  /** The hints that hold even if nothing is known about the server's tools. */
  readonly always?: Omit<ToolHints, 'openWorld'> | undefined;
  /** The name of the tool for the remaining ones; undefined if nothing remains. */
  readonly other?: string | undefined;
}

/**
 * The tools that make up a suite of this name. If it is split by effect, there is a separate tool for those that only
 * read.
 */
export function suiteParts(name: string, split: 'effect' | undefined): readonly SuitePart[] {
  if (split === undefined) return [{ name, remark: '', includes: () => true }];
  const reading = name.endsWith('_suite') ? name.replace(/_suite$/, '_read') : `${name}_read`;
  return [
    {
      name,
      remark: ` Has the subtools that may change something; ${reading} has those that only read.`,
      includes: ({ readOnly }) => !readOnly,
      other: reading,
    },
    {
      name: reading,
      remark: ` Has only the subtools that read; ${name} has the others.`,
      includes: ({ readOnly }) => readOnly,
      always: { readOnly: true, destructive: false, idempotent: true },
      other: name,
    },
  ];
}

/** The combined hints of such a tool, according to the last list of its server; undefined if nothing is known. */
export function hintsOfPart({ always, includes }: SuitePart, entry: CatalogEntry): ToolHints | undefined {
  const sum = sumOfTools(entry, includes);
  return always === undefined ? sum : { ...always, openWorld: sum?.openWorld ?? true };
}

function sumOfTools({ source, rules }: CatalogEntry, includes: SuitePart['includes']): ToolHints | undefined {
  const listing = source.remembered('tools');
  // An incomplete list proves nothing.
  if (listing === undefined || listing.incomplete !== undefined) return undefined;
  return combinedHints(filterTools(listing, rules).tools.map(hintsOf).filter(includes));
}
