import {
  LocalClient,
  type Gateway,
  type Listing,
  type LocalCallOptions,
  type Source,
} from '../gateway/index.ts';
import type { LanguageSource } from '../language/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { unknownServer } from '../shared/unknown-server.ts';

/** Access to servers for commands: by name, regardless of what the configuration exposes. */
export interface DirectAccess {
  /** The source of a configured server; throws SERVER_UNKNOWN with the most similar names. */
  source(server: string): Source;
  /** The server behind a language model; undefined if there is no model. */
  behind(server: string): Source | undefined;
  /**
   * Lists all tools of a server, whatever the configuration exposes, and waits until the gateway knows them too. Starts
   * it.
   */
  listTools(server: string): Promise<Listing>;
  /** Runs a tool of a server and resolves with its result; rejects with a ServerError if the server refuses. */
  callTool(server: string, tool: string, args: JsonObject, options?: LocalCallOptions): Promise<JsonObject>;
}

export function directAccess(gateway: Gateway): DirectAccess {
  const local = new LocalClient();
  const source = (name: string): Source => sourceOf(gateway, name);
  return {
    source,
    behind: (server) => (source(server) as Partial<LanguageSource>).inner,
    async listTools(server) {
      const listing = await source(server).list('tools');
      // The gateway is notified of the same list and has it by the next turn.
      await new Promise((resume) => setImmediate(resume));
      return listing;
    },
    callTool: async (server, tool, args, options) =>
      local.request(source(server), 'tools/call', { name: tool, arguments: args }, options),
  };
}

function sourceOf({ catalog }: Gateway, name: string): Source {
  const all = catalog.entries.map((entry) => entry.source);
  const found = all.find((each) => each.name === name);
  if (found) return found;
  throw unknownServer(
    name,
    all.map((each) => each.name),
  );
}
