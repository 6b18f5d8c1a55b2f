import { existsSync } from 'node:fs';
import { SwitchboardError } from '../../shared/errors.ts';
import {
  listWorktrees,
  projectRecord,
  resolveBranch,
  slug,
  type YardContext,
} from '../../switchyard/index.ts';
import type { ParsedArguments } from '../arguments.ts';
import { parseTarget, type KnownNames, type CommandTarget } from './parse-target.ts';

/** The branch and services that the arguments of a command name in this project. */
export function resolveTarget(
  yard: YardContext,
  command: string,
  { words, flags }: Pick<ParsedArguments, 'words' | 'flags'>,
): Promise<CommandTarget> {
  return parseTarget({ command, words, branch: flags.get('branch') }, knownNames(yard));
}

/** Services and branches keep running after they are removed from the file, or their worktree is deleted. */
function knownNames(yard: YardContext): KnownNames {
  const { services = {}, checkouts = {} } = projectRecord(yard) ?? {};
  const records = Object.values(services);
  const recorded = [...records, ...Object.values(checkouts)].map(({ branch }) => branch);
  return {
    services: [
      ...new Set([
        ...yard.config.services.map(({ name }) => name),
        ...records.map(({ service }) => slug(service)),
      ]),
    ],
    hasBranch: async (name) =>
      recorded.some((branch) => slug(branch) === slug(name)) ||
      (await withGit(async () => existsSync((await resolveBranch(yard, name)).worktree), false)),
    branches: async () => {
      const own = async (): Promise<string> =>
        (await resolveBranch({ ...yard, cwd: yard.config.root })).branch;
      const listed = async (): Promise<string[]> => [
        await own(),
        ...(await listWorktrees(yard)).map(({ branch }) => branch),
      ];
      return [...new Set([...recorded, ...(await withGit(listed, []))])];
    },
  };
}

/** Without git, there is only the project itself. */
async function withGit<T>(look: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof SwitchboardError && /^(?:NO_WORKTREE|GIT_MISSING)$/.test(error.code))
      return otherwise;
    throw error;
  }
}
