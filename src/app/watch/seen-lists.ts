import type { ConfiguredServer, LoadedConfig } from '../../config/index.ts';
import type { Actions, SeenItem, SeenLists, ServerExposure } from '../../console/index.ts';
import type { CatalogEntry, Snapshot } from '../../gateway/index.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import { presentationOf } from '../entry.ts';
import { serverIdentity } from '../server-identity.ts';
import { promptTokens } from './prompt-tokens.ts';
import type { Workspace } from '../workspace.ts';

type Exposures = NonNullable<Actions['lists.get']['params']['exposure']>;

export interface SeenListsContext {
  readonly program: string;
  readonly config: LoadedConfig;
  readonly volatile: boolean;
  readonly results: Parameters<typeof presentationOf>[1]['results'];
  /** Hides the secrets of all servers. */
  readonly mask: (text: string) => string;
}

/** The lists and instructions that a client sees, or would see if the servers were exposed differently. */
export function seenLists(
  { gateway, manager, overallOf }: Workspace,
  exposure: Exposures | undefined,
  { program, config, volatile, results, mask }: SeenListsContext,
): SeenLists {
  const exposureOf = (name: string): ServerExposure | undefined =>
    typeof exposure === 'string' ? exposure : ownOf(exposure, name);
  const changed = <T extends ConfiguredServer>(server: T): T => {
    const other = exposureOf(server.name);
    return other === undefined || other === server.exposure ? server : { ...server, exposure: other };
  };
  const entries = gateway.catalog.entries.map((entry): CatalogEntry => {
    const definition = manager.find(entry.source.name);
    const other = definition && changed(definition);
    return other === undefined || other === definition
      ? entry
      : { ...presentationOf(other, { volatile, results }), source: entry.source };
  });
  const isChanged = entries.some((entry, at) => entry !== gateway.catalog.entries[at]);
  const seen = {
    ...config,
    servers: config.servers.map(changed),
    unusable: config.unusable.map(changed),
  };
  const snapshot = isChanged ? gateway.preview(entries, overallOf(seen)) : gateway.exposed;
  const identity = serverIdentity(program, { catalog: { generation: 0, entries } }, () => seen);
  return listsOf(snapshot, mask(identity.instructions()), unknownIn(entries), mask);
}

function ownOf(exposures: Exposures | undefined, name: string): ServerExposure | undefined {
  if (exposures === undefined || typeof exposures === 'string') return undefined;
  return Object.hasOwn(exposures, name) ? exposures[name] : undefined;
}

function listsOf(
  snapshot: Snapshot,
  instructions: string,
  unknown: readonly string[],
  mask: (text: string) => string,
): SeenLists {
  const tools = [...snapshot.tools.values()].map((tool): SeenItem => {
    const { definition } = tool;
    const tokens = promptTokens(tool, () => definition);
    return { name: tool.name, server: tool.source ?? null, definition: mask(definition), tokens };
  });
  const components = (all: Snapshot['prompts']): SeenItem[] =>
    [...all].map(([name, { entry, text }]) => ({
      name,
      server: entry.source.name,
      definition: mask(text),
      tokens: estimateTokens(text),
    }));
  const said = { text: instructions, tokens: estimateTokens(instructions) };
  return {
    instructions: said,
    tools,
    resources: components(snapshot.resources),
    resourceTemplates: components(snapshot.templates),
    prompts: components(snapshot.prompts),
    tokens: tools.reduce((sum, { tokens }) => sum + tokens, said.tokens),
    unknown,
  };
}

/** Servers whose own tools would be listed but are not known. */
function unknownIn(entries: readonly CatalogEntry[]): string[] {
  return entries
    .filter(({ source, exposure, offers }) => {
      if (!exposure.needsTools || !offers.has('tools')) return false;
      return (source.known('tools') ?? source.remembered('tools')) === undefined;
    })
    .map(({ source }) => source.name);
}
