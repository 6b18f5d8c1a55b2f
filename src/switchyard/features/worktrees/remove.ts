import { existsSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { printableLine } from '../../../shared/printable.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { gitIn } from '../../records/git/git.ts';
import { checkoutOf, headOf, prefixOf } from '../../records/git/repository.ts';
import { slug } from '../../records/names.ts';
import { isInside } from '../../records/paths.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { listWorktrees, type ListedWorktree } from '../../records/project/list-worktrees.ts';
import { forgetDeletedWorktree } from '../../records/state/project-record.ts';
import { changesIn } from './changes.ts';
import { syncEnv } from './env.ts';
import { refuseOccupied, withAllLocks } from './occupants.ts';

export interface RemoveOptions {
  /** Its name or its slug. */
  readonly branch: string;
  /** Whether to discard uncommitted changes. Default false. */
  readonly force?: boolean | undefined;
  readonly onWait?: ((text: string) => void) | undefined;
}

export interface RemovedWorktree {
  readonly ok: true;
  readonly action: 'remove';
  readonly branch: string;
  readonly worktree: string;
  readonly messages: readonly string[];
}

/** Maximum number of changed files listed. */
const MOST_NAMED = 10;
/** Deleting many small files takes a while; in milliseconds. */
const REMOVAL_TIME = 600_000;

/** Stops the services of a branch and deletes its worktree. The branch and its commits stay. */
export async function removeWorktree(context: YardContext, options: RemoveOptions): Promise<RemovedWorktree> {
  const { force = false, onWait } = options;
  await context.registry.repair();
  const worktrees = await listWorktrees(context);
  const found = await findWorktree(context, worktrees, options.branch);
  const { branch, path } = found;
  // Before anything is stopped, so that a refusal changes nothing.
  refuseWithOthers(found, worktrees);
  refuseOccupied(context, found);
  if (!force && found.missing !== true) await refuseLoss(context, found);
  const stopped = await stopAll(context, branch, onWait);
  await withAllLocks(context, path, { what: `remove ${branch}`, onWait }, () =>
    removeAlone(context, found, force),
  );
  const messages = [
    ...stopped,
    `removed ${path}`,
    `branch ${branch} is kept; git branch -d ${shellWord(branch)} deletes it`,
  ];
  if (isInside(path, context.cwd))
    messages.push(`the current directory was removed; change to ${context.config.root}`);
  return { ok: true, action: 'remove', branch, worktree: path, messages };
}

async function findWorktree(
  context: YardContext,
  worktrees: readonly ListedWorktree[],
  branch: string,
): Promise<ListedWorktree> {
  const found =
    worktrees.find((each) => each.branch === branch) ?? worktrees.find((each) => each.slug === slug(branch));
  if (found !== undefined) return found;
  const own = await resolveBranch({ ...context, cwd: context.config.root });
  if (own.slug === slug(branch)) {
    throw new SwitchboardError(
      'IS_PROJECT',
      `${own.worktree} has ${own.branch} checked out; it is the project itself.`,
      {
        hint:
          `To stop its services, run \`switchyard down --branch ${shellWord(own.branch)}\`.` +
          (checkoutOf(own.worktree)?.linked === true
            ? ` To delete it anyway, run \`git worktree remove ${shellWord(own.worktree)}\` after that; then the switchyard.toml of another worktree is used.`
            : ''),
      },
    );
  }
  const names = worktrees.map((each) => each.branch);
  throw new SwitchboardError('NO_WORKTREE', `No worktree found for branch "${branch}".`, {
    hint: didYouMean(branch, names) ?? '`switchyard list` shows all worktrees.',
  });
}

/** Refuses to delete nested worktrees of other branches, which git would delete too. */
function refuseWithOthers({ path }: ListedWorktree, worktrees: readonly ListedWorktree[]): void {
  const inner = worktrees.filter(
    (each) => each.path !== path && each.missing !== true && isInside(path, each.path),
  );
  if (inner.length === 0) return;
  const named = inner.map((each) => `${each.branch} (${each.path})`);
  throw new SwitchboardError(
    'WORKTREE_HOLDS_OTHERS',
    `${path} contains the worktree of another branch: ${named.join(', ')}.`,
    {
      hint: `Remove that first, with \`switchyard remove ${shellWord(inner[0]!.branch)}\`, or move it elsewhere.`,
    },
  );
}

/** Refuses to delete work that cannot be restored. */
async function refuseLoss(context: YardContext, { branch, path }: ListedWorktree): Promise<void> {
  const { changed } = await changesIn(context, path);
  const hint = `Commit or move the changes, or run \`switchyard remove ${shellWord(branch)} --force\` to discard them.`;
  if (changed.length > 0) {
    const more = changed.length > MOST_NAMED ? ` and ${changed.length - MOST_NAMED} more` : '';
    const named = changed.slice(0, MOST_NAMED).map((entry) => printableLine(entry.slice(3)));
    throw new SwitchboardError(
      'WORKTREE_DIRTY',
      `${path} has uncommitted changes: ${named.join(', ')}${more}.`,
      {
        hint,
      },
    );
  }
  const checkout = checkoutOf(path);
  if (checkout === undefined || headOf(checkout)?.branch !== undefined) return;
  // With a detached HEAD, its commits may be on no branch.
  const git = gitIn(path, context.env);
  const held = await git(['for-each-ref', '--count=1', '--contains', 'HEAD']);
  if (held.trim() === '') {
    throw new SwitchboardError('WORKTREE_DIRTY', `${path} has commits that are on no branch.`, {
      hint: `Keep them with \`git -C ${shellWord(path)} branch NAME\`, or run \`switchyard remove ${shellWord(branch)} --force\` to discard them.`,
    });
  }
}

/** Both take the lock of the project themselves. */
async function stopAll(
  context: YardContext,
  branch: string,
  onWait: RemoveOptions['onWait'],
): Promise<readonly string[]> {
  const onEvent = (event: { readonly kind: string; readonly text: string }): void => {
    if (event.kind === 'waiting') onWait?.(event.text);
  };
  const of = (records: object | undefined): boolean =>
    Object.keys(records ?? {}).some((key) => key.startsWith(`${slug(branch)}::`));
  const messages: string[] = [];
  if (of(projectRecord(context)?.services)) {
    const { down } = await import('../down/down.ts');
    messages.push(...(await down(context, { branch, services: [], onEvent })).messages);
  }
  if (of(projectRecord(context)?.checkouts)) {
    const { uncheckout } = await import('../checkout/uncheckout.ts');
    messages.push(...(await uncheckout(context, { branch, services: [], onEvent })).messages);
  }
  return messages;
}

async function removeAlone(context: YardContext, found: ListedWorktree, force: boolean): Promise<void> {
  const { config, env, home, registry } = context;
  const { branch, path } = found;
  const left = Object.values(projectRecord(context)?.services ?? {}).filter(
    (each) => each.branch_slug === slug(branch),
  );
  if (left.length > 0) {
    const names = left.map(({ service, pid }) => (pid === null ? service : `${service} (pid ${pid})`));
    throw new SwitchboardError('WORKTREE_BUSY', `${path} is still in use by ${names.join(', ')}.`, {
      hint: `Run \`switchyard status --branch ${shellWord(branch)}\`, stop them, and try again.`,
    });
  }
  // A service may have been started while we stopped the branch.
  refuseOccupied(context, found);
  const git = gitIn(config.root, env);
  const ours = force || found.missing === true ? [] : (await changesIn(context, path)).ours;
  // Git would refuse because of these files, but the project has them too.
  for (const file of ours) rmSync(join(path, file));
  const flags = force ? ['--force'] : [];
  const hint =
    found.locked === true ? `It is locked: run \`git worktree unlock ${shellWord(path)}\` first.` : undefined;
  try {
    await git(['worktree', 'remove', ...flags, path], { timeout: REMOVAL_TIME, hint });
  } catch (error) {
    const worktree = join(path, prefixOf(config.root));
    if (existsSync(worktree)) await syncEnv({ root: config.root, worktree, env: config.env });
    throw error;
  }
  await registry.change((state) => {
    forgetDeletedWorktree(state, path);
  });
  if (isInside(home.worktrees, path)) removeIfEmpty(dirname(path));
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // The directory is not empty.
  }
}
