import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { matchGlob } from '../../shared/glob.ts';
import { gitIn, type Git } from '../git.ts';
import { isInside, realPath } from '../state/real-path.ts';
import { copyWhole } from './copy.ts';

const INCLUDE_FILE = '.worktreeinclude';
/** What is told one by one. */
const MOST_TOLD = 20;

export interface IncludeSync {
  /** The top of the checkout that the project is in. */
  readonly from: string;
  /** The top of the new worktree. */
  readonly to: string;
  /** All other worktrees: none is copied into another. */
  readonly worktrees: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Copies what `.worktreeinclude` names into a new worktree, and says what. The file stands at the top of the repository
 * and is written like a `.gitignore`. It selects among the files that git ignores: all others come with the checkout, or
 * somebody is still to decide about them.
 *
 * A directory that is ignored as a whole is looked into only for patterns of which a part names it, or one around it. So `.env*` collects
 * nothing from `node_modules`, while `config/keys.json` is found though all of `config/` is ignored, and `node_modules/`
 * copies all of it. What stands in the worktree already is kept.
 */
export async function syncIncluded({ from, to, worktrees, env }: IncludeSync): Promise<string[]> {
  const file = join(from, INCLUDE_FILE);
  if (!existsSync(file)) return [];
  const git = gitIn(from, env);
  const ignored = await listed(git, '--exclude-standard');
  const named = await listed(git, `--exclude-from=${file}`);
  const actions: string[] = [];
  for (const item of choose(named, ignored, patternParts(readFileSync(file, 'utf8')))) {
    const source = resolve(from, item);
    const target = resolve(to, item);
    if (worktrees.some((worktree) => isInside(source, worktree) || isInside(worktree, source))) continue;
    // A directory on the way may be a link that leads elsewhere.
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
 * The untracked files that a set of patterns matches. A directory stands for all that is in it, unless some of it is
 * listed too: then git only means that nothing in it is left over.
 */
async function listed(git: Git, patterns: string): Promise<string[]> {
  const text = await git(['ls-files', '--others', '--ignored', patterns, '--directory', '-z']);
  const entries = text.split('\0').filter((entry) => entry !== '');
  // Parents of what is listed.
  const split = new Set(entries.flatMap((entry) => parentsOf(entry)));
  return entries.filter((entry) => !split.has(entry));
}

/** What is both named and ignored; a part of it where only a part is. */
function choose(named: readonly string[], ignored: readonly string[], parts: readonly string[]): Set<string> {
  const isIgnored = new Set(ignored);
  const chosen = new Set<string>();
  for (const entry of named) {
    const around = [entry, ...parentsOf(entry)].find((each) => isIgnored.has(each));
    if (around === undefined) {
      // Not ignored itself; of a directory, what is ignored in it.
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

/** The directories around an entry, innermost first, each with a `/` at its end. */
function parentsOf(entry: string): string[] {
  const parents: string[] = [];
  for (let at = entry.lastIndexOf('/', entry.length - 2); at > 0; at = entry.lastIndexOf('/', at - 1)) {
    parents.push(entry.slice(0, at + 1));
  }
  return parents;
}

/** The names that the patterns are made of. `**` stands for any directories and names none. */
function patternParts(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => !/^\s*(#|!|$)/.test(line))
    .flatMap((line) => line.trim().split('/'))
    .filter((part) => part !== '' && part !== '**');
}
