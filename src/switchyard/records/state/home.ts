import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { sha256 } from '../../../shared/sha256.ts';
import type { ProjectConfig } from '../config/definition.ts';
import { projectDirectory, slug } from '../names.ts';
import { expandHome, isInside, realPath } from '../paths.ts';

/** The files and directories of Switchyard. All paths are absolute and without symbolic links. */
export interface Home {
  readonly root: string;
  readonly stateFile: string;
  /** Where an unreadable state is moved. Later ones get a number. */
  readonly corruptFile: string;
  readonly logs: string;
  readonly worktrees: string;
  /** One lease file per port. */
  readonly ports: string;
  /** Sockets of our own processes. */
  readonly run: string;
  /** Eight hexadecimal digits that every cookie of this home begins with. */
  readonly hash: string;
  /** A lock name that is unique to this home. */
  lockName(name: string): string;
}

/**
 * From `SWITCHYARD_HOME`, otherwise `~/.switchyard`. Does not touch the file system; the directories need not exist.
 */
export function homeOf(env: NodeJS.ProcessEnv): Home {
  const root = realPath(expandHome(env.SWITCHYARD_HOME || '~/.switchyard'));
  // Computed on demand: commands that only read do not need it.
  let known: string | undefined;
  const name = (): string => (known ??= sha256(root));
  return {
    root,
    stateFile: join(root, 'state.json'),
    corruptFile: join(root, 'state.corrupt.json'),
    logs: join(root, 'logs'),
    worktrees: join(root, 'worktrees'),
    ports: join(root, 'ports'),
    run: join(root, 'run'),
    get hash() {
      return name().slice(0, 8);
    },
    lockName: (lock) => `${name().slice(0, 16)}-${lock}`,
  };
}

/** Creates missing directories, accessible only to their owner. */
export function makeHome(home: Home): void {
  for (const directory of [home.root, home.logs, home.worktrees, home.ports, home.run]) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw homeNotWritable(directory, cause);
    }
  }
}

/** For a full or read-only disk, or a file where a directory should be. */
export function homeNotWritable(path: string, cause: unknown): SwitchboardError {
  const code = nodeErrorCode(cause) ?? 'unknown error';
  return new SwitchboardError('HOME_NOT_WRITABLE', `${path} cannot be created (${code}).`, {
    hint: 'Free disk space or correct the permissions there, or choose another directory with SWITCHYARD_HOME.',
    cause,
  });
}

/** The path of a log of a branch; `file` is its name with extension. Creates nothing. */
export function logFileOf(home: Home, project: Named, branch: string, file: string): string {
  return join(home.logs, directoryOf(project), branchDirectory(branch), file);
}

/** The default path of the worktree of a branch. */
export function worktreeOf(
  home: Home,
  project: Named & { readonly worktreeRoot?: string | undefined },
  branch: string,
): string {
  return project.worktreeRoot === undefined
    ? join(home.worktrees, directoryOf(project), branchDirectory(branch))
    : realPath(join(project.worktreeRoot, branchDirectory(branch)));
}

type Named = Pick<ProjectConfig, 'name' | 'writtenName' | 'root'>;

/** By the name in the file, so that logs and worktrees do not move when the project is renamed. */
function directoryOf({ name, writtenName = name, root }: Named): string {
  return directoryName(projectDirectory(writtenName, root));
}

/** Whether a path is in the log directory after following links. A record may have been tampered with. */
export function insideLogs(home: Home, path: string): boolean {
  return allInsideLogs(home, [path]).length === 1;
}

/** The paths that are in the log directory. */
export function allInsideLogs(home: Home, paths: readonly string[]): readonly string[] {
  const logs = realPath(home.logs);
  // A path with `..` after a link resolves differently in the system than in `resolve`.
  return paths.filter((path) => resolve(path) === path && isInside(logs, realPath(path)));
}

/** The directory name for a branch. */
function branchDirectory(branch: string): string {
  return directoryName(slug(branch));
}

/** File systems allow 255 bytes; git and our logs append suffixes. */
const LONGEST_NAME = 200;

/** The slug of a branch such as `a/very/long/path` may be too long although each part is short. */
function directoryName(name: string): string {
  return name.length <= LONGEST_NAME
    ? name
    : `${name.slice(0, LONGEST_NAME - 9)}-${sha256(name).slice(0, 8)}`;
}
