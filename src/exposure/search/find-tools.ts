import type { CatalogEntry, OfferedTool } from '../../gateway/index.ts';
import type { FoundNeed, ToolFinder } from '../../search/index.ts';
import type { ServerLister, Unlisted } from './list-servers.ts';
import { knownTools } from './searched.ts';

export interface WantedTools {
  readonly query: string;
  /** The only server to search. Default: all. */
  readonly server?: string | undefined;
  /** The client that may call one of the tools. Default: none. */
  readonly client?: object;
}

/** The tools that were found, and where. */
export interface FoundTools {
  readonly needs: readonly FoundNeed[];
  readonly unlisted: Unlisted;
  readonly servers: readonly { readonly name: string; readonly tools: readonly OfferedTool[] }[];
}

/** Searches the tools of the servers; undefined if none of them has the wanted name. */
export async function findTools(
  all: readonly CatalogEntry[],
  { query, server, client }: WantedTools,
  { finder, lister }: { readonly finder: ToolFinder; readonly lister: ServerLister },
): Promise<FoundTools | undefined> {
  const entries = server === undefined ? all : all.filter(({ source }) => isCalled(source.name, server));
  if (entries.length === 0 && server !== undefined) return undefined;
  const unlisted = await lister.list(entries);
  const servers = entries.flatMap((entry) => {
    const tools = knownTools(entry);
    return tools === undefined ? [] : [{ name: entry.source.name, about: aboutOf(entry), tools }];
  });
  return {
    needs: await finder.find(servers, query, client),
    unlisted,
    servers: servers.map(({ name, tools }) => ({ name, tools: tools.tools })),
  };
}

function isCalled(name: string, wanted: string): boolean {
  return name.toLowerCase() === wanted.toLowerCase();
}

/** A server's own name and title. */
function aboutOf({ source }: CatalogEntry): string {
  const { name, title } = source.about()?.serverInfo ?? {};
  return [name, title]
    .filter((text) => typeof text === 'string')
    .join(' ')
    .slice(0, 100);
}
