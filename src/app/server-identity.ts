import type { LoadedConfig } from '../config/index.ts';
import type { ServerIdentity } from '../doors/index.ts';
import { combineInstructions, type Catalog } from '../gateway/index.ts';
import { searchInstructions } from '../exposure/index.ts';
import { printableLine } from '../shared/printable.ts';
import { VERSION } from '../shared/version.ts';

/** How we introduce ourselves to a client. */
export function serverIdentity(
  program: string,
  gateway: { readonly catalog: Catalog },
  config: () => LoadedConfig,
): ServerIdentity {
  return {
    name: program,
    title: program === 'switchboard' ? 'Switchboard' : program,
    version: VERSION,
    instructions: () => {
      const { servers, unusable, settings } = config();
      const suites = [...servers, ...unusable].filter((server) => server.exposure === 'suite');
      const own = [
        suites.length > 0 ? SUITE_INSTRUCTIONS : '',
        suites.some((server) => server.suite.split !== undefined) ? SPLIT_INSTRUCTIONS : '',
        searchInstructions(gateway.catalog.entries),
        settings.management.enabled ? MANAGEMENT_INSTRUCTIONS : '',
        unavailable(gateway),
      ];
      return combineInstructions(
        own.filter((text) => text !== '').join(' '),
        gateway.catalog.entries.flatMap(({ source, offers, exposure }) => {
          // A hidden server's instructions are hidden too, and a suite returns them when it is introspected.
          if (offers.size === 0 || !exposure.needsTools) return [];
          const instructions = source.about()?.instructions;
          return instructions === undefined ? [] : [{ server: source.name, instructions }];
        }),
        settings.instructions.maxChars,
      );
    },
  };
}

/** Servers whose tools are missing from the list, and why. They have no suite whose description could say so. */
function unavailable(gateway: { readonly catalog: Catalog }): string {
  const missing = gateway.catalog.entries.flatMap(({ source, exposure, offers }) =>
    source.problem !== undefined && exposure.needsTools && offers.has('tools') ? [source.problem] : [],
  );
  const more = missing.length > MAX_NAMED ? [`${missing.length - MAX_NAMED} more are not available.`] : [];
  return [...missing.slice(0, MAX_NAMED).map(({ explained }) => printableLine(explained)), ...more].join(' ');
}

/** The most unavailable servers that are named; the log has all of them. */
const MAX_NAMED = 5;

const SUITE_INSTRUCTIONS =
  'Each *_suite tool is one MCP server. {"action":"introspect"} lists its subtools; ' +
  '{"action":"call","subtool":"…","args":{…}} runs one.';

const SPLIT_INSTRUCTIONS = 'Where there is a *_read tool, it has the subtools of that server that only read.';

const MANAGEMENT_INSTRUCTIONS =
  'add_server starts an MCP server, reload_server restarts one, list_servers shows their status.';
