import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { Client, isJsonObject, type JsonObject } from '../protocol/index.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import type { ExposedTool, Exposure } from './exposure.ts';

/** The core: a catalog, shown through an exposure, and every call taken to the source it belongs to. */
export class Gateway {
  readonly #catalog: Catalog;
  readonly #table: ReadonlyMap<string, ExposedTool>;
  #listing: JsonObject | undefined;

  constructor(exposure: Exposure, entries: readonly CatalogEntry[]) {
    this.#catalog = { generation: 1, entries };
    this.#table = tableOf(exposure, this.#catalog);
  }

  get catalog(): Catalog {
    return this.#catalog;
  }

  /** The tools a client sees, in catalog order. */
  get tools(): readonly ExposedTool[] {
    return [...this.#table.values()];
  }

  /** Takes a call that is not about the connection itself to where it is answered. */
  handle(call: Call): void {
    try {
      switch (call.method) {
        case 'tools/list':
          this.#listTools(call);
          break;
        case 'tools/call':
          this.#callTool(call);
          break;
        default:
          call.fail(new SwitchboardError('METHOD_UNKNOWN', `Method not found: ${call.method.slice(0, 200)}`));
      }
    } catch (error) {
      // A bug on our side costs this call only.
      call.fail(
        new SwitchboardError('INTERNAL', 'Switchboard failed to handle this request.', { cause: error }),
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#catalog.entries.map((entry) => entry.source.close()));
  }

  #listTools(call: Call): void {
    // All tools fit one page, so every cursor is one we never gave.
    const params = call.request.value(Client.params);
    if (isJsonObject(params) && params.cursor !== undefined && params.cursor !== null) {
      call.fail(new SwitchboardError('PARAMS_INVALID', 'Unknown cursor: tools/list has one page.'));
      return;
    }
    this.#listing ??= { tools: this.tools.map((tool) => tool.definition) };
    call.succeed(this.#listing);
  }

  #callTool(call: Call): void {
    const name = call.request.string(Client.name);
    if (name === undefined) {
      call.fail(new SwitchboardError('PARAMS_INVALID', 'tools/call needs the name of a tool, as a string.'));
      return;
    }
    const tool = this.#table.get(name);
    if (tool === undefined) {
      const hint = didYouMean(name, this.#table.keys()) ?? 'tools/list names the tools there are.';
      call.fail(
        new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${JSON.stringify(name.slice(0, 200))}.`, {
          hint,
        }),
      );
      return;
    }
    // Some clients write null where they mean none.
    const lead = call.request.lead(Client.arguments);
    if (lead !== -1 && lead !== BRACE && call.request.text(Client.arguments) !== 'null') {
      call.fail(new SwitchboardError('PARAMS_INVALID', `The arguments of ${name} must be an object.`));
      return;
    }
    tool.run(call);
  }
}

const BRACE = 0x7b;

function tableOf(exposure: Exposure, catalog: Catalog): Map<string, ExposedTool> {
  const table = new Map<string, ExposedTool>();
  for (const tool of exposure.present(catalog)) {
    if (!table.has(tool.definition.name)) table.set(tool.definition.name, tool);
  }
  return table;
}
