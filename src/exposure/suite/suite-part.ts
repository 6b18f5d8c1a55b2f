import { filterTools, type CatalogEntry } from '../../gateway/index.ts';
import { combinedHints, type ToolHints } from '../../protocol/index.ts';
import { hintsOf } from '../shown-hints.ts';

/** A tool that stands for a server: for all of its tools, or for those of one effect. */
export interface SuitePart {
  readonly name: string;
  /** What is added to its description. */
  readonly remark: string;
  /** Whether it may call a tool with these hints. */
  readonly includes: (hints: ToolHints) => boolean;
  /** What holds for it even where nothing is known of the server's tools. */
  readonly always?: Omit<ToolHints, 'openWorld'> | undefined;
  /** The tool that has the others; undefined where there are no others. */
  readonly other?: string | undefined;
}

/** The tools that a suite of this name is shown as. Split by effect, what only reads gets a tool of its own. */
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

/** What such a tool does, by the last list of its server; undefined where nothing is known. */
export function hintsOfPart({ always, includes }: SuitePart, entry: CatalogEntry): ToolHints | undefined {
  const sum = sumOfTools(entry, includes);
  return always === undefined ? sum : { ...always, openWorld: sum?.openWorld ?? true };
}

function sumOfTools({ source, rules }: CatalogEntry, includes: SuitePart['includes']): ToolHints | undefined {
  const listing = source.remembered('tools');
  // A list that is not all of it proves nothing.
  if (listing === undefined || listing.incomplete !== undefined) return undefined;
  return combinedHints(filterTools(listing, rules).tools.map(hintsOf).filter(includes));
}
