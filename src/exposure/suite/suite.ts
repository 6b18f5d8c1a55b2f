import type { CatalogEntry, Exposure } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { SuiteRunner } from './run.ts';
import type { IntrospectionMode } from './introspect.ts';

/** How one suite looks, after all configuration is folded together. */
export interface SuiteSettings {
  /** The tool's name, where the user chose one. */
  readonly name: string | undefined;
  /** The tool's whole description, where one was written. */
  readonly description: string | undefined;
  /** What the server is for, to make a description from. */
  readonly purpose: string | undefined;
  /** Longest summary of a subtool, in UTF-16 units. */
  readonly summaryMaxChars: number;
  /** What an introspection shows unless it says otherwise. */
  readonly introspection: IntrospectionMode;
}

/** Exactly one tool for a server: the model learns what is inside only when it asks. */
export function suite(settings: SuiteSettings): Exposure {
  let made: { readonly entry: CatalogEntry; readonly runner: SuiteRunner } | undefined;
  return {
    needsTools: false,
    present(entry) {
      const { name } = entry.source;
      if (made?.entry !== entry) made = { entry, runner: new SuiteRunner(entry, settings) };
      const { runner } = made;
      const description = settings.description ?? defaultDescription(settings.purpose ?? name);
      return [
        {
          names: [settings.name ?? `${name}_suite`],
          definition: (given) => JSON.stringify({ name: given, description, inputSchema: INPUT_SCHEMA }),
          run: (call, suiteName) => runner.run(call, suiteName),
        },
      ];
    },
  };
}

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

function defaultDescription(purpose: string): string {
  const sentence = purpose.trim().replace(/\.+$/, '');
  return `Use this tool for ${sentence}. Actions: 'introspect' | 'call'.`;
}
