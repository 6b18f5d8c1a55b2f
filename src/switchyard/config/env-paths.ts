import { isAbsolute, win32 } from 'node:path';
import { shown } from './report.ts';
import type { Table } from './table.ts';

/** The paths of `env.link` or `env.copy`: each below the project, and below the worktree that it is given to. */
export function readEnvPaths(table: Table, key: 'link' | 'copy'): readonly string[] {
  const paths = table.texts(key);
  for (const path of paths) {
    const problem = problemWith(path);
    if (problem !== undefined)
      throw table.error(key, `has ${shown(path)}, but ${problem.rule}`, problem.hint);
  }
  return paths;
}

function problemWith(path: string): { readonly rule: string; readonly hint: string } | undefined {
  if (path.trim() !== path || path === '' || path.includes('\0')) {
    return {
      rule: 'this is an invalid env path: it is empty, or has blanks around it',
      hint: 'Write the path as it is below the project, for example ".env".',
    };
  }
  // Both spellings of a path are refused everywhere, so that a file means the same on every machine.
  if (isAbsolute(path) || win32.isAbsolute(path) || path.startsWith('~')) {
    return { rule: 'an env path must be relative', hint: 'Write it as seen from the project root.' };
  }
  const parts = path.split(/[\\/]/);
  if (parts.at(-1) === '' && parts.length > 1 && parts[0] !== '') {
    return { rule: 'an env path must not end in a slash', hint: 'Leave the slash at its end out.' };
  }
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return {
      rule: 'an env path must stay inside the project, without ".", ".." or empty parts',
      hint: 'Name a file or directory below the project root.',
    };
  }
  if (parts[0]!.toLowerCase() === '.git') {
    return {
      rule: "git's own directory must not be shared",
      hint: 'Remove it; worktrees have their own.',
    };
  }
  return undefined;
}
