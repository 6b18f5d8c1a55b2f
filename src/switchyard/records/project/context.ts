import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ProjectConfig } from '../config/definition.ts';
import { readConfig } from '../config/read.ts';
import { checkoutOf, headOf, prefixOf } from '../git/repository.ts';
import { slug } from '../names.ts';
import { realPath } from '../paths.ts';
import { branchOfRecord, innermost, currentWorktree } from '../state/current-worktree.ts';
import { findYardConfig } from '../state/find-config.ts';
import { homeOf, worktreeOf, type Home } from '../state/home.ts';
import { namedHere } from '../state/project-name.ts';
import { ensureProject } from '../state/project-record.ts';
import { recordedConfig } from '../state/recorded-config.ts';
import type { ProjectRecord, State } from '../state/records.ts';
import { openRegistry, type Registry } from '../state/registry.ts';

/** Where a command was called, and for which project. */
export interface YardContext {
  readonly home: Home;
  readonly registry: Registry;
  readonly config: ProjectConfig;
  /** Without symbolic links. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Why the records were used instead of the project's file. Default: the file was used. */
  readonly problem?: SwitchboardError;
}

export interface ContextOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Whether to fall back to the records if the file is broken or gone, so that running services can still be stopped.
   * Default false.
   */
  readonly orRecorded?: boolean;
}

/** Finds the project of a directory. Only reads. */
export function openContext(options: ContextOptions): YardContext {
  const { env } = options;
  const cwd = realPath(options.cwd);
  const home = homeOf(env);
  const registry = openRegistry(home);
  const base = { home, registry, cwd, env };
  const state = registry.read();
  const file = findYardConfig(state, cwd);
  try {
    if (file === undefined) throw noProject(cwd);
    return { ...base, config: namedHere(state, readConfig(file)) };
  } catch (problem) {
    const record = options.orRecorded === true ? recordFor(state, cwd, file) : undefined;
    if (record === undefined || !(problem instanceof SwitchboardError)) throw problem;
    return { ...base, config: recordedConfig(record), problem };
  }
}

function noProject(cwd: string): SwitchboardError {
  return new SwitchboardError(
    'NO_PROJECT',
    `No switchyard.toml was found in ${cwd} or its parent directories.`,
    {
      hint: 'Run `switchyard init` in your project, or change to a directory that has one.',
    },
  );
}

function recordFor(state: State, cwd: string, file: string | undefined): ProjectRecord | undefined {
  return file === undefined ? recordedProjectAt(state, cwd) : state.projects[realPath(dirname(file))];
}

/** The recorded project of a directory, given without symbolic links. */
export function projectRecordAt(state: State, directory: string): ProjectRecord | undefined {
  return recordFor(state, directory, findYardConfig(state, directory));
}

/** The recorded project of a directory, or of one of its worktrees. */
function recordedProjectAt({ projects }: State, directory: string): ProjectRecord | undefined {
  const candidates = Object.values(projects).flatMap((project) => [
    { path: project.root, project },
    ...Object.values(project.worktrees).flatMap(({ path }) =>
      [join(path, prefixOf(project.root)), path].map((location) => ({ path: location, project })),
    ),
  ]);
  return innermost(candidates, directory)?.project;
}

/** A branch and the directory in which its services run. */
export interface BranchLocation {
  readonly branch: string;
  readonly slug: string;
  /** May not exist, if it was not created yet or was deleted. */
  readonly worktree: string;
  /** Whether it is in the records; the project's own checkout is not, nor are worktrees made by other tools. */
  readonly registered: boolean;
}

/**
 * Locates a branch by name or slug. Without one: the current worktree, otherwise the project itself, which counts as
 * the worktree of the branch that is checked out there.
 */
export async function resolveBranch(context: YardContext, branch?: string): Promise<BranchLocation> {
  const { home, config } = context;
  const project = projectRecord(context);
  const here = currentWorktree(context, project);
  const at = (location: { branch: string; path: string }, registered: boolean): BranchLocation => ({
    branch: location.branch,
    slug: slug(location.branch),
    worktree: join(location.path, prefixOf(config.root)),
    registered,
  });
  if (branch === undefined) return here === undefined ? ownLocation(context) : at(here, here.registered);

  const wanted = slug(branch);
  for (const record of Object.values(project?.worktrees ?? {})) {
    const location = { ...record, branch: branchOfRecord(record, project!) };
    if (slug(location.branch) === wanted && existsSync(record.path)) return at(location, true);
  }
  if (here !== undefined && slug(here.branch) === wanted) return at(here, here.registered);
  const own = await ownLocation(context);
  if (own.slug === wanted) return own;

  const { listWorktrees } = await import('./list-worktrees.ts');
  const views = (await listWorktrees(context)).filter((view) => view.slug === wanted);
  const found = views.find((view) => view.branch === branch) ?? views[0];
  if (found !== undefined) return at(found, found.adopted !== true);
  // Using the current directory for another branch would start its code under a false name.
  if (here !== undefined) throw notHere(branch, here.branch);
  return at({ branch, path: worktreeOf(home, config, branch) }, false);
}

/** The slug of the branch that a command is limited to; undefined means all. */
export function scopeBranch(context: YardContext, branch?: string): string | undefined {
  const scoped = branch ?? currentWorktree(context, projectRecord(context))?.branch;
  return scoped === undefined ? undefined : slug(scoped);
}

/**
 * Ensures that the project has a record and a name, and returns the context with that name: another project may have
 * taken it since, or the user may have chosen one. Call it under the lock of the project.
 */
export async function claimName(context: YardContext): Promise<YardContext> {
  const { registry, config } = context;
  const state = registry.read();
  const record = state.projects[config.root];
  const isClaimed = record !== undefined && record.name === namedHere(state, config).name;
  const named = isClaimed
    ? namedHere(state, config)
    : await registry.change((changed) => {
        ensureProject(changed, config);
        return namedHere(changed, config);
      });
  return named === config ? context : { ...context, config: named };
}

export function projectRecord(context: YardContext): ProjectRecord | undefined {
  return context.registry.read().projects[context.config.root];
}

/** The project itself. Without git, its only branch is called `current`. */
async function ownLocation({ config, env }: YardContext): Promise<BranchLocation> {
  const checkout = checkoutOf(config.root);
  const head = checkout === undefined ? undefined : headOf(checkout);
  let branch = head?.branch ?? head?.commit?.slice(0, 7);
  if (branch === undefined && checkout !== undefined) {
    const { currentBranch, gitIn } = await import('../git/git.ts');
    branch = await currentBranch(gitIn(config.root, env));
  }
  branch ??= 'current';
  return { branch, slug: slug(branch), worktree: config.root, registered: false };
}

function notHere(branch: string, here: string): SwitchboardError {
  return new SwitchboardError(
    'NO_WORKTREE',
    `No worktree found for branch "${branch}"; this directory is the worktree of "${here}".`,
    {
      hint:
        `If "${branch}" is a service, name the branch too: \`switchyard up --branch ${shellWord(here)} ${shellWord(branch)}\`. ` +
        `If it is a branch, run \`switchyard create ${shellWord(branch)}\` first.`,
    },
  );
}
