import { accessSync, constants, existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printable } from '../../../shared/printable.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { gitFailed, gitIn, worktreeList, type Git } from '../../records/git/git.ts';
import { realPath } from '../../records/paths.ts';
import type { YardContext } from '../../records/project/context.ts';

export interface AddOptions {
  readonly branch: string;
  readonly base: string | undefined;
  readonly path: string;
  /** Whether git still has a worktree of this branch whose directory is gone. */
  readonly replacesMissing: boolean;
  /** Aborts git. */
  readonly signal?: AbortSignal | undefined;
}

/** Large repositories take a while, and hooks may do anything; in milliseconds. */
const CHECKOUT_TIME = 600_000;
/** An aborted git removes the files it created, which may be many; in milliseconds. */
const CLEANING_TIME = 120_000;

/** Creates the worktree with git, and the branch if it does not exist. Returns messages. */
export async function addWorktree(
  { config, env }: YardContext,
  options: AddOptions,
): Promise<readonly string[]> {
  const { branch, base, path, replacesMissing, signal } = options;
  const git = gitIn(config.root, env, signal);
  const exists = (await git.try(['show-ref', '--verify', '--quiet', `refs/heads/${branch}`])).code === 0;
  const args = ['worktree', 'add', ...(replacesMissing ? ['--force'] : [])];
  if (exists) args.push(path, branch);
  else args.push(...(await newBranch(git, branch, base, path)));

  const ran = await git.try(args, { timeout: CHECKOUT_TIME, grace: CLEANING_TIME, runsHooks: true });
  if (ran.code === 0) {
    const ignored = exists && base !== undefined ? [`${branch} already exists; --base was ignored`] : [];
    return [...ignored, ...(await hooksThatRan(gitIn(path, env, signal), path))];
  }
  // A failing hook makes git fail although everything was created.
  const made =
    existsSync(path) && (await worktreeList(git))?.some((entry) => realPath(entry.path) === realPath(path));
  if (made === true) {
    const hooks = await hooksThatRan(gitIn(path, env, signal), path);
    return [...hooks, `git said: ${printable(ran.stderr.trim())}`];
  }
  throw gitFailed(
    args,
    ran,
    (await hasCommit(git))
      ? undefined
      : 'The repository has no commits yet. Make the first commit, then try again.',
  );
}

/** Hooks that `git worktree add` runs, in this order. */
const HOOKS = ['reference-transaction', 'post-index-change', 'post-checkout'];

/** They are programs of the repository, so the user should know. */
async function hooksThatRan(git: Git, path: string): Promise<readonly string[]> {
  // Otherwise it would not name the directory that the repository has configured.
  const directory = await git(['rev-parse', '--git-path', 'hooks'], { runsHooks: true });
  const ran = HOOKS.filter((hook) => isExecutable(resolve(path, directory.trimEnd(), hook)));
  return ran.length === 0 ? [] : [`git ran hooks of this repository: ${ran.join(', ')}`];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function newBranch(
  git: Git,
  branch: string,
  base: string | undefined,
  path: string,
): Promise<string[]> {
  if (base?.startsWith('-') === true) {
    throw new SwitchboardError('GIT_BASE', `${JSON.stringify(base)} is not a commit.`, {
      hint: 'Set --base to a branch, tag or commit.',
    });
  }
  const remote = base === undefined ? await remoteBranch(git, branch) : undefined;
  if (remote !== undefined) return ['--track', '-b', branch, path, remote];
  return ['-b', branch, path, ...(base === undefined ? [] : [base])];
}

/** The remote branch of this name; the one of origin if several remotes have it. */
async function remoteBranch(git: Git, branch: string): Promise<string | undefined> {
  const text = await git(['for-each-ref', '--format=%(refname)', `refs/remotes/*/${branch}`]);
  const found = text.split('\n').filter((name) => name !== '');
  const preferred = found.find((name) => name === `refs/remotes/origin/${branch}`);
  if (preferred !== undefined || found.length < 2) return preferred ?? found[0];
  const names = found.map((name) => name.replace('refs/remotes/', ''));
  const [first = ''] = names;
  throw new SwitchboardError('BRANCH_AMBIGUOUS', `Several remotes have ${branch}: ${names.join(', ')}.`, {
    hint: `Choose one with --base ${shellWord(first)}.`,
  });
}

async function hasCommit(git: Git): Promise<boolean> {
  return (await git.try(['rev-parse', '--verify', '--quiet', 'HEAD'])).code === 0;
}
