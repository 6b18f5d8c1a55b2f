import { SwitchboardError } from '../shared/errors.ts';
import type { CatalogEntry } from './catalog.ts';
import type { Listing } from './component.ts';
import { prefixedToolName, validToolName } from './valid-tool-name.ts';

interface Known {
  readonly entry: CatalogEntry;
  readonly listings: { readonly tools: Listing | undefined };
}

/**
 * The error for calling a tool that the configuration hides, by the name it would have; undefined for any other name.
 * It suggests no other tool, because none is a replacement.
 */
export function hiddenToolError(name: string, servers: readonly Known[]): SwitchboardError | undefined {
  const owner = servers.find(({ entry, listings }) => {
    if (!entry.exposure.needsTools || !entry.offers.has('tools')) return false;
    const hidden = (listings.tools?.components ?? []).filter(({ key }) => !entry.rules.allows(key));
    const { source, naming } = entry;
    return hidden.some(
      ({ key }) =>
        prefixedToolName(source.name, key) === name || (naming !== 'prefixed' && validToolName(key) === name),
    );
  });
  if (owner === undefined) return undefined;
  return new SwitchboardError(
    'TOOL_NOT_ALLOWED',
    `Tool ${JSON.stringify(name.slice(0, 200))} is not allowed by Switchboard (server '${owner.entry.source.name}').`,
    {
      hint: 'The configuration limits this server (exposedTools, hiddenTools or expose). Call tools/list to see the available tools.',
    },
  );
}
