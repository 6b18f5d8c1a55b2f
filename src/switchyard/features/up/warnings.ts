import { basename } from 'node:path';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ProjectConfig } from '../../records/config/definition.ts';
import type { BranchLocation } from '../../records/project/branch.ts';
import { lackingEnv } from '../worktrees/env.ts';

/** Maximum number of warnings listed one by one. */
const MOST_TOLD = 10;

/** Warnings for starting the services of a branch, one line each. */
export function startWarnings(config: ProjectConfig, location: BranchLocation): readonly string[] {
  const written = config.warnings
    .filter(({ kind }) => kind !== 'ports')
    .map(({ line, message }) => `warning: ${basename(config.file)}:${line}: ${message}`);
  const more = written.length - MOST_TOLD;
  return [
    ...written.slice(0, MOST_TOLD),
    ...(more > 0 ? [`warning: ${more} more of these; \`switchyard doctor\` lists all`] : []),
    ...envWarning(config, location),
  ];
}

/** Files may have been added to `[env]` after the worktree was created. */
function envWarning({ root, env }: ProjectConfig, { branch, worktree }: BranchLocation): readonly string[] {
  const lacking = lackingEnv({ root, worktree, env });
  if (lacking.length === 0) return [];
  const add = `\`switchyard create ${shellWord(branch)}\` adds ${lacking.length === 1 ? 'it' : 'them'}`;
  return [
    `warning: ${worktree} is missing ${lacking.join(', ')}, listed under [env] in switchyard.toml; ${add}`,
  ];
}
