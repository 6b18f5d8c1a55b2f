import type { OfferedTool } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import type { SearchedServer } from './tool-index.ts';
import type { ToolSearch } from './tool-search.ts';

/** Finds tools by words. */
export interface ToolFinder {
  /** For each need in the query, the matching tools, best first. `client` may call one of them later. */
  find(servers: readonly SearchedServer[], query: string, client?: object): Promise<readonly FoundNeed[]>;
  /** Call this when a client has called a tool successfully. */
  used(client: object, server: string, tool: string): void;
}

export interface FoundNeed {
  readonly need: string;
  readonly tools: readonly FoundTool[];
}

export interface FoundTool {
  readonly server: string;
  readonly tool: OfferedTool;
  /** Higher is better. Exact names score above 1000, near ones above 500. */
  readonly score: number;
}

export interface ToolSearchOptions {
  /** The state directory, where what was learned is stored. Default: nothing is learned. */
  readonly stateDirectory?: string;
  readonly log: Logger;
}

/** The tool search of all clients, loaded with the first search. */
export class LazyToolSearch implements ToolFinder {
  readonly #options: ToolSearchOptions;
  #loading: Promise<ToolSearch> | undefined;
  #loaded: ToolSearch | undefined;

  constructor(options: ToolSearchOptions) {
    this.#options = options;
  }

  async find(
    servers: readonly SearchedServer[],
    query: string,
    client?: object,
  ): Promise<readonly FoundNeed[]> {
    return (await this.load()).find(servers, query, client);
  }

  used(client: object, server: string, tool: string): void {
    this.#loaded?.used(client, server, tool);
  }

  load(): Promise<ToolSearch> {
    return (this.#loading ??= this.#load());
  }

  /** Writes what was learned to disk immediately. */
  save(): void {
    this.#loaded?.save();
  }

  async #load(): Promise<ToolSearch> {
    const { openToolSearch } = await import('./open-tool-search.ts');
    return (this.#loaded = openToolSearch(this.#options));
  }
}
