import type { CatalogEntry, Exposure, Source } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { suiteDescription, type DescriptionSettings } from './description.ts';
import { SuiteRunner } from './suite-runner.ts';
import type { IntrospectionMode } from './introspect.ts';

/** How one suite looks, after all configuration is folded together. */
export interface SuiteSettings extends DescriptionSettings {
  /** The tool's name, where the user chose one. */
  readonly name: string | undefined;
  /** Longest summary of a subtool, in UTF-16 units. */
  readonly summaryMaxChars: number;
  /** How much of the server's instructions an introspection gives, in UTF-16 units. */
  readonly instructionsMaxChars: number;
  /** What an introspection shows unless it says otherwise. */
  readonly introspection: IntrospectionMode;
}

/** Exactly one tool for a server: the model learns what is inside only when it asks. */
export function suite(settings: SuiteSettings): Exposure {
  // A server that has started meanwhile could say more, but a changed list invalidates the prompt caches of hosts.
  const descriptions = new WeakMap<Source, string>();
  let made: { readonly entry: CatalogEntry; readonly runner: SuiteRunner } | undefined;
  return {
    needsTools: false,
    present(entry) {
      const { source } = entry;
      if (made?.entry !== entry) made = { entry, runner: new SuiteRunner(entry, settings) };
      const { runner } = made;
      const describe = (): string => {
        let description = descriptions.get(source);
        if (description === undefined)
          descriptions.set(source, (description = suiteDescription(settings, entry)));
        return source.problem === undefined ? description : `${unavailable(source.problem)} ${description}`;
      };
      return [
        {
          names: [settings.name ?? `${source.name}_suite`],
          definition: (name) => JSON.stringify({ name, description: describe(), inputSchema: INPUT_SCHEMA }),
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

/** Why a server cannot be used, in short; a call of its suite returns the whole reason. */
function unavailable({ message }: Error): string {
  const line = printableLine(message).replace(/^Server '[^']*' (?:is not available: )?/, '');
  const short = line.length <= MAX_REASON ? line : `${line.slice(0, MAX_REASON - 1)}…`;
  return `Not available: ${short}`;
}

/** The longest reason in a description, in UTF-16 units. */
const MAX_REASON = 200;
