import type { OfferedTool } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import type { SearchedServer } from './tool-index.ts';
import type { ToolSearch } from './tool-search.ts';

/** Finds tools by words. */
export interface ToolFinder {
  /** For each need of the query, its tools, best first. `client` is who will call one of them, perhaps. */
  find(servers: readonly SearchedServer[], query: string, client?: object): Promise<readonly FoundNeed[]>;
  /** A client has called a tool, with success. */
  used(client: object, server: string, tool: string): void;
}

export interface FoundNeed {
  readonly need: string;
  readonly tools: readonly FoundTool[];
}

export interface FoundTool {
  readonly server: string;
  readonly tool: OfferedTool;
  /** Higher is better. Exact names have more than 1000, near ones more than 500. */
  readonly score: number;
}

export interface ToolSearchOptions {
  /** The directory for state that outlives a run; what was learned is kept there. Default: nothing is learned. */
  readonly stateDirectory?: string;
  readonly log: Logger;
}

/** What finds tools, for all clients. It is loaded when somebody searches for the first time. */
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

  /** Writes what was learned, now. */
  save(): void {
    this.#loaded?.save();
  }

  async #load(): Promise<ToolSearch> {
    const { openToolSearch } = await import('./open-tool-search.ts');
    return (this.#loaded = openToolSearch(this.#options));
  }
}
