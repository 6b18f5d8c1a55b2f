import type { CatalogEntry, OverallExposure, PresentedTool, Results } from '../../gateway/index.ts';
import type { ToolFinder } from '../../search/index.ts';
import { callToolDefinition, findToolDefinition } from './definitions.ts';
import { ToolCaller } from './tool-caller.ts';
import { FindTool } from './find-tool.ts';

export interface SearchSettings {
  readonly finder: ToolFinder;
  /** The names of servers in the description, which must not change while a client sees it. */
  readonly named: readonly string[];
  /** How long the first search waits for servers that have never been listed, in milliseconds. */
  readonly firstListMs: () => number;
  /** Keeps results that are too long. */
  readonly results: Results;
}

/** Tools for any number of servers, each with its own exposure. Their definitions are the same for all servers. */
export interface SearchTools {
  readonly findTool: OverallExposure;
  readonly callTool: OverallExposure;
}

export function search(settings: SearchSettings): SearchTools {
  let entries: readonly CatalogEntry[] = [];
  const current = (): readonly CatalogEntry[] => entries;
  const caller = new ToolCaller(settings, current);
  const finder = new FindTool(settings, current);
  const present = (tool: PresentedTool): OverallExposure => ({
    present(_find, now) {
      entries = now;
      return [tool];
    },
  });
  return {
    findTool: present({
      names: ['find_tool'],
      definition: (name) => findToolDefinition(name, settings.named),
      run: finder.run.bind(finder),
    }),
    callTool: present({
      names: ['call_tool'],
      definition: callToolDefinition,
      run: caller.run.bind(caller),
    }),
  };
}
