import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import type { ProfileDefinition, ProjectConfig } from '../../records/config/definition.ts';
import { slug } from '../../records/names.ts';

export interface Selection {
  readonly profile: ProfileDefinition | undefined;
  /** Requested by name or through the profile; empty if all were. */
  readonly requested: readonly string[];
  /** The names of all selected services, in the order of the file. */
  readonly wanted: readonly string[];
}

/**
 * The services that a command applies to: the named ones, otherwise those of the profile, otherwise all. Rejects
 * unknown names.
 */
export function selectServices(
  config: ProjectConfig,
  names: readonly string[],
  profileName?: string,
): Selection {
  const profile = profileName === undefined ? undefined : findProfile(config, profileName);
  const requested = [...new Set(names.length > 0 ? names.map(slug) : (profile?.services ?? []))];
  const known = config.services.map(({ name }) => name);
  const unknown = requested.filter((name) => !known.includes(name));
  const [first] = unknown;
  if (first !== undefined) {
    throw new SwitchboardError('UNKNOWN_SERVICE', `Unknown service(s): ${unknown.join(', ')}.`, {
      hint: didYouMean(first, known) ?? `Available: ${known.join(', ')}.`,
    });
  }
  return {
    profile,
    requested,
    wanted: requested.length === 0 ? known : known.filter((name) => requested.includes(name)),
  };
}

function findProfile(config: ProjectConfig, name: string): ProfileDefinition {
  const found = config.profiles.find((profile) => profile.name === slug(name));
  if (found !== undefined) return found;
  const known = config.profiles.map((profile) => profile.name);
  throw new SwitchboardError('UNKNOWN_PROFILE', `Unknown profile: ${name}.`, {
    hint:
      known.length === 0
        ? `${config.file} has no [profiles.<name>] table.`
        : (didYouMean(name, known) ?? `Available: ${known.join(', ')}.`),
  });
}
