import { dirname, join, relative } from 'node:path';
import { isAnyFile } from '../../../shared/regular-file.ts';
import { bareRepositoryAt, worktreesOfBare } from '../git/bare.ts';
import { checkoutOf, mainCheckoutOf, prefixOf } from '../git/repository.ts';
import { realPath } from '../paths.ts';
import { innermost, worktreesWith } from './current-worktree.ts';
import type { State } from './records.ts';

export const CONFIG_FILE = 'switchyard.toml';

/**
 * The `switchyard.toml` for a directory or a file in it: the nearest one upwards. Symbolic links are resolved first, so
 * that a project has the same root no matter how it was reached.
 *
 * In a worktree it is the file of the project, not the copy that git checked out there: otherwise each worktree would
 * be a project of its own. This also applies to worktrees made by other tools.
 */
export function findYardConfig(state: State, from: string): string | undefined {
  const start = realPath(from);
  for (let directory = isAnyFile(start) ? dirname(start) : start; ; directory = dirname(directory)) {
    for (const candidate of candidatesFor(state, directory)) {
      const file = join(candidate, CONFIG_FILE);
      if (isAnyFile(file)) return file;
    }
    if (dirname(directory) === directory) return fileOfWorktree(state, start);
  }
}

/** The directories that may hold the file for a directory; the first one that has it wins. */
function* candidatesFor(state: State, directory: string): Iterable<string> {
  for (const { path, root } of worktreesWith(state, directory)) {
    if (join(path, prefixOf(root)) === directory) yield root;
  }
  const checkout = checkoutOf(directory);
  if (checkout?.linked === true) {
    const relativePath = relative(checkout.top, directory);
    const main = mainCheckoutOf(checkout);
    if (main === undefined) yield* inBare(state, checkout.commonDirectory, relativePath, directory);
    else yield join(main, relativePath);
  }
  yield directory;
  const bare = checkout?.linked === true ? undefined : bareRepositoryAt(directory, checkout);
  if (bare !== undefined) yield* inBare(state, bare, '', directory);
}

/**
 * A bare repository has no main checkout, so one of its worktrees takes that role: the recorded one, which must not
 * change while anything runs; otherwise the one on the default branch of the repository; otherwise the first by name.
 */
function inBare(
  state: State,
  repository: string,
  relativePath: string,
  directory: string,
): readonly string[] {
  const rank = ({ top, isHead }: { readonly top: string; readonly isHead: boolean }): string => {
    const record = state.projects[join(top, relativePath)];
    if (record === undefined) return isHead ? '2' : `3 ${top}`;
    // Earlier versions treated each worktree as a project: leave such a project alone while it has recorded services.
    const isOwn = record.root === directory && Object.keys(record.services).length > 0;
    return isOwn ? '0' : `1 ${record.created_at} ${top}`;
  };
  return worktreesOfBare(repository)
    .map((worktree) => ({ candidate: join(worktree.top, relativePath), rank: rank(worktree) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ candidate }) => candidate);
}

/** For a directory above all projects of a repository, in a worktree that was created for one of them. */
function fileOfWorktree(state: State, directory: string): string | undefined {
  const worktrees = worktreesWith(state, directory);
  const path = innermost(worktrees, directory)?.path;
  const [only, ...others] = worktrees.filter((worktree) => worktree.path === path);
  return only !== undefined && others.length === 0 && isAnyFile(only.config) ? only.config : undefined;
}
