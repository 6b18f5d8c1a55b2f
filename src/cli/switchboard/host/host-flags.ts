import { findHost, HOSTS, type Host, type Scope } from '../../../hosts/index.ts';
import { usage, type ParsedArguments, type Flag } from '../../kit/arguments.ts';

/** The default name of our entry in a host. */
const USUAL_NAME = 'switchboard';

export const SCOPE_FLAG: Flag = {
  name: 'scope',
  value: 'user|project',
  summary: "the host's user file (default), or its file in this project",
};

export const NAME_FLAG: Flag = {
  name: 'name',
  value: 'NAME',
  summary: `name of the entry in the host (default ${USUAL_NAME})`,
};

/** All hosts, for a help text. */
export const HOST_NAMES = HOSTS.map(({ name }) => name).join(', ');

export const HOST_DRY_RUN: Flag = { name: 'dry-run', summary: 'show the changes without making them' };

/** The hosts that were named, without duplicates. */
export function hostsIn({ words }: ParsedArguments): Host[] {
  return [...new Set(words.map(findHost))];
}

export function scopeIn({ flags }: ParsedArguments): Scope | undefined {
  const scope = flags.get('scope');
  if (scope === undefined || scope === 'user' || scope === 'project') return scope;
  throw usage(`Unknown scope ${JSON.stringify(scope)}.`, 'Use "user" or "project".');
}

export function nameIn({ flags }: ParsedArguments): string {
  return flags.get('name') ?? USUAL_NAME;
}
