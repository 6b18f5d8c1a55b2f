import { Script } from 'node:vm';
import { SwitchboardError } from '../../shared/errors.ts';

export interface GrepOptions {
  /** Whether the pattern is plain text. Default false: a regular expression, or plain text when it is not a valid one. */
  readonly fixed?: boolean | undefined;
  /** How long all the matching may take, in milliseconds. Default 2000. */
  readonly timeoutMs?: number;
}

export interface Matcher {
  /** Those of the lines in which the pattern occurs. A pattern without capitals ignores case. */
  matching(lines: readonly string[]): readonly string[];
}

export function createMatcher(
  pattern: string,
  { fixed = false, timeoutMs = 2000 }: GrepOptions = {},
): Matcher {
  const expression = compile(pattern, fixed);
  let left = timeoutMs;
  return {
    matching(lines) {
      const began = performance.now();
      try {
        // There are expressions that take years on one line. Only a script with a time limit can be interrupted.
        // Made when it is needed: every command loads this file, and few search.
        filter ??= new Script('lines.filter((line) => expression.test(line))');
        return filter.runInNewContext(
          { lines, expression },
          { timeout: Math.max(1, Math.ceil(left)) },
        ) as string[];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
        throw new SwitchboardError(
          'GREP_TIMEOUT',
          `Searching for "${pattern}" took longer than ${timeoutMs} ms.`,
          {
            hint: 'Use a simpler expression, or search for plain text (--fixed).',
          },
        );
      } finally {
        left -= performance.now() - began;
      }
    },
  };
}

let filter: Script | undefined;

function compile(pattern: string, fixed: boolean): RegExp {
  // `\S` is no capital letter of the text that is looked for.
  const flags = /\p{Lu}/u.test(fixed ? pattern : pattern.replace(/\\./g, '')) ? '' : 'i';
  if (!fixed) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // "foo(" is no expression, but a thing that people look for.
    }
  }
  return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
}
