import { basename } from 'node:path';
import { checkoutOf, headOf } from '../git/repository.ts';
import { isInside } from '../paths.ts';
import type { ProjectRecord, State, WorktreeRecord } from './records.ts';

/** The worktree a command was called in. */
export interface CurrentWorktree {
  readonly branch: string;
  /** The top of the worktree. */
  readonly path: string;
  readonly registered: boolean;
}

/**
 * The worktree of the project that contains `cwd`; undefined in the project itself. A worktree made by another tool
 * needs no record.
 */
export function currentWorktree(
  { cwd, config }: { readonly cwd: string; readonly config: { readonly root: string } },
  project: ProjectRecord | undefined,
): CurrentWorktree | undefined {
  const record = innermost(Object.values(project?.worktrees ?? {}), cwd);
  if (record !== undefined) {
    return { branch: branchOfRecord(record, project), path: record.path, registered: true };
  }
  const checkout = checkoutOf(cwd);
  const own = checkoutOf(config.root);
  if (checkout?.linked !== true || checkout.commonDirectory !== own?.commonDirectory) return undefined;
  if (checkout.top === own.top) return undefined;
  return { branch: branchOfCheckout(checkout.top), path: checkout.top, registered: false };
}

/** The recorded worktrees of all projects that contain a directory. Projects of one repository share theirs. */
export function worktreesWith(
  state: State,
  directory: string,
): readonly { readonly path: string; readonly root: string; readonly config: string }[] {
  return Object.values(state.projects).flatMap(({ root, config, worktrees }) =>
    Object.values(worktrees)
      .filter(({ path }) => isInside(path, directory))
      .map(({ path }) => ({ path, root, config })),
  );
}

/** A worktree may be inside another one. */
export function innermost<T extends { readonly path: string }>(
  worktrees: readonly T[],
  directory: string,
): T | undefined {
  return worktrees
    .filter((worktree) => isInside(worktree.path, directory))
    .sort((a, b) => b.path.length - a.path.length)[0];
}

/**
 * The branch of a recorded worktree. If another branch is checked out there now, git is right; but while services are
 * recorded for the old branch, they are found under the name they were started with.
 */
export function branchOfRecord(record: WorktreeRecord, project: ProjectRecord | undefined): string {
  const entries = [...Object.values(project?.services ?? {}), ...Object.values(project?.checkouts ?? {})];
  if (entries.some((entry) => entry.branch_slug === record.slug)) return record.branch;
  return headAt(record.path)?.branch ?? record.branch;
}

/**
 * The branch of a worktree without a record. With a detached HEAD, the name that git gave it, because the commit
 * changes too often.
 */
export function branchOfCheckout(top: string): string {
  const checkout = checkoutOf(top);
  const head = headAt(top);
  return head?.branch ?? basename(checkout?.gitDirectory ?? top);
}

function headAt(top: string): ReturnType<typeof headOf> {
  const checkout = checkoutOf(top);
  return checkout?.top === top ? headOf(checkout) : undefined;
}
