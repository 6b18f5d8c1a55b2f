export interface Column {
  readonly title: string;
  /** Default left. */
  readonly align?: 'left' | 'right';
}

/** Rows under their titles, in aligned columns. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  paintTitle: (text: string) => string = (text) => text,
): string {
  const titles = columns.map((column) => column.title);
  const widths = columns.map((_, at) => Math.max(...[titles, ...rows].map((row) => width(row[at] ?? ''))));
  const line = (row: readonly string[]): string =>
    columns
      .map(({ align }, at) => pad(row[at] ?? '', widths[at]!, align))
      .join('  ')
      .trimEnd();
  return [paintTitle(line(titles)), ...rows.map(line)].map((text) => `${text}\n`).join('');
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
