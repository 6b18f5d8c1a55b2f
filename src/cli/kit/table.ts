import { COLOR } from './visible.ts';

/** A title, or a title with right alignment. */
export type Column = string | { readonly title: string; readonly align: 'right' };

/** A right-aligned column. */
export function right(title: string): Column {
  return { title, align: 'right' };
}

/**
 * Rows under their titles, in aligned columns. If they do not fit into `limit`, the widest columns are truncated with
 * `…`.
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintTitle: (text: string) => string = (text) => text,
  limit = Infinity,
): string {
  const titles = columns.map((column) => (typeof column === 'string' ? column : column.title));
  const needed = columns.map((_, at) => Math.max(...[titles, ...rows].map((row) => width(row[at] ?? ''))));
  const widths = fitted(needed, limit - GAP.length * (columns.length - 1));
  const line = (row: readonly string[]): string =>
    widths
      .map((wide, at) => pad(truncateLine(row[at] ?? '', wide), wide, typeof columns[at] !== 'string'))
      .join(GAP)
      .trimEnd();
  return [paintTitle(line(titles)), ...rows.map(line)].map((text) => `${text}\n`).join('');
}

/**
 * Rows below their titles and a line of dashes, as lines that are truncated to `limit`. Cells may be colored.
 */
export function ruledTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  limit = Infinity,
): readonly string[] {
  const widths = titles.map((_, at) => Math.max(...[titles, ...rows].map((row) => width(row[at] ?? ''))));
  const dashes = widths.map((columns) => '-'.repeat(columns));
  return [titles, dashes, ...rows]
    .map((row) => widths.map((columns, at) => pad(row[at] ?? '', columns)).join(GAP))
    .map((line) => truncateLine(line.trimEnd(), limit));
}

const GAP = '  ';
/** The minimum width of a truncated column. */
const NARROWEST = 8;

/** The widths, with the widest reduced until all fit together, as far as that makes sense. */
function fitted(widths: readonly number[], limit: number): readonly number[] {
  const fit = [...widths];
  for (let excess = fit.reduce((sum, each) => sum + each, 0) - limit; excess > 0; excess--) {
    const widest = Math.max(...fit);
    if (widest <= NARROWEST) break;
    fit[fit.indexOf(widest)] = widest - 1;
  }
  return fit;
}

/** Truncates a line to a number of columns. Color codes stay whole and are reset. */
export function truncateLine(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shown = '';
  let left = columns - 1;
  // Every second part is a color code.
  for (const [at, part] of text.split(COLOR).entries()) {
    if (at % 2 === 1) shown += part;
    else {
      for (const char of part) {
        left -= width(char);
        if (left < 0) return `${shown}…${shown.includes('\x1b') ? '\x1b[0m' : ''}`;
        shown += char;
      }
    }
  }
  return shown;
}

/** Pads a text to this many columns, aligned to the left or right. */
export function pad(text: string, columns: number, right = false): string {
  const blanks = ' '.repeat(Math.max(0, columns - width(text)));
  return right ? blanks + text : text + blanks;
}

/** Approximately how many terminal columns a text takes: East Asian characters and emoji take two, color codes none. */
export function width(text: string): number {
  let columns = 0;
  for (const char of text.replace(COLORS, '')) {
    if (/\p{Mark}|\u200d|\ufe0f/u.test(char)) continue;
    columns += isWide(char) ? 2 : 1;
  }
  return columns;
}

function isWide(char: string): boolean {
  return /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    char,
  );
}

// eslint-disable-next-line no-control-regex
const COLORS = /\x1b\[\d+m/g;
