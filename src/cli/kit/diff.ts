import { createTwoFilesPatch } from 'diff';
import { printableLine } from '../../shared/printable.ts';
import type { Style } from './style.ts';

/** Lines around a change. */
const CONTEXT = 3;

/**
 * What changes from one text to another, in the manner of `diff -u`. Empty where nothing does; `before` is undefined
 * where the file is new.
 */
export function diff(file: string, before: string | undefined, after: string, style: Style): string {
  const name = printableLine(file);
  const patch = createTwoFilesPatch('', '', linesOf(before ?? ''), linesOf(after), '', '', {
    context: CONTEXT,
  });
  // We write a header of our own.
  const [, hunks] = /^(@@[^]*)\n$/m.exec(patch) ?? [];
  if (hunks === undefined) return '';
  const shades: Readonly<Record<string, (text: string) => string>> = {
    '@': style.dim,
    '-': style.bad,
    '+': style.good,
  };
  return [
    style.bold(`--- ${before === undefined ? '(no file)' : name}`),
    style.bold(`+++ ${name}`),
    ...hunks.split('\n').map((line) => (shades[line.charAt(0)] ?? String)(printableLine(line))),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** All lines end alike: how they end is not shown. */
function linesOf(text: string): string {
  return text === '' ? '' : `${text.replace(/\r?\n$/, '').replaceAll('\r\n', '\n')}\n`;
}
