import type { CompoundDefinition, ConfiguredServer, LoadedConfig } from '../config/index.ts';
import { isGranted, isWhole, type Access } from './access.ts';

/** A configuration without the parts that the caller may not use. */
export function configFor(config: LoadedConfig, access: Access): LoadedConfig {
  const allowed = <T extends ConfiguredServer>(servers: readonly T[]): T[] =>
    servers.filter((server) => isThere(server, access));
  const { settings } = config;
  const enabled = settings.management.enabled && access.management;
  return {
    ...config,
    servers: allowed(config.servers),
    unusable: allowed(config.unusable),
    disabled: [],
    compounds: config.compounds.flatMap((compound) => limitedCompound(compound, access) ?? []),
    settings: { ...settings, management: { ...settings.management, enabled } },
    writtenHttpToken: undefined,
    notAllowed: undefined,
    warnings: [],
  };
}

function isThere({ name, language }: ConfiguredServer, access: Access): boolean {
  const grants = access.grantsFor(name);
  // The model in front of a server can use all its tools, so such a server is allowed entirely or not at all.
  return language === undefined ? grants.length > 0 : isWhole(grants);
}

function limitedCompound(compound: CompoundDefinition, access: Access): CompoundDefinition | undefined {
  const subtools = compound.subtools.flatMap((part) => {
    const grants = access.grantsFor(part.server);
    const tools = part.tools.filter(({ name }) => isGranted(grants, 'tools', name));
    return tools.length === 0 ? [] : [{ ...part, tools }];
  });
  return subtools.length === 0 ? undefined : { ...compound, subtools };
}
