import { existsSync } from 'node:fs';
import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean, nearest } from '../../shared/nearest.ts';
import { shellWord } from '../../shared/shell-word.ts';
import {
  listWorktrees,
  projectRecord,
  resolveBranch,
  slug,
  type YardContext,
} from '../../switchyard/index.ts';
import { usage, type ParsedArguments } from '../kit/arguments.ts';

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

export interface KnownNames {
  readonly services: readonly string[];
  /** Whether a branch, given by name or slug, has a worktree or is recorded. */
  hasBranch(name: string): Promise<boolean>;
  /** All such branches, for a suggestion. */
  branches(): Promise<readonly string[]>;
}

export interface CommandTarget {
  readonly branch: string | undefined;
  readonly services: readonly string[];
}

export interface TypedWords {
  /** The name of the command, for error messages. */
  readonly command: string;
  readonly words: readonly string[];
  /** The value of --branch. With it, every word is a service. */
  readonly branch: string | undefined;
}

/**
 * The branch and services that a command applies to. The first word may be either: `up api` in a worktree usually means
 * the service. A name that is both needs --branch.
 */
export async function parseTarget(
  { command, words, branch }: TypedWords,
  known: KnownNames,
): Promise<CommandTarget> {
  const [first, ...rest] = words;
  if (branch !== undefined || first === undefined) return { branch, services: words };
  const isService = known.services.includes(slug(first));
  const isBranch = await known.hasBranch(first);
  if (isService && isBranch)
    throw usage(
      `${JSON.stringify(first)} is both a branch and a service.`,
      `Write ${command} --branch ${shellWord(first)} for the branch, or ` +
        `${command} --branch BRANCH ${words.map((word) => shellWord(word)).join(' ')} for the service.`,
    );
  if (isService) return { branch: undefined, services: words };
  if (!isBranch) await refuseUnknown(command, first, known);
  return { branch: first, services: rest };
}

async function refuseUnknown(command: string, word: string, known: KnownNames): Promise<void> {
  const branches = await known.branches();
  const names = new Set([...known.services, ...branches]);
  // `up` itself rejects a branch without a worktree, or with a deleted one, and says how to create it.
  if (command === 'up') {
    const [guess] = nearest(word, names);
    if (guess === undefined || slug(guess) === slug(word)) return;
  }
  const guess = didYouMean(word, names);
  const next =
    command === 'up'
      ? `To create a worktree for a branch: switchyard create ${shellWord(word)}`
      : `Services: ${known.services.join(', ')}. Branches: ${branches.join(', ')}.`;
  throw usage(
    `No service or worktree is called ${JSON.stringify(word)}.`,
    guess === undefined ? next : `${guess} ${next}`,
  );
}
