import type { RunResult } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';

/**
 * Reading a repository must not run programs named in its files: `.git/config` comes with an archive or a shared
 * directory, and an agent may have changed it. These settings take precedence over it, including in submodules.
 */
const SETTINGS = ['--no-pager', ...['-c', 'core.fsmonitor=false'], ...['-c', 'core.hooksPath=/dev/null']];

/** Arguments that keep git from running anything of the repository, except filters that are not disabled. */
export function safeArguments(args: readonly string[], filters = NO_FILTERS): readonly string[] {
  // The files of a submodule would be compared using the filters of its own configuration.
  const options = args.includes('status') ? ['--ignore-submodules=dirty'] : [];
  return [...SETTINGS, ...filters.args, ...args, ...options];
}

/** Missing objects of a partial clone are not fetched, because that runs the programs of its remote. */
export const NO_NETWORK: NodeJS.ProcessEnv = { GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: 'none' };

/** How to make git run no filters. */
export interface FilterSettings {
  /** Arguments before its command. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

export const NO_FILTERS: FilterSettings = { args: [], env: {} };

type RunGit = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<RunResult>;

const FILTERS = ['-z', '--get-regexp', '^filter\\..*\\.(clean|smudge|process)$'];

/**
 * Disables the filters that the configuration of the repository defines. The user's own, such as Git LFS, stay: without
 * them, unchanged files would count as changed. If `git config` fails, its result is returned: we do not know what the
 * repository would run, so nothing may run.
 */
export async function filtersOff(git: RunGit, env: NodeJS.ProcessEnv): Promise<FilterSettings | RunResult> {
  let keys: readonly string[];
  const scoped = await git(['config', '--show-scope', '--name-only', ...FILTERS], {});
  if (scoped.code === USAGE) {
    // Git before 2.26 does not report where a filter is defined, so all of them are disabled.
    const all = await git(['config', '--name-only', ...FILTERS], {});
    if (!hasLooked(all)) return all;
    keys = all.stdout.split('\0').filter((key) => key !== '');
  } else {
    if (!hasLooked(scoped)) return scoped;
    const words = scoped.stdout.split('\0');
    keys = words.filter((_, at) => at % 2 === 1 && isOfRepository(words[at - 1]));
  }
  if (keys.length === 0) return NO_FILTERS;
  const off = settingsFor(keys, env);
  const check = await git([...off.args, 'config', ...FILTERS], off.env);
  if (!hasLooked(check)) return check;
  const values = new Map(check.stdout.split('\0').map((entry) => cutAt(entry, '\n')));
  if (keys.every((key) => values.get(key) === '')) return off;
  throw new SwitchboardError('GIT_FAILED', 'Git cannot switch off the filters of this repository.', {
    hint: 'Update git to 2.31 or newer, or remove the filters from .git/config.',
  });
}

/** Whether git could read its configuration, with or without such a setting. */
function hasLooked({ code }: RunResult): boolean {
  return code === 0 || code === 1;
}

export const USAGE = 129;

function isOfRepository(scope: string | undefined): boolean {
  return scope === 'local' || scope === 'worktree';
}

function settingsFor(keys: readonly string[], env: NodeJS.ProcessEnv): FilterSettings {
  const settings = keys.flatMap((key) => [
    [key, ''] as const,
    [key.replace(/[^.]+$/, 'required'), 'false'] as const,
  ]);
  // A name with "=" can only be passed in a variable, which git before 2.31 does not read.
  const odd = settings.filter(([key]) => key.includes('='));
  const args = settings
    .filter(([key]) => !key.includes('='))
    .flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  if (odd.length === 0) return { args, env: {} };
  const first = Number(env.GIT_CONFIG_COUNT) || 0;
  const variables = odd.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${first + at}`, key],
    [`GIT_CONFIG_VALUE_${first + at}`, value],
  ]);
  return {
    args,
    env: Object.fromEntries([
      ['GIT_CONFIG_COUNT', String(first + odd.length)],
      ...variables,
    ]) as NodeJS.ProcessEnv,
  };
}

function cutAt(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
