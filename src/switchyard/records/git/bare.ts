import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { realPath } from '../paths.ts';
import { headOf, isBare, readIfPresent, type Checkout } from './repository.ts';

/** The bare repository at a directory, or that its `.git` points to. */
export function bareRepositoryAt(directory: string, checkout: Checkout | undefined): string | undefined {
  if (checkout?.top === directory)
    return isBare(checkout.commonDirectory) ? checkout.commonDirectory : undefined;
  const isRepository = existsSync(join(directory, 'HEAD')) && existsSync(join(directory, 'objects'));
  return isRepository && isBare(directory) ? directory : undefined;
}

/** The name of a bare repository: `shop` for `shop.git`, `shop/.bare` and `shop/.git`. */
export function nameOfBare(repository: string): string {
  const name = basename(repository);
  return (name.startsWith('.') ? basename(dirname(repository)) : name).replace(/\.git$/, '');
}

/** The existing worktrees, and whether each is on the default branch of the repository. */
export function worktreesOfBare(
  repository: string,
): readonly { readonly top: string; readonly isHead: boolean }[] {
  const head = readIfPresent(join(repository, 'HEAD'))?.trim();
  return namesIn(join(repository, 'worktrees')).flatMap((name) => {
    const gitDirectory = join(repository, 'worktrees', name);
    const link = readIfPresent(join(gitDirectory, 'gitdir'))?.trim();
    const top = link === undefined ? undefined : dirname(realPath(resolve(gitDirectory, link)));
    if (top === undefined || !existsSync(join(top, '.git'))) return [];
    const branch = headOf({ gitDirectory })?.branch;
    return [{ top, isHead: branch !== undefined && head === `ref: refs/heads/${branch}` }];
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
