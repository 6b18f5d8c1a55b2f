import { CUT } from './read-backwards.ts';
import { tailLog } from './tail.ts';

export interface RecentErrorsOptions {
  /** Maximum length of a line, in characters. Default 400. */
  readonly width?: number;
  /** Maximum number, counted from the end. Default 8. */
  readonly most?: number;
  /** Hides secrets. Default: changes nothing. */
  readonly mask?: (line: string) => string;
}

/** How many lines to look back. */
const LOOK_BACK = 200;

/** The lines near the end of a log that look like errors, oldest first. */
export function recentErrors(
  file: string,
  { width = 400, most = 8, mask = (line) => line }: RecentErrorsOptions = {},
): string[] {
  return tailLog(file, LOOK_BACK)
    .filter(looksLikeTrouble)
    .slice(-most)
    .map((line) => cutTo(mask(line.trim()), width));
}

function looksLikeTrouble(line: string): boolean {
  // Compilers and test runners also count errors that did not occur: "Found 0 errors".
  return TROUBLE.test(line) && TROUBLE.test(line.replace(NONE_OF_IT, ''));
}

const TROUBLE = /error|exception|failed|traceback|eaddrinuse|panic/i;
const NONE_OF_IT = /\b(?:0|no|without) (?:errors?|exceptions?|failed)\b|\b(?:errors?|failed): ?0\b/gi;

function cutTo(line: string, width: number): string {
  return line.length <= width ? line : line.slice(0, width - CUT.length).replace(LONE_HALF, '') + CUT;
}

/** The first half of a surrogate pair. */
const LONE_HALF = /[\ud800-\udbff]$/;
