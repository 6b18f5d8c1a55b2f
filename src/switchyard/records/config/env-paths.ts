import { innerPathProblem, type PathProblem } from './inner-path.ts';
import { quoteValue } from './report.ts';
import type { Table } from './table.ts';

/** Validates `env.link` or `env.copy`: each path must be below the project. */
export function readEnvPaths(table: Table, key: 'link' | 'copy'): readonly string[] {
  const paths = table.texts(key);
  for (const path of paths) {
    const problem = problemWith(path);
    if (problem !== undefined)
      throw table.error(key, `has ${quoteValue(path)}, but ${problem.rule}`, problem.hint);
  }
  return paths;
}

function problemWith(path: string): PathProblem | undefined {
  if (path.trim() !== path || path === '' || path.includes('\0')) {
    return {
      rule: 'this is an invalid env path: it is empty, or has leading or trailing spaces',
      hint: 'Write the path relative to the project, for example ".env".',
    };
  }
  const parts = path.split(/[\\/]/);
  if (parts.at(-1) === '' && parts.length > 1 && parts[0] !== '') {
    return { rule: 'an env path must not end in a slash', hint: 'Remove the slash at the end.' };
  }
  const problem = innerPathProblem(path, 'an env path');
  if (problem === undefined && parts[0]?.toLowerCase() === '.git') {
    return {
      rule: "git's own directory must not be shared",
      hint: 'Remove it; worktrees have their own.',
    };
  }
  return problem;
}
