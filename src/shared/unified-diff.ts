import { createTwoFilesPatch } from 'diff';

/** The number of unchanged lines around a change. */
const CONTEXT = 3;

/** The differences between two texts, as the lines of `diff -u` below its header; empty if there are none. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const patch = createTwoFilesPatch('', '', linesOf(before), linesOf(after), '', '', { context: CONTEXT });
  const [, hunks] = /^(@@[^]*)\n$/m.exec(patch) ?? [];
  return hunks?.split('\n') ?? [];
}

/** Normalizes line endings, which are not shown. */
function linesOf(text: string): string {
  return text === '' ? '' : `${text.replace(/\r?\n$/, '').replaceAll('\r\n', '\n')}\n`;
}
