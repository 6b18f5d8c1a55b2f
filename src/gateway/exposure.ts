import type { JsonObject } from '../protocol/index.ts';
import type { Call } from './call.ts';
import type { Catalog } from './catalog.ts';

/**
 * How a catalog looks to a client. Each tool is presented together with the way to run it, so that finding a tool
 * again is a look into a table made from the same list: what is listed can be called and nothing else can.
 */
export interface Exposure {
  present(catalog: Catalog): readonly ExposedTool[];
}

export interface ExposedTool {
  /** The tool as the client sees it in `tools/list`. */
  readonly definition: JsonObject & { readonly name: string };
  /** Runs a `tools/call` for it; the answer goes to the call. */
  run(call: Call): void;
}
