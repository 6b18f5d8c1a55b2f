export interface Column {
  readonly title: string;
  /** Default left. */
  readonly align?: 'left' | 'right';
}

/** Rows under their titles, in aligned columns. Where they do not fit into `limit`, the widest columns are cut, with `…`. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintTitle: (text: string) => string = (text) => text,
  limit = Infinity,
): string {
  const titles = columns.map((column) => column.title);
  const needed = columns.map((_, at) => Math.max(...[titles, ...rows].map((row) => width(row[at] ?? ''))));
  const widths = fitted(needed, limit - GAP.length * (columns.length - 1));
  const line = (row: readonly string[]): string =>
    columns
      .map(({ align }, at) => pad(cut(row[at] ?? '', widths[at]!), widths[at]!, align))
      .join(GAP)
      .trimEnd();
  return [paintTitle(line(titles)), ...rows.map(line)].map((text) => `${text}\n`).join('');
}

const GAP = '  ';
/** A column is not made narrower than this. */
const NARROWEST = 8;

/** The widths, the widest of them reduced until all together fit, as far as that makes sense. */
function fitted(widths: readonly number[], limit: number): readonly number[] {
  const fit = [...widths];
  for (let excess = fit.reduce((sum, each) => sum + each, 0) - limit; excess > 0; excess--) {
    const widest = Math.max(...fit);
    if (widest <= NARROWEST) break;
    fit[fit.indexOf(widest)] = widest - 1;
  }
  return fit;
}

function cut(text: string, columns: number): string {
  if (width(text) <= columns) return text;
  let shown = '';
  let left = columns - 1;
  for (const char of text) {
    left -= width(char);
    if (left < 0) break;
    shown += char;
  }
  return `${shown}…`;
}

/** Left or right in a field of so many columns. */
export function pad(text: string, columns: number, align: Column['align'] = 'left'): string {
  const blanks = ' '.repeat(Math.max(0, columns - width(text)));
  return align === 'right' ? blanks + text : text + blanks;
}

/** How many columns of a terminal a text takes, near enough: East Asian signs and emoji take two. */
export function width(text: string): number {
  let columns = 0;
  for (const char of text) {
    if (/\p{Mark}|\u200d|\ufe0f/u.test(char)) continue;
    columns += WIDE.test(char) ? 2 : 1;
  }
  return columns;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
