import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SwitchboardError } from '../../shared/errors.ts';
import type { ProjectConfig } from '../config/definition.ts';
import { expandHome } from '../config/expand-home.ts';
import { projectDirectory, slug } from '../names.ts';
import { sha256 } from '../sha256.ts';
import { isInside, realPath } from './real-path.ts';

/** The places in which Switchyard keeps what it knows. All paths are absolute and without symbolic links. */
export interface Home {
  readonly root: string;
  readonly stateFile: string;
  /** Where a state goes that cannot be read. Later ones get a number. */
  readonly corruptFile: string;
  readonly logs: string;
  readonly worktrees: string;
  /** One lease file for each port. */
  readonly ports: string;
  /** Sockets of our own processes. */
  readonly run: string;
  /** Eight hexadecimal digits: every cookie of this home begins with them. */
  readonly hash: string;
  /** The name of a lock that nobody shares who works in another home. */
  lockName(name: string): string;
}

/** From `SWITCHYARD_HOME`, else `~/.switchyard`. Touches nothing: the directories need not exist. */
export function homeOf(env: NodeJS.ProcessEnv): Home {
  const root = realPath(expandHome(env.SWITCHYARD_HOME || '~/.switchyard'));
  // Who only looks needs none.
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

/** Makes what is missing, for its owner only. */
export function makeHome(home: Home): void {
  for (const directory of [home.root, home.logs, home.worktrees, home.ports, home.run]) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw homeNotWritable(directory, cause);
    }
  }
}

/** A full or read-only disk, or a file in the place of a directory: nothing that a program could do about it. */
export function homeNotWritable(path: string, cause: unknown): SwitchboardError {
  const { code = 'unknown error' } = cause as NodeJS.ErrnoException;
  return new SwitchboardError('HOME_NOT_WRITABLE', `${path} cannot be created (${code}).`, {
    hint: 'Free disk space or correct the permissions there, or choose another directory with SWITCHYARD_HOME.',
    cause,
  });
}

/** Where a log of a branch stands; `file` is its name with its ending. Only the path: nothing is made. */
export function logFileOf(home: Home, project: Named, branch: string, file: string): string {
  return join(home.logs, directoryOf(project), branchDirectory(branch), file);
}

/** Where the worktree of a branch stands that nobody gave another place. */
export function worktreeOf(home: Home, project: Named, branch: string): string {
  return join(home.worktrees, directoryOf(project), branchDirectory(branch));
}

type Named = Pick<ProjectConfig, 'name' | 'writtenName' | 'root'>;

/** By the name in the file: with a name that is given later, logs and worktrees would not move. */
function directoryOf({ name, writtenName = name, root }: Named): string {
  return directoryName(projectDirectory(writtenName, root));
}

/** Whether a path lies in the log directory once its links are followed. A record may have been tampered with. */
export function insideLogs(home: Home, path: string): boolean {
  return allInsideLogs(home, [path]).length === 1;
}

/** Those of many. */
export function allInsideLogs(home: Home, paths: readonly string[]): readonly string[] {
  const logs = realPath(home.logs);
  // With `..` in it, a path leads elsewhere for the system than for us, where there is a link before that.
  return paths.filter((path) => resolve(path) === path && isInside(logs, realPath(path)));
}

/** The directory that bears the name of a branch. */
export function branchDirectory(branch: string): string {
  return directoryName(slug(branch));
}

/** No system takes more than 255 bytes; git and our logs add endings to it. */
const LONGEST_NAME = 200;

/** A branch may be called `a/very/long/path`, of which every part is short and the slug is not. */
function directoryName(name: string): string {
  return name.length <= LONGEST_NAME
    ? name
    : `${name.slice(0, LONGEST_NAME - 9)}-${sha256(name).slice(0, 8)}`;
}
