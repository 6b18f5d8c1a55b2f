import type { JsonObject } from '../protocol/index.ts';
import type { Call } from './call.ts';
import type { CatalogEntry } from './catalog.ts';
import { toolName } from './names.ts';

/** A tool as a client knows it. */
export interface ExposedTool {
  readonly definition: JsonObject & { readonly name: string };
  /** The name of the source it belongs to. */
  readonly source: string;
  run(call: Call): void;
}

/** Every tool of the entries by the one name it is listed and called by, in the order of the list. */
export function tableOf(entries: readonly CatalogEntry[]): ReadonlyMap<string, ExposedTool> {
  const table = new Map<string, ExposedTool>();
  for (const entry of entries) {
    for (const tool of entry.exposure.present(entry)) {
      const name = freeName(toolName(tool.wantedName), table);
      table.set(name, {
        definition: { name, ...tool.definition },
        source: entry.source.name,
        run: (call) => tool.run(call, name),
      });
    }
  }
  return table;
}

/** Two tools may come out with one name; the later one is numbered, by its place in the list. */
function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = toolName(`${wanted.slice(0, 60)}_${count}`);
  return name;
}
