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
import { recordedServices, projectRecord, type YardContext } from '../../records/project/context.ts';
import { listWorktrees, type ListedWorktree } from '../../records/project/list-worktrees.ts';
import type { WaitOptions } from '../../records/state/project-lock.ts';
import { forgetDeletedWorktree } from '../../records/state/project-record.ts';
import type { OnEvent } from '../../runtime/events.ts';
import { runningAmong } from '../../runtime/processes/observe.ts';
import { changesIn } from './changes.ts';
import { syncEnv } from './env.ts';
import { refuseOccupied, withAllLocks } from './occupants.ts';

export interface RemoveOptions extends WaitOptions {
  /** Its name or its slug. */
  readonly branch: string;
  /** Whether to discard uncommitted changes and to stop running services. Default false. */
  readonly force?: boolean | undefined;
  /** Whether these running services may be stopped; called only if there are some. Default: they may not. */
  readonly mayStop?: ((services: readonly string[]) => boolean | Promise<boolean>) | undefined;
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

/** Stops the services of a branch, if that is allowed, and deletes its worktree. The branch and its commits stay. */
export async function removeWorktree(context: YardContext, options: RemoveOptions): Promise<RemovedWorktree> {
  const { force = false, mayStop = () => false, onEvent } = options;
  await context.registry.repair();
  const worktrees = await listWorktrees(context);
  const found = await findWorktree(context, worktrees, options.branch);
  const { branch, path } = found;
  // Before anything is stopped, so that a refusal changes nothing.
  refuseWithOthers(found, worktrees);
  refuseOccupied(context, found);
  if (!force && found.missing !== true) await refuseLoss(context, found);
  const running = runningServices(context, branch);
  if (!force && running.length > 0 && !(await mayStop(running))) throw stillRunning(branch, running);
  const stopped = await stopAll(context, branch, onEvent);
  await withAllLocks(context, path, { what: `remove ${branch}`, onEvent }, () =>
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
  const [first] = inner;
  if (first === undefined) return;
  const named = inner.map((each) => `${each.branch} (${each.path})`);
  throw new SwitchboardError(
    'WORKTREE_HOLDS_OTHERS',
    `${path} contains the worktree of another branch: ${named.join(', ')}.`,
    {
      hint: `Remove that first, with \`switchyard remove ${shellWord(first.branch)}\`, or move it elsewhere.`,
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

function runningServices(context: YardContext, branch: string): readonly string[] {
  const records = recordedServices(context).filter((record) => record.branch_slug === slug(branch));
  return runningAmong(records).map(({ service }) => service);
}

function stillRunning(branch: string, services: readonly string[]): SwitchboardError {
  const verb = services.length === 1 ? 'is' : 'are';
  const name = shellWord(branch);
  return new SwitchboardError(
    'WORKTREE_BUSY',
    `Nothing was removed: ${services.join(', ')} of ${branch} ${verb} running.`,
    {
      hint: `Stop them with \`switchyard down --branch ${name}\`, or run \`switchyard remove ${name} --yes\` to stop and remove.`,
    },
  );
}

/** Both take the lock of the project themselves. */
async function stopAll(
  context: YardContext,
  branch: string,
  onEvent: WaitOptions['onEvent'],
): Promise<readonly string[]> {
  const onlyWaiting: OnEvent = (event) => {
    if (event.kind === 'waiting') onEvent?.({ kind: 'waiting', text: event.text });
  };
  const of = (records: object | undefined): boolean =>
    Object.keys(records ?? {}).some((key) => key.startsWith(`${slug(branch)}::`));
  const messages: string[] = [];
  if (of(projectRecord(context)?.services)) {
    const { down } = await import('../down/down.ts');
    messages.push(...(await down(context, { branch, services: [], onEvent: onlyWaiting })).messages);
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
  const left = recordedServices(context).filter((each) => each.branch_slug === slug(branch));
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
