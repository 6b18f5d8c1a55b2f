import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { SwitchboardError } from './errors.ts';
import { withTimeout } from './with-timeout.ts';

export interface MatcherOptions {
  /** Whether the pattern is plain text. Default false: a regular expression, or plain text if it is not a valid one. */
  readonly fixed?: boolean | undefined;
  /** Time limit for all matching, in milliseconds. Default 2000. */
  readonly timeoutMs?: number;
  /** What to do about a search that took too long, as a sentence. */
  readonly hint?: string;
}

/** A line that matches. */
export interface Match {
  /** Its index among the given lines. */
  readonly line: number;
  /** Where in the line the first match begins. */
  readonly at: number;
}

/** Finds matching lines. Must be closed. */
export interface Matcher {
  /** The lines that match. A pattern without capitals ignores case. */
  matching(lines: readonly string[]): Promise<readonly string[]>;
  /** The positions of the lines that match. */
  matches(lines: readonly string[]): Promise<readonly Match[]>;
  close(): void;
}

export function createMatcher(
  pattern: string,
  { fixed = false, timeoutMs = 2000, hint = USE_PLAIN_TEXT }: MatcherOptions = {},
): Matcher {
  if (pattern.length > LONGEST_PATTERN)
    throw new SwitchboardError('USAGE', `The pattern is longer than ${LONGEST_PATTERN} characters.`);
  const { expression, isPlain } = compile(pattern, fixed);
  if (isPlain) return new PlainMatcher(expression);
  const timeout = (): SwitchboardError =>
    new SwitchboardError('GREP_TIMEOUT', `Searching for "${pattern}" took longer than ${timeoutMs} ms.`, {
      hint,
    });
  return new ExpressionMatcher(expression, timeoutMs, timeout);
}

const LONGEST_PATTERN = 1000;
const USE_PLAIN_TEXT = 'Use a simpler expression, or search for plain text (--fixed).';

class PlainMatcher implements Matcher {
  readonly #expression: RegExp;

  constructor(expression: RegExp) {
    this.#expression = expression;
  }

  matching(lines: readonly string[]): Promise<readonly string[]> {
    return Promise.resolve(lines.filter((line) => this.#expression.test(line)));
  }

  matches(lines: readonly string[]): Promise<readonly Match[]> {
    const found = lines.map((text, line) => ({ line, at: text.search(this.#expression) }));
    return Promise.resolve(found.filter(({ at }) => at !== -1));
  }

  close(): void {
    // There is nothing to release.
  }
}

/**
 * Some expressions take years on a single line. Only another thread can search with them and be stopped, without
 * blocking this one.
 */
class ExpressionMatcher implements Matcher {
  readonly #expression: RegExp;
  readonly #timeout: () => SwitchboardError;
  #left: number;
  #worker: Worker | undefined;

  /** `timeout` is the error for a search that took too long. */
  constructor(expression: RegExp, timeoutMs: number, timeout: () => SwitchboardError) {
    this.#expression = expression;
    this.#left = timeoutMs;
    this.#timeout = timeout;
  }

  async matching(lines: readonly string[]): Promise<readonly string[]> {
    return (await this.matches(lines)).flatMap(({ line }) => lines[line] ?? []);
  }

  async matches(lines: readonly string[]): Promise<readonly Match[]> {
    if (lines.length === 0) return [];
    const worker = (this.#worker ??= await start(this.#expression));
    const began = performance.now();
    const answer = once(worker, 'message') as Promise<[readonly Match[]]>;
    worker.postMessage(lines);
    const [found] = await withTimeout(answer, Math.max(1, this.#left), () => {
      throw this.#timeout();
    });
    this.#left -= performance.now() - began;
    return found;
  }

  close(): void {
    void this.#worker?.terminate();
    this.#worker = undefined;
  }
}

/** Answers each list of lines with its matches. A string instead of a file, because each program is a single file. */
const SEARCH = `
  const { parentPort, workerData } = require('node:worker_threads');
  parentPort.on('message', (lines) => {
    const found = lines.map((text, line) => ({ line, at: text.search(workerData) }));
    parentPort.postMessage(found.filter(({ at }) => at !== -1));
  });
`;

/** Resolves when the thread runs: starting it does not count as searching. */
async function start(expression: RegExp): Promise<Worker> {
  const worker = new Worker(SEARCH, { eval: true, workerData: expression, execArgv: [] });
  await once(worker, 'online');
  return worker;
}

/** A simple expression has no repeated or optional parts, so searching with it is always fast enough. */
function compile(
  pattern: string,
  fixed: boolean,
): { readonly expression: RegExp; readonly isPlain: boolean } {
  // The S in `\S` does not count as a capital letter.
  const flags = /\p{Lu}/u.test(fixed ? pattern : pattern.replace(/\\./g, '')) ? '' : 'i';
  if (!fixed) {
    try {
      return { expression: new RegExp(pattern, flags), isPlain: !SPECIAL.test(pattern) };
    } catch {
      // "foo(" is not a valid expression, but a common search.
    }
  }
  return { expression: new RegExp(pattern.replace(ALL_SPECIAL, '\\$&'), flags), isPlain: true };
}

const SPECIAL = /[\\^$.*+?()[\]{}|]/;
const ALL_SPECIAL = new RegExp(SPECIAL, 'g');
