import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { gitIn } from '../../records/git/git.ts';
import { checkoutOf, prefixOf } from '../../records/git/repository.ts';
import { slug } from '../../records/names.ts';
import { expandHome, isInside, realPath } from '../../records/paths.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import { recordedServices, projectRecord, type YardContext } from '../../records/project/context.ts';
import { listWorktrees, type ListedWorktree } from '../../records/project/list-worktrees.ts';
import { branchOfCheckout } from '../../records/state/current-worktree.ts';
import { makeHome, worktreeOf } from '../../records/state/home.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import { ensureProject, forgetWorktree } from '../../records/state/project-record.ts';
import { timestamp } from '../../records/state/records.ts';
import { addWorktree } from './add.ts';
import { checkBranchName, checkCollision } from './branch-name.ts';
import { checkEnvSources, syncEnv } from './env.ts';
import { syncIncluded } from './include.ts';

/** `signal` aborts it: git cleans up, and a repeated call continues with what was completed. */
export interface CreateOptions extends WaitOptions {
  readonly branch: string;
  /** The base of a new branch. Default: the commit that the project has checked out. */
  readonly base?: string | undefined;
  /**
   * The directory of the worktree, relative to the current directory. Default: `worktree_root`, otherwise the state
   * home.
   */
  readonly path?: string | undefined;
  /** Whether env files replace existing ones in the worktree. Default false. */
  readonly forceEnv?: boolean | undefined;
}

export interface CreatedWorktree {
  readonly ok: true;
  readonly action: 'create';
  /** False if the branch already had one. */
  readonly created: boolean;
  readonly branch: string;
  /** The directory in which its services run. */
  readonly worktree: string;
  /** What was done with each env file. */
  readonly env: readonly string[];
  readonly message?: string;
}

/**
 * Creates the worktree of a branch, and the branch if it does not exist. If called again, only adds missing env files.
 */
export async function createWorktree(context: YardContext, options: CreateOptions): Promise<CreatedWorktree> {
  const { config, env } = context;
  const { branch, onEvent, signal } = options;
  if (checkoutOf(config.root) === undefined) throw notARepository(config.root);
  await checkBranchName(gitIn(config.root, env, signal), branch);
  checkEnvSources(config);
  await context.registry.repair();
  return withProjectLock(context, { what: `create ${branch}`, onEvent, signal }, () =>
    createAlone(context, options),
  );
}

async function createAlone(context: YardContext, options: CreateOptions): Promise<CreatedWorktree> {
  const { config, cwd } = context;
  const { branch, base, signal, forceEnv = false } = options;
  const worktrees = await listWorktrees(context);
  const own = await resolveBranch({ ...context, cwd: config.root });
  const services = recordedServices(context);
  checkCollision(branch, [own.branch, ...[...worktrees, ...services].map((each) => each.branch)]);

  const requested = options.path === undefined ? undefined : realPath(resolve(cwd, expandHome(options.path)));
  const result = { ok: true, action: 'create', branch } as const;
  if (own.branch === branch) {
    if (requested !== undefined) throw elsewhere(branch, own.worktree, 'Use it there, or leave out --path.');
    const message = `${branch} is checked out in the project itself`;
    return { ...result, created: false, worktree: own.worktree, env: [], message };
  }
  const known = worktrees.find((each) => each.branch === branch);
  if (known !== undefined && known.missing !== true) {
    if (requested !== undefined && requested !== known.path) {
      const move = `git worktree move ${shellWord(known.path)} ${shellWord(requested)}`;
      throw elsewhere(branch, known.path, `Use it there, move it with \`${move}\`, or leave out --path.`);
    }
    return { ...result, created: false, ...(await takeKnown(context, known, forceEnv)) };
  }

  refuseBusy(branch, worktrees);
  const path = requested ?? worktreeOf(context.home, context.config, branch);
  prepareDirectory(context, path);
  const messages = await addWorktree(context, {
    branch,
    base,
    path,
    replacesMissing: known !== undefined,
    signal,
  });
  const env = await registerWorktree(context, { branch, path, forceEnv });
  return {
    ...result,
    created: true,
    worktree: projectPathIn(context, path),
    env,
    ...(messages.length === 0 ? {} : { message: messages.join('; ') }),
  };
}

/** The branch has a worktree. One made by another tool is registered, and gets missing env files. */
async function takeKnown(
  context: YardContext,
  known: ListedWorktree,
  forceEnv: boolean,
): Promise<Pick<CreatedWorktree, 'worktree' | 'env' | 'message'>> {
  const { path, branch } = known;
  const worktree = projectPathIn(context, path);
  const records = Object.values(projectRecord(context)?.worktrees ?? {});
  if (!records.some((record) => record.path === path)) {
    // A killed command of ours leaves such a worktree too.
    const adopted = path !== worktreeOf(context.home, context.config, branch);
    const env = await registerWorktree(context, { branch, path, forceEnv, adopted });
    return { worktree, env, message: `worktree ${adopted ? 'of another tool ' : ''}registered` };
  }
  // Files may have been added to the configuration since; existing ones are not reported.
  const env = await fillIn(context, path, forceEnv);
  const done = env.filter((action) => !action.startsWith('kept '));
  return { worktree, env: done, message: 'worktree already registered' };
}

interface NewWorktree {
  readonly branch: string;
  readonly path: string;
  readonly forceEnv: boolean;
  readonly adopted?: boolean;
}

/** Registers the worktree first, so that it is found even if its env files fail. */
async function registerWorktree(
  context: YardContext,
  { branch, path, forceEnv, adopted }: NewWorktree,
): Promise<string[]> {
  await context.registry.change((state) => {
    const project = ensureProject(state, context.config);
    forgetWorktree(project, path);
    const record = { branch, slug: slug(branch), path, updated_at: timestamp() };
    project.worktrees[slug(branch)] = adopted === true ? { ...record, adopted } : record;
  });
  try {
    return await fillIn(context, path, forceEnv);
  } catch (cause) {
    throw new SwitchboardError(
      'ENV_SYNC',
      `The worktree ${path} was created and registered, but not all of its env files were: ${messageOf(cause)}`,
      {
        hint: `Fix that and run \`switchyard create ${shellWord(branch)}\` again; it adds the missing files.`,
        cause,
      },
    );
  }
}

async function fillIn(context: YardContext, path: string, force: boolean): Promise<string[]> {
  const { config, env } = context;
  const linked = await syncEnv({
    root: config.root,
    worktree: projectPathIn(context, path),
    env: config.env,
    force,
  });
  const worktrees = (await listWorktrees(context)).map((each) => each.path);
  const from = checkoutOf(config.root)?.top;
  if (from === undefined) throw notARepository(config.root);
  return [...linked, ...(await syncIncluded({ from, to: path, worktrees, env }))];
}

/** The project may be in a subdirectory of its repository. */
function projectPathIn({ config }: YardContext, path: string): string {
  return join(path, prefixOf(config.root));
}

function prepareDirectory({ home }: YardContext, path: string): void {
  const found = statOf(path);
  if (found !== undefined && (!found.isDirectory() || readdirSync(path).length > 0)) {
    throw new SwitchboardError('PATH_TAKEN', `The worktree path already exists and is not empty: ${path}.`, {
      hint: 'Move it away, or choose another directory with --path.',
    });
  }
  const ours = isInside(home.root, path);
  if (ours) makeHome(home);
  mkdirSync(dirname(path), { recursive: true, ...(ours ? { mode: 0o700 } : {}) });
}

/** Rejects a worktree that was switched to this branch while services of its original branch are recorded. */
function refuseBusy(branch: string, worktrees: readonly ListedWorktree[]): void {
  const busy = worktrees.find((each) => each.missing !== true && branchOfCheckout(each.path) === branch);
  if (busy === undefined) return;
  throw new SwitchboardError(
    'BRANCH_BUSY',
    `${busy.path} has ${branch} checked out, but services of ${busy.branch} are recorded for it.`,
    {
      hint: `Run \`switchyard down --branch ${shellWord(busy.branch)}\`; then it counts as the worktree of ${branch}.`,
    },
  );
}

function elsewhere(branch: string, path: string, hint: string): SwitchboardError {
  return new SwitchboardError('WORKTREE_ELSEWHERE', `${branch} is already checked out in ${path}.`, {
    hint,
  });
}

function notARepository(root: string): SwitchboardError {
  return new SwitchboardError(
    'NOT_A_REPOSITORY',
    `${root} is not in a git repository, so it has no branches.`,
    {
      hint: 'Run `git init` there and commit something. Services of the project itself run without git.',
    },
  );
}
