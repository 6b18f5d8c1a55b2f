import { join } from 'node:path';
import type { YardContext } from '../context.ts';
import { branchDirectory, worktreeOf } from '../state/home.ts';
import { realPath } from '../state/real-path.ts';

/** The default directory for the worktree of a branch. */
export function defaultWorktreePath({ home, config }: YardContext, branch: string): string {
  return config.worktreeRoot === undefined
    ? worktreeOf(home, config, branch)
    : realPath(join(config.worktreeRoot, branchDirectory(branch)));
}
