import { basename, dirname, join, relative, resolve } from 'node:path';
import { readRegularFile, statOf } from '../../../shared/regular-file.ts';
import { realPath } from '../paths.ts';

/** A checkout of a git repository, read from its files, which needs no process and is fast enough for every command. */
export interface Checkout {
  /** The directory that holds `.git`. */
  readonly top: string;
  /** Git's data for this checkout alone. */
  readonly gitDirectory: string;
  /** Git's data shared by all checkouts of the repository; the same for all of them. */
  readonly commonDirectory: string;
  /** Whether it was created by `git worktree add`. */
  readonly linked: boolean;
}

/** The checkout that contains a directory; undefined outside git. */
export function checkoutOf(directory: string): Checkout | undefined {
  for (let top = directory; ; top = dirname(top)) {
    const gitDirectory = gitDirectoryOf(join(top, '.git'));
    if (gitDirectory !== undefined) return { top, gitDirectory, ...originOf(gitDirectory) };
    if (dirname(top) === top) return undefined;
  }
}

/** The top of the main checkout of a repository; undefined if there is none or the files do not reveal it. */
export function mainCheckoutOf({ commonDirectory }: Checkout): string | undefined {
  const isUsual = basename(commonDirectory) === '.git' && !isBare(commonDirectory);
  return isUsual ? dirname(commonDirectory) : undefined;
}

/** Whether a repository has only worktrees, no checkout of its own. */
export function isBare(repository: string): boolean {
  // In the second file if worktrees have their own settings.
  return ['config', 'config.worktree'].some((file) =>
    /^[ \t]*bare[ \t]*=[ \t]*(?:true|yes|on|1)[ \t]*$/im.test(readIfPresent(join(repository, file)) ?? ''),
  );
}

/** The HEAD of a checkout. */
export interface Head {
  /** The branch, even during a rebase, when git itself reports none. */
  readonly branch: string | undefined;
  /** The commit of a detached HEAD. */
  readonly commit: string | undefined;
}

/** Undefined if the files do not reveal it: git stores it elsewhere, or there is none. */
export function headOf(checkout: Pick<Checkout, 'gitDirectory'>): Head | undefined {
  const text = firstLine(join(checkout.gitDirectory, 'HEAD'));
  if (text === undefined) return undefined;
  const branch = branchIn(text.replace(/^ref: */, ''));
  // A placeholder that git writes if references have another format.
  if (branch === '.invalid') return undefined;
  if (branch !== undefined) return { branch, commit: undefined };
  if (!/^[0-9a-f]{40,64}$/.test(text)) return undefined;
  const rebased = ['rebase-merge', 'rebase-apply']
    .map((state) => firstLine(join(checkout.gitDirectory, state, 'head-name')))
    .map((name) => (name === undefined ? undefined : branchIn(name)))
    .find((name) => name !== undefined);
  return { branch: rebased, commit: text };
}

/** The path from the top of the repository to the project. Empty if they are the same. */
export function prefixOf(root: string): string {
  const checkout = checkoutOf(root);
  return checkout === undefined ? '' : relative(checkout.top, root);
}

/** `.git` is a directory, or a file that points to one. */
function gitDirectoryOf(entry: string): string | undefined {
  const found = statOf(entry);
  if (found === undefined) return undefined;
  if (found.isDirectory()) return entry;
  const named = /^gitdir: (.+)$/.exec(firstLine(entry) ?? '')?.[1];
  return named === undefined ? undefined : realPath(resolve(dirname(entry), named));
}

/** Only worktrees made by `git worktree add` say where the rest of the repository is; submodules do not. */
function originOf(gitDirectory: string): { commonDirectory: string; linked: boolean } {
  const commonPath = firstLine(join(gitDirectory, 'commondir'));
  return commonPath === undefined
    ? { commonDirectory: gitDirectory, linked: false }
    : { commonDirectory: realPath(resolve(gitDirectory, commonPath)), linked: true };
}

function branchIn(reference: string): string | undefined {
  return reference.startsWith('refs/heads/') ? reference.slice('refs/heads/'.length) : undefined;
}

function firstLine(file: string): string | undefined {
  return readIfPresent(file)?.split('\n', 1)[0]?.trimEnd();
}

export function readIfPresent(file: string): string | undefined {
  try {
    return readRegularFile(file).toString('utf8');
  } catch {
    return undefined;
  }
}
