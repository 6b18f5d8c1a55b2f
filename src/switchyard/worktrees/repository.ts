import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { realPath } from '../state/real-path.ts';

/** A checkout of a git repository, read from its files: that takes no process, so every command can afford it. */
export interface Checkout {
  /** The directory that holds `.git`. */
  readonly top: string;
  /** What git keeps about this checkout alone. */
  readonly gitDirectory: string;
  /** What all checkouts of the repository share: two that name the same belong together. */
  readonly commonDirectory: string;
  /** Whether `git worktree add` made it. */
  readonly linked: boolean;
}

/** The checkout that a directory belongs to; undefined outside of git. */
export function checkoutOf(directory: string): Checkout | undefined {
  for (let top = directory; ; top = dirname(top)) {
    const gitDirectory = gitDirectoryOf(join(top, '.git'));
    if (gitDirectory !== undefined) return { top, gitDirectory, ...originOf(gitDirectory) };
    if (dirname(top) === top) return undefined;
  }
}

/** The top of the main checkout of a repository; undefined when there is none, or its files do not tell. */
export function mainCheckoutOf({ commonDirectory }: Checkout): string | undefined {
  const isUsual = basename(commonDirectory) === '.git' && !isBare(commonDirectory);
  return isUsual ? dirname(commonDirectory) : undefined;
}

/** Whether a repository has no checkout of its own, but only worktrees. */
export function isBare(repository: string): boolean {
  // In the second file where each worktree has settings of its own.
  return ['config', 'config.worktree'].some((file) =>
    /^\s*bare\s*=\s*(?:true|yes|on|1)\s*$/im.test(readIfPresent(join(repository, file)) ?? ''),
  );
}

/** Where a checkout stands in its history. */
export interface Head {
  /** The branch; also in the middle of a rebase, when git itself speaks of none. */
  readonly branch: string | undefined;
  /** The commit when it is on no branch. */
  readonly commit: string | undefined;
}

/** Undefined when the files do not tell: git keeps it elsewhere, or there is none. */
export function headOf(checkout: Pick<Checkout, 'gitDirectory'>): Head | undefined {
  const text = firstLine(join(checkout.gitDirectory, 'HEAD'));
  if (text === undefined) return undefined;
  const branch = branchIn(text.replace(/^ref: */, ''));
  // This one stands there when the references are kept in another format.
  if (branch === '.invalid') return undefined;
  if (branch !== undefined) return { branch, commit: undefined };
  if (!/^[0-9a-f]{40,64}$/.test(text)) return undefined;
  const rebased = ['rebase-merge', 'rebase-apply']
    .map((state) => firstLine(join(checkout.gitDirectory, state, 'head-name')))
    .map((name) => (name === undefined ? undefined : branchIn(name)))
    .find((name) => name !== undefined);
  return { branch: rebased, commit: text };
}

/** The way from the top of the repository to the project, which need not be the same. Empty when it is. */
export function prefixOf(root: string): string {
  const checkout = checkoutOf(root);
  return checkout === undefined ? '' : relative(checkout.top, root);
}

/** `.git` is a directory, or a file that names one. */
function gitDirectoryOf(entry: string): string | undefined {
  const found = statSync(entry, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (found.isDirectory()) return entry;
  const named = /^gitdir: (.+)$/.exec(firstLine(entry) ?? '')?.[1];
  return named === undefined ? undefined : realPath(resolve(dirname(entry), named));
}

/** Only what `git worktree add` makes says where the rest of the repository is; a submodule does not. */
function originOf(gitDirectory: string): { commonDirectory: string; linked: boolean } {
  const way = firstLine(join(gitDirectory, 'commondir'));
  return way === undefined
    ? { commonDirectory: gitDirectory, linked: false }
    : { commonDirectory: realPath(resolve(gitDirectory, way)), linked: true };
}

function branchIn(reference: string): string | undefined {
  return reference.startsWith('refs/heads/') ? reference.slice('refs/heads/'.length) : undefined;
}

function firstLine(file: string): string | undefined {
  return readIfPresent(file)?.split('\n', 1)[0]!.trimEnd();
}

export function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
