import type { JsonObject } from '../protocol/index.ts';
import type { Call } from './call.ts';
import type { CatalogEntry } from './catalog.ts';

/**
 * How one entry of the catalog looks to a client. Each tool is presented together with the way to run it, so that
 * finding a tool again is a look into a table made from the same list: what is listed can be called and nothing else
 * can. Entries of one catalog may be shown in different ways, side by side.
 */
export interface Exposure {
  present(entry: CatalogEntry): readonly PresentedTool[];
}

export interface PresentedTool {
  /** The name it should have; where two want the same one, the later is numbered. */
  readonly wantedName: string;
  /** The tool as the client sees it in `tools/list`, but for the name. */
  readonly definition: JsonObject;
  /** Runs a `tools/call` for it under the name it got; the answer goes to the call. */
  run(call: Call, name: string): void;
}
