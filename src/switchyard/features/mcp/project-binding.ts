import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { readRegularFile, statOf } from '../../../shared/regular-file.ts';
import { readConfig } from '../../records/config/read.ts';
import { checkoutOf, prefixOf } from '../../records/git/repository.ts';
import { expandHome, isInside, realPath } from '../../records/paths.ts';
import type { YardContext } from '../../records/project/context.ts';
import { innermost, currentWorktree, worktreesWith } from '../../records/state/current-worktree.ts';
import { CONFIG_FILE, findYardConfig } from '../../records/state/find-config.ts';
import { homeOf } from '../../records/state/home.ts';
import { namedHere } from '../../records/state/project-name.ts';
import { recordedConfig } from '../../records/state/recorded-config.ts';
import type { State } from '../../records/state/records.ts';
import { openRegistry } from '../../records/state/registry.ts';
import { isAlias, rootOfAlias } from './aliases.ts';

/** The project that a server serves for its lifetime. Paths are absolute and without symbolic links. */
export interface BoundProject {
  /** Nothing outside the root and its worktrees is reachable. */
  readonly root: string;
  /** The default directory of calls. */
  readonly cwd: string;
  /** Whether `switchyard.toml` exists. If not, it may be created later. */
  readonly found: boolean;
}

/** Selects the project of a server. At most one of `alias` and `project` is given. */
export interface ProjectSelector {
  /** The directory where the server was started or is configured; selects the project by default. */
  readonly directory: string;
  /** The name of a registered project. */
  readonly alias?: string | undefined;
  /** A path relative to the directory, or such a name. An existing path takes precedence. */
  readonly project?: string | undefined;
  /**
   * Whether to run commands of the project's file only if the project is registered. A host may have started us in a
   * repository that was just cloned. Default false.
   */
  readonly onlyRegistered?: boolean | undefined;
  /** With `onlyRegistered`: another way in which a person may have allowed the file. Default: none. */
  readonly approval?: FileApproval | undefined;
}

export interface FileApproval {
  /** Whether a file is allowed now, with its current content. */
  readonly allows: (file: string) => boolean;
  /** The command with which a person allows it. */
  readonly command: () => string;
}

/** Throws if an agent must not run commands of a project because no person has allowed it. */
export function refuseUnregistered(
  { onlyRegistered, approval }: ProjectSelector,
  { root }: BoundProject,
  env: NodeJS.ProcessEnv,
): void {
  if (onlyRegistered !== true || isRegistered(root, env)) return;
  const file = join(root, CONFIG_FILE);
  if (approval?.allows(file) === true) return;
  if (approval !== undefined)
    throw new SwitchboardError(
      'PROJECT_NOT_ALLOWED',
      `Services of ${root} are not started: ${file} is not allowed yet, or was changed since.`,
      { hint: `If the user trusts it, they can run \`${approval.command()}\`, which shows its commands.` },
    );
  throw new SwitchboardError(
    'PROJECT_NOT_INSTALLED',
    `Services of ${root} are not started: this MCP server is not installed for that project.`,
    {
      hint: 'If the user trusts the project, they can run `switchyard mcp install` there, or start its services in a terminal.',
    },
  );
}

/** Whether `switchyard mcp install` has registered the project with this root. */
export function isRegistered(root: string, env: NodeJS.ProcessEnv): boolean {
  const { project_aliases: aliases } = openRegistry(homeOf(env)).read();
  return Object.values(aliases).some((registered) => realPath(registered) === root);
}

/**
 * Finds the project of a server. If started in a worktree, it serves the project of the worktree, and calls default to
 * the worktree.
 */
export function bindProject(
  { directory, alias, project }: ProjectSelector,
  env: NodeJS.ProcessEnv,
): BoundProject {
  const state = openRegistry(homeOf(env)).read();
  if (alias !== undefined) return bindAlias(state, alias, directory);
  if (project === undefined) return bindDirectory(state, directory);
  const path = resolve(directory, expandHome(project));
  if (existsSync(path)) return bindDirectory(state, path);
  if (isAlias(project)) return bindAlias(state, project, directory);
  throw new SwitchboardError('NO_PROJECT', `Directory not found: ${path}.`, {
    hint: 'Correct "project", or leave it out to use the directory of the configuration.',
  });
}

function bindAlias(state: State, alias: string, directory: string): BoundProject {
  const root = realPath(rootOfAlias(state, alias));
  const start = realPath(directory);
  return { root, cwd: isInWorktree(state, root, start) ? start : root, found: true };
}

function bindDirectory(state: State, directory: string): BoundProject {
  const start = realPath(directory);
  const file = findYardConfig(state, start);
  refuseOrphan(state, start, file);
  if (file === undefined) return { root: start, cwd: start, found: false };
  const root = dirname(file);
  return { root, cwd: isInWorktree(state, root, start) ? start : root, found: true };
}

interface BoundCall {
  /** The directory of the call, relative to the default directory. Default: that directory. */
  readonly cwd?: string | undefined;
  /** Whether to fall back to the records if the file is broken or gone. Default false. */
  readonly orRecorded?: boolean | undefined;
}

/**
 * The project for one call. Reads the file again on every call, so that edits take effect without a restart of the
 * server.
 */
export function openBoundProject(
  bound: BoundProject,
  env: NodeJS.ProcessEnv,
  call: BoundCall = {},
): YardContext {
  const home = homeOf(env);
  const registry = openRegistry(home);
  const state = registry.read();
  const cwd = confine(bound, state, call.cwd);
  const base = { home, registry, cwd, env };
  try {
    const file = join(bound.root, CONFIG_FILE);
    if (!existsSync(file)) throw noProject(bound.root);
    return { ...base, config: namedHere(state, readConfig(file)) };
  } catch (problem) {
    const record = call.orRecorded === true ? state.projects[bound.root] : undefined;
    if (record === undefined || !(problem instanceof SwitchboardError)) throw problem;
    return { ...base, config: recordedConfig(record), problem };
  }
}

/** The directory of a call, if it belongs to the project or one of its worktrees. */
function confine({ root, cwd }: BoundProject, state: State, given: string | undefined): string {
  const wanted = given === undefined ? cwd : realPath(resolve(cwd, expandHome(given)));
  if (!isInside(root, wanted) && !isInWorktree(state, root, wanted)) {
    throw new SwitchboardError(
      'CWD_OUTSIDE',
      `cwd must stay under MCP server root or a registered worktree: ${root}`,
      {
        hint:
          given === undefined
            ? `${wanted}, where the server was started, is no longer a worktree.`
            : undefined,
      },
    );
  }
  if (statOf(wanted)?.isDirectory() === true) return wanted;
  throw new SwitchboardError('CWD_MISSING', `The cwd is not a directory: ${wanted}.`);
}

function noProject(root: string): SwitchboardError {
  return new SwitchboardError('NO_PROJECT', `Could not find ${CONFIG_FILE} from ${root}.`, {
    hint: 'Run `switchyard init` there first.',
  });
}

/** A worktree of this project: one of ours, or one that git lists for the same repository. */
function isInWorktree(state: State, root: string, directory: string): boolean {
  const current = currentWorktree({ cwd: directory, config: { root } }, state.projects[root]);
  return current !== undefined && (current.registered || isKnownToGit(current.path));
}

/**
 * Any process can write a `.git` file that names this repository. Git accepts it only if the repository lists the
 * worktree too.
 */
function isKnownToGit(top: string): boolean {
  const checkout = checkoutOf(top);
  if (checkout === undefined) return false;
  try {
    const back = readRegularFile(join(checkout.gitDirectory, 'gitdir')).toString('utf8').trim();
    return realPath(resolve(checkout.gitDirectory, back)) === join(top, '.git');
  } catch {
    return false;
  }
}

/**
 * Rejects a worktree whose project is gone: it would count as a project of its own, because git checked out a copy of
 * the file there.
 */
function refuseOrphan(state: State, start: string, file: string | undefined): void {
  const worktrees = worktreesWith(state, start);
  // Projects of one repository share their worktrees: it is an orphan for those that had the file.
  const folders = worktrees.map((each) => ({
    ...each,
    path: join(each.path, prefixOf(each.root)),
  }));
  const worktree = innermost(folders, start) ?? innermost(worktrees, start);
  if (worktree === undefined || (file !== undefined && !isInside(worktree.path, file))) return;
  const { path, root, config } = worktree;
  if (config !== join(root, CONFIG_FILE))
    throw new SwitchboardError('WORKTREE_ORPHAN', `The worktree ${path} belongs to no recorded project.`, {
      hint: 'Create it again from the directory of its project.',
    });
  if (existsSync(config)) return;
  throw new SwitchboardError(
    'WORKTREE_ORPHAN',
    `The project of the worktree ${path} no longer has ${CONFIG_FILE}: ${root}`,
    { hint: `Restore ${config}, or create the worktree again from the directory of its project.` },
  );
}
