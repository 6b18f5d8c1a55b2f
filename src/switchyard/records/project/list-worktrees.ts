import { statOf } from '../../../shared/regular-file.ts';
import { gitIn, worktreeList, type GitWorktree } from '../git/git.ts';
import { checkoutOf } from '../git/repository.ts';
import { slug } from '../names.ts';
import { realPath } from '../paths.ts';
import { branchOfCheckout, branchOfRecord } from '../state/current-worktree.ts';
import { timestamp, type WorktreeRecord } from '../state/records.ts';
import type { YardContext } from './context.ts';

/** A worktree of the project, from our records and git. */
export interface ListedWorktree {
  readonly branch: string;
  readonly slug: string;
  readonly path: string;
  readonly updated_at: string;
  /** Whether another tool made it. */
  readonly adopted?: true;
  /** Whether its directory is gone. */
  readonly missing?: true;
  /** Whether git keeps it although its directory is gone: it may be on a disk that is not mounted. */
  readonly locked?: true;
}

/**
 * All worktrees by branch, except the project's own checkout. Includes every worktree that git lists, also those not
 * made by Switchyard; a record adds the name under which services run in it.
 */
export async function listWorktrees(context: YardContext): Promise<readonly ListedWorktree[]> {
  const { config, env, registry } = context;
  const project = registry.read().projects[config.root];
  const records = Object.values(project?.worktrees ?? {});
  const own = checkoutOf(config.root)?.top;
  const listed = (own === undefined ? [] : ((await worktreeList(gitIn(config.root, env))) ?? []))
    .filter((entry) => !entry.bare)
    .map((entry) => ({ ...entry, path: realPath(entry.path) }))
    .filter((entry) => entry.path !== own);

  const views = records.map((record) => {
    const entry = listed.find((each) => each.path === record.path);
    return view({ ...record, branch: branchOfRecord(record, project) }, entry);
  });
  for (const entry of listed) {
    if (records.some((record) => record.path === entry.path)) continue;
    const branch = entry.prunable ? entry.branch : branchOfCheckout(entry.path);
    // A missing directory with a detached HEAD is not reported.
    if (branch === undefined) continue;
    const updated = statOf(entry.path)?.mtime;
    views.push(view({ branch, path: entry.path, updated_at: timestamp(updated), adopted: true }, entry));
  }
  return views.sort((a, b) => (a.branch < b.branch ? -1 : 1));
}

function view(
  record: Pick<WorktreeRecord, 'branch' | 'path' | 'updated_at' | 'adopted'>,
  entry: GitWorktree | undefined,
): ListedWorktree {
  const { branch, path, updated_at, adopted } = record;
  return {
    branch,
    slug: slug(branch),
    path,
    updated_at,
    ...(adopted === true ? { adopted } : {}),
    ...(isDirectory(path) ? {} : { missing: true }),
    ...(entry?.locked === true ? { locked: true } : {}),
  };
}

function isDirectory(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}
