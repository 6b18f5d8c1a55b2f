import { shellWord } from '../../shared/shell-word.ts';
import { nearest } from '../../shared/nearest.ts';
import { slug } from '../../switchyard/index.ts';
import { usage } from '../arguments.ts';

export interface KnownNames {
  readonly services: readonly string[];
  /** Whether there is a worktree of this branch, which may be given as a slug. */
  hasBranch(name: string): Promise<boolean>;
  /** The branches that have one, for a suggestion. */
  branches(): Promise<readonly string[]>;
}

export interface Meant {
  readonly branch: string | undefined;
  readonly services: readonly string[];
}

/**
 * What `up` was asked for. Its first word may be a branch or a service, and in a worktree `up api` nearly always means
 * the service. Where it could be both, somebody has to say which.
 */
export async function meantBy(
  words: readonly string[],
  branch: string | undefined,
  known: KnownNames,
): Promise<Meant> {
  const [first, ...rest] = words;
  if (branch !== undefined || first === undefined) return { branch, services: words };
  const isService = known.services.includes(slug(first));
  const isBranch = await known.hasBranch(first);
  if (isService && isBranch)
    throw usage(
      `${JSON.stringify(first)} is a branch and a service.`,
      `Write up --branch ${shellWord(first)} for the branch, or up --branch BRANCH ${words.map(shellWord).join(' ')} for the service.`,
    );
  if (isService) return { branch: undefined, services: words };
  if (!isBranch) await refuseTypo(first, known);
  return { branch: first, services: rest };
}

/** A branch that has no worktree yet is refused later, with the way to make one; a slip of the finger needs another. */
async function refuseTypo(word: string, known: KnownNames): Promise<void> {
  const [guess] = nearest(word, [...known.services, ...(await known.branches())]);
  // The very same is a worktree that somebody has deleted.
  if (guess === undefined || slug(guess) === slug(word)) return;
  throw usage(
    `There is neither a service nor a worktree called ${JSON.stringify(word)}.`,
    `Did you mean ${JSON.stringify(guess)}? A worktree of a branch is made with: switchyard create ${shellWord(word)}`,
  );
}
