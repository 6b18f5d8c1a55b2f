import { Script } from 'node:vm';
import { SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';

export interface GrepOptions {
  /** Whether the pattern is plain text. Default false: a regular expression, or plain text if it is not a valid one. */
  readonly fixed?: boolean | undefined;
  /** Time limit for all matching, in milliseconds. Default 2000. */
  readonly timeoutMs?: number;
}

export interface Matcher {
  /** The lines that contain the pattern. A pattern without capitals ignores case. */
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
        // Some expressions take years on one line, and only a script with a time limit can be interrupted. Created on
        // demand, because every command loads this file but few search.
        filter ??= new Script('lines.filter((line) => expression.test(line))');
        return filter.runInNewContext(
          { lines, expression },
          { timeout: Math.max(1, Math.ceil(left)) },
        ) as string[];
      } catch (error) {
        if (nodeErrorCode(error) !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
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
  // `\S` is not a capital letter of the search text.
  const flags = /\p{Lu}/u.test(fixed ? pattern : pattern.replace(/\\./g, '')) ? '' : 'i';
  if (!fixed) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // "foo(" is not a valid expression, but a common search.
    }
  }
  return new RegExp(pattern.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), flags);
}
