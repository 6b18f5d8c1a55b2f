import { createTwoFilesPatch } from 'diff';

/** Lines around a change. */
const CONTEXT = 3;

/** What changes from one text to another, as the lines of `diff -u` below its header; none where nothing does. */
export function unifiedDiff(before: string, after: string): readonly string[] {
  const patch = createTwoFilesPatch('', '', linesOf(before), linesOf(after), '', '', { context: CONTEXT });
  const [, hunks] = /^(@@[^]*)\n$/m.exec(patch) ?? [];
  return hunks?.split('\n') ?? [];
}

/** All lines end alike: how they end is not shown. */
function linesOf(text: string): string {
  return text === '' ? '' : `${text.replace(/\r?\n$/, '').replaceAll('\r\n', '\n')}\n`;
}
