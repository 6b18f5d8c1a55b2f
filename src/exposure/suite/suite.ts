import type { CatalogEntry, Exposure, PresentedTool, Results, Source } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { ShownHints } from '../shown-hints.ts';
import { suiteDescription, type DescriptionSettings } from './description.ts';
import { SuiteRunner, type ShownPart } from './suite-runner.ts';
import { hintsOfPart, suiteParts } from './suite-part.ts';
import type { IntrospectionMode } from './introspect.ts';

/** The settings of one suite, merged from all configuration. */
export interface SuiteSettings extends DescriptionSettings {
  /** The tool's name, if the user chose one. */
  readonly name: string | undefined;
  /** The longest summary of a subtool, in UTF-16 units. */
  readonly summaryMaxChars: number;
  /** How much of the server's instructions an introspection returns, in UTF-16 units. */
  readonly instructionsMaxChars: number;
  /** The default mode of an introspection. */
  readonly introspection: IntrospectionMode;
  /** Keeps results that are too long, for the action `read`. Default: the server's results are not limited. */
  readonly results?: Results | undefined;
  /** `effect`: two tools, one for what only reads and one for everything else. Default: one tool. */
  readonly split?: 'effect' | undefined;
}

/** One tool for a server, or two by effect: the model learns what it contains only when it asks. */
export function suite(settings: SuiteSettings): Exposure {
  const inputSchema = settings.results === undefined ? INPUT_SCHEMA : READING_SCHEMA;
  // A server that has started since could say more, but a changed list invalidates the prompt caches of hosts.
  const descriptions = new WeakMap<Source, string>();
  const shownParts = new WeakMap<Source, readonly ShownPart[]>();
  let made: { readonly entry: CatalogEntry; readonly tools: readonly PresentedTool[] } | undefined;
  const describe = (entry: CatalogEntry): string => {
    const { source } = entry;
    let description = descriptions.get(source);
    if (description === undefined)
      descriptions.set(source, (description = suiteDescription(settings, entry)));
    return source.problem === undefined ? description : `${unavailable(source.problem)} ${description}`;
  };
  return {
    needsTools: false,
    present(entry) {
      if (made?.entry === entry) return made.tools;
      const { source } = entry;
      const parts =
        shownParts.get(source) ??
        suiteParts(settings.name ?? `${source.name}_suite`, settings.split).map((part) => ({
          ...part,
          shownHints: new ShownHints(() => hintsOfPart(part, entry)),
        }));
      shownParts.set(source, parts);
      const tools = parts.map((part): PresentedTool => {
        const { name: wanted, remark, shownHints } = part;
        // Created on the first call: most suites are never called, and a host waits for all of them.
        let runner: SuiteRunner | undefined;
        return {
          names: [wanted],
          definition: (name) =>
            JSON.stringify({
              name,
              description: describe(entry) + remark,
              inputSchema,
              ...shownHints.show(),
            }),
          run: (call, suiteName) => (runner ??= new SuiteRunner(entry, settings, part)).run(call, suiteName),
        };
      });
      made = { entry, tools };
      return tools;
    },
  };
}

/** The same for every suite, and as short as possible, because every conversation pays for it. */
const INPUT_SCHEMA = inputSchemaWith('introspect', 'call');
/** The results that need `read` explain its parameters. */
const READING_SCHEMA = inputSchemaWith('introspect', 'call', 'read');

function inputSchemaWith(...actions: string[]): JsonObject {
  return {
    type: 'object',
    properties: {
      action: { type: 'string', enum: actions },
      subtool: { type: 'string' },
      args: { type: 'object' },
    },
    required: ['action'],
  };
}

/** Why a server cannot be used, in short; calling its suite returns the full reason. */
function unavailable({ message }: Error): string {
  const line = printableLine(message).replace(/^Server '[^']*' (?:is not available: )?/, '');
  const short = line.length <= MAX_REASON ? line : `${line.slice(0, MAX_REASON - 1)}…`;
  return `Not available: ${short}`;
}

/** The longest reason in a description, in UTF-16 units. */
const MAX_REASON = 200;
