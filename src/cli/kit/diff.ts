import { printableLine } from '../../shared/printable.ts';
import type { Style } from './style.ts';

/** Lines around a change. */
const CONTEXT = 3;

/**
 * What changes from one text to another, in the manner of `diff -u`: all from the first line that differs to the last,
 * and some around it. Empty where nothing does; `before` is undefined where the file is new.
 */
export function diff(file: string, before: string | undefined, after: string, style: Style): string {
  const [old, fresh] = [linesOf(before ?? ''), linesOf(after)];
  const shortest = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shortest && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const removed = old.slice(head, old.length - tail);
  const added = fresh.slice(head, fresh.length - tail);
  if (removed.length + added.length === 0) return '';
  const above = fresh.slice(Math.max(0, head - CONTEXT), head);
  const below = fresh.slice(fresh.length - tail, fresh.length - tail + CONTEXT);
  const around = above.length + below.length;
  const place = (lines: readonly string[]): string => {
    const count = around + lines.length;
    return `${head - above.length + (count === 0 ? 0 : 1)},${count}`;
  };
  const shown = (sign: string, lines: readonly string[]): string[] =>
    lines.map((line) => `${sign}${printableLine(line)}`);
  const name = printableLine(file);
  return [
    style.bold(`--- ${before === undefined ? '(no file)' : name}`),
    style.bold(`+++ ${name}`),
    style.dim(`@@ -${place(removed)} +${place(added)} @@`),
    ...shown(' ', above),
    ...shown('-', removed).map(style.bad),
    ...shown('+', added).map(style.good),
    ...shown(' ', below),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
