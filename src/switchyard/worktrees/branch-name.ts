import { SwitchboardError } from '../../shared/errors.ts';
import type { Git } from '../git.ts';
import { slug } from '../names.ts';

/** Refuses what git would not take for the name of a branch. */
export async function checkBranchName(git: Git, branch: string): Promise<void> {
  const ran = branch.startsWith('-') ? undefined : await git.try(['check-ref-format', '--branch', branch]);
  // Such as `@{-1}` is no name but means one.
  if (ran?.code === 0 && ran.stdout.trimEnd() === branch) return;
  throw new SwitchboardError('BRANCH_NAME', `${JSON.stringify(branch)} is not a valid branch name.`, {
    hint: 'A branch has no spaces, no "..", none of ~ ^ : ? * [ \\, and does not begin with "-" or end with ".lock".',
  });
}

/** Services, logs and host names know a branch by its slug: two of one slug would be one. */
export function checkCollision(branch: string, others: Iterable<string>): void {
  for (const other of others) {
    if (other === branch || slug(other) !== slug(branch)) continue;
    throw new SwitchboardError(
      'BRANCH_COLLISION',
      `branch names collide after slugging: ${other} and ${branch}`,
      {
        hint: `Both would be called "${slug(branch)}" in host names and paths. Rename one of them.`,
      },
    );
  }
}
