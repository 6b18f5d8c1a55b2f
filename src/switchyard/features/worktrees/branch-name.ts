import { SwitchboardError } from '../../../shared/errors.ts';
import type { Git } from '../../records/git/git.ts';
import { slug } from '../../records/names.ts';

/** Rejects names that git does not accept for a branch. */
export async function checkBranchName(git: Git, branch: string): Promise<void> {
  const ran = branch.startsWith('-') ? undefined : await git.try(['check-ref-format', '--branch', branch]);
  // `@{-1}`, for example, is not a name but refers to one.
  if (ran?.code === 0 && ran.stdout.trimEnd() === branch) return;
  throw new SwitchboardError('BRANCH_NAME', `${JSON.stringify(branch)} is not a valid branch name.`, {
    hint: 'A branch has no spaces, no "..", none of ~ ^ : ? * [ \\, and does not begin with "-" or end with ".lock".',
  });
}

/** Services, logs and host names use the slug of a branch, so slugs must be unique. */
export function checkCollision(branch: string, others: Iterable<string>): void {
  for (const other of others) {
    if (other === branch || slug(other) !== slug(branch)) continue;
    throw new SwitchboardError(
      'BRANCH_COLLISION',
      `Branch names collide after slugging: ${other} and ${branch}.`,
      {
        hint: `Both would be called "${slug(branch)}" in host names and paths. Rename one of them.`,
      },
    );
  }
}
