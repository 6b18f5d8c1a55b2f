import { join } from 'node:path';
import type { YardContext } from '../context.ts';
import { branchDirectory, worktreeOf } from '../state/home.ts';
import { realPath } from '../state/real-path.ts';

/** Where the worktree of a branch goes when nobody says otherwise. */
export function defaultWorktreePath({ home, config }: YardContext, branch: string): string {
  return config.worktreeRoot === undefined
    ? worktreeOf(home, config, branch)
    : realPath(join(config.worktreeRoot, branchDirectory(branch)));
}
