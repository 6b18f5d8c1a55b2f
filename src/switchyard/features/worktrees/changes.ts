import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn } from '../../records/git/git.ts';
import { prefixOf } from '../../records/git/repository.ts';
import { realPath } from '../../records/paths.ts';
import type { YardContext } from '../../records/project/context.ts';

/** Files in a worktree that are not committed. Paths are relative to its top. */
export interface WorktreeChanges {
  /** In the format of `git status --short`. */
  readonly changed: readonly string[];
  /** Env files that we added, that git does not ignore, and that are still the same as in the project. */
  readonly ours: readonly string[];
}

export async function changesIn(context: YardContext, path: string): Promise<WorktreeChanges> {
  const git = gitIn(path, context.env);
  const text = await git(['status', '--porcelain', '--untracked-files=all', '-z']);
  const changed: string[] = [];
  const ours: string[] = [];
  const entries = text.split('\0').values();
  for (const entry of entries) {
    if (entry === '') continue;
    const file = entry.slice(3);
    if (entry.startsWith('??') && isOurs(context, path, file)) ours.push(file);
    else changed.push(entry);
    // After a renamed or copied file comes its previous name.
    if (/^.?[RC]/.test(entry)) entries.next();
  }
  return { changed, ours };
}

/** Whether an untracked file can be restored at any time, because the project has it too. */
function isOurs({ config }: YardContext, path: string, file: string): boolean {
  const prefix = prefixOf(config.root);
  const directory = prefix === '' ? '' : `${prefix}/`;
  if (!file.startsWith(directory)) return false;
  const item = file.slice(directory.length);
  const source = join(config.root, item);
  const target = join(path, file);
  if (config.env.link.includes(item)) return isLinkTo(target, source);
  const copied = config.env.copy.some((each) => item === each || item.startsWith(`${each}/`));
  return copied && isSame(source, target);
}

function isLinkTo(path: string, source: string): boolean {
  return (
    lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true &&
    realPath(path) === realPath(source)
  );
}

function isSame(source: string, target: string): boolean {
  const [a, b] = [source, target].map((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (a?.isSymbolicLink() === true && b?.isSymbolicLink() === true)
    return readlinkSync(source) === readlinkSync(target);
  if (a?.isFile() !== true || b?.isFile() !== true || a.size !== b.size) return false;
  return readFileSync(source).equals(readFileSync(target));
}
