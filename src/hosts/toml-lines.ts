import { lineStart } from '../shared/line-start.ts';
import type { Splice } from '../shared/splice.ts';
import type { TomlStatement } from '../shared/toml-statements.ts';

/** A header and the lines below it. */
export interface Block {
  readonly header: TomlStatement;
  readonly pairs: readonly TomlStatement[];
}

/** The block of the first header that matches. */
export function blockAt(
  statements: readonly TomlStatement[],
  isIt: (statement: TomlStatement) => boolean,
): Block | undefined {
  const at = statements.findIndex(isIt);
  const header = statements[at];
  if (header === undefined) return undefined;
  const next = statements.findIndex(({ kind }, index) => index > at && kind !== 'pair');
  return { header, pairs: statements.slice(at + 1, next === -1 ? undefined : next) };
}

/** Cuts out a block, and the empty line before it. */
export function cutBlock(text: string, { header, pairs }: Block): Splice {
  const first = lineStart(text, header.start);
  const start = first - (/(?<=^|\n)\r?\n$/.exec(text.slice(0, first))?.[0].length ?? 0);
  return { start, end: behindLine(text, (pairs.at(-1) ?? header).end), with: '' };
}

/** Cuts out a statement, with a comment after it. */
export function cutStatement(text: string, { start, end }: TomlStatement): Splice {
  return { start: lineStart(text, start), end: behindLine(text, end), with: '' };
}

export function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Where the line break begins. */
export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  if (end === -1) return text.length;
  return text[end - 1] === '\r' ? end - 1 : end;
}

function behindLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}
