import { gitIn, listWorktrees, openContext, projectRecord, resolveBranch } from '../../switchyard/index.ts';
import type { Completion } from '../completion/candidates.ts';
import type { CandidateOptions } from './candidates.ts';

export type NameKind = 'branch' | 'service' | 'profile' | 'ref';

/** The names of a kind in the current project. */
export async function projectNames(
  kind: NameKind,
  options: CandidateOptions,
): Promise<readonly Completion[]> {
  const yard = openContext(options);
  switch (kind) {
    case 'service':
      return yard.config.services.map(({ name, command }) => [name, command]);
    case 'profile':
      return yard.config.profiles.map(({ name, services }) => [name, services.join(', ')]);
    case 'ref': {
      const git = gitIn(yard.config.root, yard.env);
      const found = await git(['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags']);
      return found
        .split('\n')
        .filter((name) => name !== '')
        .map((name) => [name, '']);
    }
    case 'branch': {
      const services = Object.values(projectRecord(yard)?.services ?? {});
      const found = new Map([
        ...services.map(({ branch, worktree }) => [branch, worktree] as const),
        ...(await listWorktrees(yard)).map(({ branch, path }) => [branch, path] as const),
      ]);
      const here = await resolveBranch(yard);
      return [...found.set(here.branch, here.worktree)];
    }
  }
}
