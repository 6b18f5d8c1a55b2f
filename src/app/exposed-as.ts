import { runCodeDefinition } from '../code/index.ts';
import type { ServerDefinition } from '../config/index.ts';
import {
  callToolDefinition,
  findToolDefinition,
  scripted,
  searched,
  searchInstructions,
} from '../exposure/index.ts';
import { filterTools, type CatalogEntry, type Gateway, type Results } from '../gateway/index.ts';
import { presentationOf } from './entry.ts';

/**
 * What a client of some servers gets at the start: the definitions of the tools, as JSON texts, and our instructions.
 */
export interface ExposedServers {
  readonly definitions: readonly string[];
  readonly instructions: string;
}

export interface ComparedServers {
  readonly gateway: Gateway;
  readonly servers: readonly ServerDefinition[];
  readonly results: Results;
}

/** What a client would get if all servers were exposed in one way, with the tools that are known so far. */
export function exposedAs(
  exposure: 'flat' | 'suite' | 'search' | 'code',
  { gateway, servers, results }: ComparedServers,
): ExposedServers {
  const entries = servers.flatMap((server): CatalogEntry[] => {
    const entry = gateway.catalog.entries.find(({ source }) => source.name === server.name);
    if (entry === undefined || !entry.offers.has('tools')) return [];
    return [
      {
        ...entry,
        ...presentationOf({ ...server, exposure }, { volatile: false, results }),
        source: entry.source,
      },
    ];
  });
  if (exposure === 'search' || exposure === 'code') {
    const how = exposure === 'code' ? scripted : searched;
    const names = entries.map(({ source }) => source.name);
    const runs = exposure === 'code' ? runCodeDefinition('run_code') : callToolDefinition('call_tool');
    return {
      definitions: [findToolDefinition('find_tool', names), runs],
      instructions: searchInstructions(entries.map((entry) => ({ ...entry, exposure: how }))),
    };
  }
  const definitions = entries.flatMap((entry) => {
    const listing = entry.source.known('tools') ?? entry.source.remembered('tools');
    const tools = entry.exposure.present(entry, listing && filterTools(listing, entry.rules));
    return tools.map((tool) => tool.definition(tool.names[0] ?? ''));
  });
  return { definitions, instructions: '' };
}
