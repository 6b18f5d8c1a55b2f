import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Catalog } from './catalog.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Snapshot } from './snapshot.ts';

/** Why a tool disappeared: its server was removed, crashed, or no longer has it. */
export type RemovalReason = 'removed' | 'crashed' | 'changed';

/** The oldest names beyond this are forgotten. */
const MAX_NAMES = 10_000;

/** Tools that were listed and have disappeared. Hosts cache lists, so calling such a tool returns the reason. */
export class RemovedTools {
  /** The server of each tool. */
  readonly #servers = new Map<string, string>();

  /** Records the tools that are missing from a new snapshot. */
  record(before: Snapshot, after: Snapshot): void {
    for (const [name, tool] of before.tools) {
      if (tool.source === undefined || after.tools.has(name)) continue;
      this.#servers.delete(name);
      this.#servers.set(name, tool.source);
    }
    dropOldest(this.#servers, MAX_NAMES);
  }

  /** The error for a removed tool; undefined for a tool that never existed. */
  explain(
    name: string,
    { entries }: Catalog,
    advise: ((server: string, why: RemovalReason) => string | undefined) | undefined,
  ): SwitchboardError | undefined {
    const server = this.#servers.get(name);
    if (server === undefined) return undefined;
    const state = entries.find((entry) => entry.source.name === server)?.source.state;
    const reason: RemovalReason =
      state === undefined ? 'removed' : state.kind === 'crashed' ? 'crashed' : 'changed';
    const explanation =
      state?.kind === 'crashed'
        ? `its server '${server}' has crashed. ${messageOf(state.error)}`
        : reason === 'removed'
          ? `its server '${server}' was removed.`
          : `its server '${server}' no longer has it.`;
    return new SwitchboardError(
      'TOOL_UNKNOWN',
      `Unknown tool: ${JSON.stringify(name)} is no longer available: ${explanation}`,
      {
        hint: advise?.(server, reason) ?? 'Call tools/list to see the available tools.',
      },
    );
  }
}
