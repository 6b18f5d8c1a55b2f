import type { Catalog, CatalogEntry, ExposedTool, Exposure } from '../../gateway/index.ts';
import { toolName } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { SuiteRunner } from './run.ts';

/** Exactly one tool per server: the model learns what is inside only when it asks. */
export const suiteExposure: Exposure = {
  present(catalog: Catalog): readonly ExposedTool[] {
    const taken = new Set<string>();
    return catalog.entries.map((entry) => {
      const name = freeName(toolName(entry.exposure.suiteName ?? `${entry.source.name}_suite`), taken);
      const runner = new SuiteRunner(name, entry);
      return { definition: definitionOf(name, entry), run: (call) => runner.run(call) };
    });
  },
};

/** The same for every suite, and as short as it can be: it is paid for in every conversation. */
const INPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    action: { type: 'string', enum: ['introspect', 'call'] },
    subtool: { type: 'string' },
    args: { type: 'object' },
  },
  required: ['action'],
};

function definitionOf(name: string, { source, exposure }: CatalogEntry): JsonObject & { name: string } {
  return {
    name,
    description: exposure.suiteDescription ?? defaultDescription(exposure.purpose ?? source.name),
    inputSchema: INPUT_SCHEMA,
  };
}

function defaultDescription(purpose: string): string {
  const sentence = purpose.trim().replace(/\.+$/, '');
  return `Use this tool for ${sentence}. Actions: 'introspect' | 'call'.`;
}

/** Two servers may come out with one name; the later one is numbered, by its place in the catalog. */
function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) name = toolName(`${wanted.slice(0, 60)}_${count}`);
  taken.add(name);
  return name;
}
