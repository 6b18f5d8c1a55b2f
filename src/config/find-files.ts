import { readdirSync, statSync, type Dirent } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { expandBraces, isGlob, literalOf, matchGlob, matchPath } from '../shared/glob.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';

export interface FindFilesOptions {
  /** The directory that patterns are relative to. */
  readonly directory: string;
  /** Patterns of files to leave out, as if each began with `!`. Default: none. */
  readonly exclude?: readonly string[];
  /** Called for a directory that exists but cannot be read. Default: it is skipped. */
  readonly onUnreadable?: (path: string, error: unknown) => void;
}

/**
 * The regular files that match the patterns, as absolute paths: in the order of the patterns, sorted within each,
 * without duplicates.
 *
 * `**` matches any number of directories, except links (which may be circular), hidden ones, `node_modules` and `.git`.
 * A wildcard matches a hidden name only if the pattern itself begins with the dot. A leading `!` excludes files, at any
 * position in the list.
 */
export function findFiles(patterns: readonly string[], options: FindFilesOptions): string[] {
  const wanted = patterns.filter((pattern) => !pattern.startsWith('!'));
  const unwanted = [
    ...(options.exclude ?? []),
    ...patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1)),
  ].flatMap((pattern) => expanded(pattern).map(segmentsOf));
  const found = new Set<string>();
  for (const pattern of wanted) {
    const matches: string[] = [];
    for (const plain of expanded(pattern)) walk(plain, options, matches);
    // Compared by code unit, not by locale, because the order must not depend on the machine.
    matches.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    for (const match of matches) {
      // Only the part matched by the pattern counts: a project below a folder "original" is not a match.
      const described = relativeSegments(options.directory, match);
      // Hidden names are included here, so that excluding misses none.
      if (!unwanted.some((segments) => matchPath(segments, described))) found.add(match);
    }
  }
  return [...found];
}

const NEVER_ENTERED = new Set(['node_modules', '.git']);

function expanded(pattern: string): string[] {
  const patterns = expandBraces(pattern);
  if (patterns !== undefined) return patterns;
  throw new SwitchboardError(
    'GLOB_TOO_BROAD',
    `The pattern ${JSON.stringify(pattern)} expands to too many patterns.`,
    {
      hint: 'Use fewer {a,b} groups.',
    },
  );
}

/** The segments of a pattern. Consecutive `**` are merged, because they mean the same as one and cost more. */
function segmentsOf(pattern: string): string[] {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.filter((segment, at) => segment !== '**' || segments[at - 1] !== '**');
}

function walk(pattern: string, { directory, onUnreadable }: FindFilesOptions, matches: string[]): void {
  const segments = segmentsOf(pattern);
  const absolute = /^(?:\/|[A-Za-z]:\/)/.test(pattern);
  const start = !absolute ? directory : pattern.startsWith('/') ? '/' : `${segments.shift() ?? ''}/`;
  const literals = segments.map((segment) => (isGlob(segment) ? undefined : literalOf(segment)));
  // With several `**`, one directory can be reached in many ways; it is visited once per position in the pattern.
  const seen = new Set<string>();
  visit(resolve(start), 0);

  function visit(path: string, at: number): void {
    const key = `${at} ${path}`;
    if (seen.has(key)) return;
    seen.add(key);
    const segment = segments[at];
    if (segment === undefined) {
      // Includes anything else that is not a directory; reading it reports that.
      if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === false) matches.push(path);
    } else if (segment === '**') {
      visitBelow(path, at);
    } else if (literals[at] !== undefined) {
      visitSafely(literals[at] === '..' ? dirname(path) : below(path, literals[at]), at + 1);
    } else {
      const last = at === segments.length - 1;
      for (const entry of entriesOf(path)) {
        if ((last || mayBeDirectory(entry)) && matchName(segment, entry.name)) {
          visitSafely(below(path, entry.name), at + 1);
        }
      }
    }
  }

  function visitBelow(path: string, at: number): void {
    const last = at === segments.length - 1;
    if (!last) visit(path, at + 1);
    for (const entry of entriesOf(path)) {
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory() && !NEVER_ENTERED.has(entry.name)) visit(below(path, entry.name), at);
      else if (last && !entry.isDirectory()) visitSafely(below(path, entry.name), at + 1);
    }
  }

  /** A path through a file, a broken link or an unreadable directory is not a match. */
  function visitSafely(path: string, at: number): void {
    try {
      visit(path, at);
    } catch (error) {
      if (!isAbsent(error)) onUnreadable?.(path, error);
    }
  }

  function entriesOf(path: string): Dirent[] {
    try {
      return readdirSync(path, { withFileTypes: true });
    } catch (error) {
      if (!isAbsent(error)) onUnreadable?.(path, error);
      return [];
    }
  }
}

function below(path: string, name: string): string {
  return path.endsWith(sep) ? path + name : path + sep + name;
}

function mayBeDirectory(entry: Dirent): boolean {
  return entry.isDirectory() || entry.isSymbolicLink();
}

function isAbsent(error: unknown): boolean {
  const code = nodeErrorCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP';
}

function matchName(segment: string, name: string): boolean {
  return (!name.startsWith('.') || segment.startsWith('.')) && matchGlob(segment, name);
}

function relativeSegments(directory: string, path: string): string[] {
  // relative() parses both paths; for most results it is enough to cut off the beginning.
  const inside = below(directory, '');
  return (path.startsWith(inside) ? path.slice(inside.length) : relative(directory, path)).split(sep);
}
