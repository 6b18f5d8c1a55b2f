import { run, type RunResult } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printable } from '../../../shared/printable.ts';
import { filtersOff, safeArguments, NO_FILTERS, NO_NETWORK, USAGE } from './safe-git.ts';

/** Runs git in a directory. Unless an option allows it, no program named in the repository's files is run. */
export interface Git {
  /** Returns its output; throws GIT_FAILED with git's own message if it fails. */
  (args: readonly string[], options?: GitOptions): Promise<string>;
  /** The same, but returns failures as results. */
  try(args: readonly string[], options?: GitOptions): Promise<RunResult>;
}

export interface GitOptions {
  /** In milliseconds. Default 30 000. */
  readonly timeout?: number;
  /** What to do about a failure, as a sentence. */
  readonly hint?: string | undefined;
  /** Its stdin. */
  readonly input?: string;
  /** How long it may clean up when it is stopped, in milliseconds. Default one second. */
  readonly grace?: number;
  /** Whether hooks, filters and helpers of the repository may run. Default false. */
  readonly runsHooks?: boolean;
}

/** When `signal` is aborted, git is stopped with everything it has started. */
export function gitIn(directory: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Git {
  const attempt = async (args: readonly string[], options: GitOptions = {}): Promise<RunResult> => {
    const { timeout = TIMEOUT_MS, input, grace, runsHooks = false } = options;
    try {
      const more = {
        ...(input === undefined ? {} : { input }),
        ...(grace === undefined ? {} : { grace }),
      };
      const start = (words: readonly string[], added: NodeJS.ProcessEnv): Promise<RunResult> =>
        run('git', words, {
          cwd: directory,
          env: { ...environment(env), ...added },
          timeout,
          maxBytes: MOST_OUTPUT,
          signal,
          ...more,
        });
      if (runsHooks) return await start(args, {});
      const ask = (words: readonly string[], added: NodeJS.ProcessEnv): Promise<RunResult> =>
        start(safeArguments(words), { ...NO_NETWORK, ...added });
      const filters = comparesFiles(args) ? await filtersOff(ask, env) : NO_FILTERS;
      if ('code' in filters) return filters;
      return await start(safeArguments(args, filters), { ...NO_NETWORK, ...filters.env });
    } catch (cause) {
      throw cause instanceof SwitchboardError && cause.code === 'COMMAND_NOT_FOUND' ? missing(cause) : cause;
    }
  };
  const git = async (args: readonly string[], options: GitOptions = {}): Promise<string> => {
    const ran = await attempt(args, options);
    if (ran.code !== 0) throw gitFailed(args, ran, options.hint);
    return ran.stdout;
  };
  return Object.assign(git, { try: attempt });
}

/** One entry of `git worktree list`. */
export interface GitWorktree {
  readonly path: string;
  /** Undefined with a detached HEAD. */
  readonly branch: string | undefined;
  readonly bare: boolean;
  readonly locked: boolean;
  /** Whether its directory is gone. */
  readonly prunable: boolean;
}

/** All checkouts of the repository, the main one first; undefined outside a repository. */
export async function worktreeList(git: Git): Promise<readonly GitWorktree[] | undefined> {
  const list = ['worktree', 'list', '--porcelain'];
  let ran = await git.try([...list, '-z']);
  // Git before 2.36 has no -z and exits with a usage error.
  if (ran.code === USAGE) ran = await git.try(list);
  if (ran.code === 0) return parseWorktrees(ran.stdout);
  if ((await git.try(['rev-parse', '--git-dir'])).code !== 0) return undefined;
  throw gitFailed(list, ran, undefined);
}

/** The branch of a checkout, which may have no commit yet; the short commit with a detached HEAD. */
export async function currentBranch(git: Git): Promise<string | undefined> {
  const branch = await git.try(['symbolic-ref', '--short', '-q', 'HEAD']);
  if (branch.code === 0) return branch.stdout.trim();
  const commit = await git.try(['rev-parse', '--short', 'HEAD']);
  return commit.code === 0 ? commit.stdout.trim() : undefined;
}

/**
 * Changes since the last commit, as lines of `git status --short`; of a submodule only its commit. Empty without git, a repository or the directory, so
 * that an overview still gets its other parts.
 */
export async function changedFiles(directory: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  try {
    const ran = await gitIn(directory, env).try(STATUS);
    return ran.code === 0 ? linesOf(ran.stdout) : [];
  } catch (error) {
    if (error instanceof SwitchboardError) return [];
    throw error;
  }
}

const STATUS = ['-c', 'core.quotePath=false', 'status', '--short'];

/** Whether it reads the content of files, through the filters of the repository. `worktree remove` runs `status`. */
function comparesFiles(args: readonly string[]): boolean {
  return args.includes('status') || (args[0] === 'worktree' && args[1] === 'remove');
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

/** A failure in git's own words, without usage lines. */
export function gitFailed(
  args: readonly string[],
  ran: RunResult,
  hint: string | undefined,
): SwitchboardError {
  const words = printable(ran.stderr.trim() || ran.stdout.trim());
  const name = args.slice(0, args[0] === 'worktree' ? 2 : 1).join(' ');
  const how = ran.code === null ? `was killed by ${ran.signal ?? 'a signal'}` : 'failed';
  return new SwitchboardError(
    'GIT_FAILED',
    words === '' ? `git ${name} ${how}.` : `git ${name} ${how}: ${words}`,
    {
      hint,
    },
  );
}

const TIMEOUT_MS = 30_000;
/** A long list of ignored files is some megabytes. */
const MOST_OUTPUT = 64 * 1024 * 1024;

/**
 * Variables that a git hook, which may have called us, has set for its own repository. The list of `git rev-parse
 * --local-env-vars` except settings, which users set on purpose.
 */
const OF_ANOTHER_REPOSITORY = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

function environment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = Object.entries(env).filter(([name]) => !OF_ANOTHER_REPOSITORY.has(name));
  // No prompts, because no user can answer; and reading the state of a checkout must not block other work in it.
  return { ...Object.fromEntries(own), GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };
}

function missing(cause: unknown): SwitchboardError {
  return new SwitchboardError('GIT_MISSING', 'Git is required but was not found on PATH.', {
    hint: 'Install git, or add it to PATH.',
    cause,
  });
}

/** Lines end with NUL, or with a newline without -z; an empty line ends an entry. */
function parseWorktrees(text: string): GitWorktree[] {
  const end = text.includes('\0') ? '\0' : '\n';
  return text
    .split(`${end}${end}`)
    .map((entry) => entry.split(end).filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const value = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1);
      const has = (name: string): boolean => lines.includes(name) || value(name) !== undefined;
      return {
        path: value('worktree') ?? '',
        branch: value('branch')?.replace(/^refs\/heads\//, ''),
        bare: has('bare'),
        locked: has('locked'),
        prunable: has('prunable'),
      };
    });
}
