import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { checkoutOf } from '../git/repository.ts';
import { slug } from '../names.ts';
import { resolveBranch } from './branch.ts';
import { recordedServices, type YardContext } from './context.ts';
import { listWorktrees } from './list-worktrees.ts';

export interface RequestedNames {
  /** Default: none was named. */
  readonly branch?: string | undefined;
  readonly services?: readonly string[];
}

/**
 * For an empty result: a sentence about each unknown name in the query, with a suggestion. Empty if all names are
 * known.
 */
export async function unknownNames(
  context: YardContext,
  { branch, services = [] }: RequestedNames,
): Promise<readonly string[]> {
  const unknownBranch = branch === undefined ? undefined : await aboutBranch(context, branch);
  return [
    ...(unknownBranch === undefined ? [] : [unknownBranch]),
    ...services.flatMap((service) => aboutService(context, service) ?? []),
  ];
}

function aboutService(context: YardContext, service: string): string | undefined {
  const records = recordedServices(context);
  const names = [
    ...new Set([...context.config.services.map(({ name }) => name), ...records.map((each) => each.service)]),
  ];
  if (names.length === 0 || names.includes(slug(service))) return undefined;
  const guess = didYouMean(service, names) ?? `Available: ${names.join(', ')}.`;
  return `Service "${service}" not found. ${guess}`;
}

async function aboutBranch(context: YardContext, branch: string): Promise<string | undefined> {
  // Without git, branches cannot be checked.
  if (checkoutOf(context.config.root) === undefined) return undefined;
  const names = new Set(recordedServices(context).map((each) => each.branch));
  try {
    names.add((await resolveBranch({ ...context, cwd: context.config.root })).branch);
    for (const worktree of await listWorktrees(context)) names.add(worktree.branch);
  } catch (error) {
    // Problems with git are reported elsewhere.
    if (error instanceof SwitchboardError) return undefined;
    throw error;
  }
  if ([...names].some((name) => slug(name) === slug(branch))) return undefined;
  const guess = didYouMean(branch, names) ?? `\`switchyard create ${shellWord(branch)}\` creates one.`;
  return `No worktree found for branch "${branch}". ${guess}`;
}
