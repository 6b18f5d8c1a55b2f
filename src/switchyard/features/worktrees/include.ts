import { lstatSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { matchGlob } from '../../../shared/glob.ts';
import { gitIn, type Git } from '../../records/git/git.ts';
import { readIfPresent } from '../../records/git/repository.ts';
import { isInside, realPath } from '../../records/paths.ts';
import { copyWhole } from './copy.ts';

const INCLUDE_FILE = '.worktreeinclude';
/** Maximum number of files listed one by one. */
const MOST_TOLD = 20;

export interface IncludeSync {
  /** The top of the project's checkout. */
  readonly from: string;
  /** The top of the new worktree. */
  readonly to: string;
  /** All other worktrees, which are never copied into another. */
  readonly worktrees: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Copies the files listed in `.worktreeinclude` into a new worktree, and returns what was copied. The file is at the
 * top of the repository and has the syntax of a `.gitignore`. It selects only files that git ignores: the others are
 * part of the checkout, or not yet committed.
 *
 * A directory that is ignored as a whole is searched only for patterns that name it or one of its parents. So `.env*`
 * collects nothing from `node_modules`, `config/keys.json` is found although all of `config/` is ignored, and
 * `node_modules/` copies all of it. Existing files in the worktree are kept.
 */
export async function syncIncluded({ from, to, worktrees, env }: IncludeSync): Promise<string[]> {
  const file = join(from, INCLUDE_FILE);
  const text = readIfPresent(file);
  if (text === undefined) return [];
  const git = gitIn(from, env);
  const ignored = await listed(git, '--exclude-standard');
  const named = await listed(git, `--exclude-from=${file}`);
  const actions: string[] = [];
  for (const item of choose(named, ignored, patternParts(text))) {
    const source = resolve(from, item);
    const target = resolve(to, item);
    if (worktrees.some((worktree) => isInside(source, worktree) || isInside(worktree, source))) continue;
    // A directory in the path may be a link that points elsewhere.
    if (!isInside(realPath(to), realPath(dirname(target)))) continue;
    if (lstatSync(target, { throwIfNoEntry: false }) !== undefined) continue;
    mkdirSync(dirname(target), { recursive: true });
    await copyWhole(source, target);
    actions.push(`copied ${item}`);
  }
  if (actions.length <= MOST_TOLD) return actions;
  const more = actions.length - MOST_TOLD;
  return [...actions.slice(0, MOST_TOLD), `copied ${more} more files listed in ${INCLUDE_FILE}`];
}

/**
 * The untracked files that match a set of patterns. A directory stands for its whole content, unless some of it is
 * listed too: then git only means that nothing else is in it.
 */
async function listed(git: Git, patterns: string): Promise<string[]> {
  const text = await git(['ls-files', '--others', '--ignored', patterns, '--directory', '-z']);
  const entries = text.split('\0').filter((entry) => entry !== '');
  // The parents of listed entries.
  const split = new Set(entries.flatMap((entry) => parentsOf(entry)));
  return entries.filter((entry) => !split.has(entry));
}

/** The entries that are both named and ignored, or the parts of them that are. */
function choose(named: readonly string[], ignored: readonly string[], parts: readonly string[]): Set<string> {
  const isIgnored = new Set(ignored);
  const chosen = new Set<string>();
  for (const entry of named) {
    const around = [entry, ...parentsOf(entry)].find((each) => isIgnored.has(each));
    if (around === undefined) {
      // Not ignored itself; of a directory, the ignored content.
      if (entry.endsWith('/')) for (const each of ignored) if (each.startsWith(entry)) chosen.add(each);
    } else if (
      around === entry ||
      around.split('/').some((name) => parts.some((part) => matchGlob(part, name)))
    ) {
      chosen.add(entry);
    }
  }
  return chosen;
}

/** The parent directories of an entry, innermost first, each with a trailing `/`. */
function parentsOf(entry: string): string[] {
  const parents: string[] = [];
  for (let at = entry.lastIndexOf('/', entry.length - 2); at > 0; at = entry.lastIndexOf('/', at - 1)) {
    parents.push(entry.slice(0, at + 1));
  }
  return parents;
}

/** The names in the patterns. `**` stands for any directories and is not a name. */
function patternParts(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(#|!|$)/.test(line))
    .flatMap((line) => line.trim().split('/'))
    .filter((part) => part !== '' && part !== '**');
}
