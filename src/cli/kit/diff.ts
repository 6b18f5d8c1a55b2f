import { printableLine } from '../../shared/printable.ts';
import { unifiedDiff } from '../../shared/unified-diff.ts';
import type { Style } from './style.ts';

/**
 * The changes from one text to another, in the format of `diff -u`. Empty if nothing changes; `before` is undefined if
 * the file is new.
 */
export function diff(file: string, before: string | undefined, after: string, style: Style): string {
  const name = printableLine(file);
  const hunks = unifiedDiff(before ?? '', after);
  if (hunks.length === 0) return '';
  const shades: Readonly<Record<string, (text: string) => string>> = {
    '@': style.dim,
    '-': style.bad,
    '+': style.good,
  };
  return [
    style.bold(`--- ${before === undefined ? '(no file)' : name}`),
    style.bold(`+++ ${name}`),
    ...hunks.map((line) => (shades[line.charAt(0)] ?? String)(printableLine(line))),
  ]
    .map((line) => `${line}\n`)
    .join('');
}
