import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { Client, isJsonObject, type JsonObject } from '../protocol/index.ts';
import type { Call } from './call.ts';
import type { Catalog, CatalogEntry } from './catalog.ts';
import { tableOf, type ExposedTool } from './table.ts';

/** Everything that follows from one catalog, so that a change of catalog is a change of one value. */
interface View {
  readonly catalog: Catalog;
  readonly table: ReadonlyMap<string, ExposedTool>;
  /** The answer to `tools/list`. */
  readonly listing: JsonObject;
}

/** The core: a catalog, shown through the exposures of its entries, and every call taken to the source it belongs to. */
export class Gateway {
  #view: View;

  constructor(entries: readonly CatalogEntry[]) {
    this.#view = viewOf({ generation: 1, entries });
  }

  get catalog(): Catalog {
    return this.#view.catalog;
  }

  /** The tools a client sees, in catalog order. */
  get tools(): readonly ExposedTool[] {
    return [...this.#view.table.values()];
  }

  /** Shows other entries from now on. Where that fails, the old ones go on serving. */
  swap(entries: readonly CatalogEntry[]): void {
    this.#view = viewOf({ generation: this.#view.catalog.generation + 1, entries });
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
    await Promise.all(this.#view.catalog.entries.map((entry) => entry.source.close()));
  }

  #listTools(call: Call): void {
    // All tools fit one page, so every cursor is one we never gave.
    const params = call.request.value(Client.params);
    if (isJsonObject(params) && params.cursor !== undefined && params.cursor !== null) {
      call.fail(new SwitchboardError('PARAMS_INVALID', 'Unknown cursor: tools/list has one page.'));
      return;
    }
    call.succeed(this.#view.listing);
  }

  #callTool(call: Call): void {
    const name = call.request.string(Client.name);
    if (name === undefined) {
      call.fail(new SwitchboardError('PARAMS_INVALID', 'tools/call needs the name of a tool, as a string.'));
      return;
    }
    const { table } = this.#view;
    const tool = table.get(name);
    if (tool === undefined) {
      const hint = didYouMean(name, table.keys()) ?? 'tools/list names the tools there are.';
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

function viewOf(catalog: Catalog): View {
  const table = tableOf(catalog.entries);
  return { catalog, table, listing: { tools: [...table.values()].map((tool) => tool.definition) } };
}
