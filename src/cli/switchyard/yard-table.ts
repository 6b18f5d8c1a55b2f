import { width } from '../table.ts';

/**
 * Rows below their titles and a line of dashes, in columns two spaces apart, truncated to `limit`. Cells may be
 * colored.
 */
export function yardTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  limit = Infinity,
): readonly string[] {
  const widths = titles.map((_, at) =>
    Math.max(...[titles, ...rows].map((row) => displayWidth(row[at] ?? ''))),
  );
  const line = (row: readonly string[]): string =>
    titles
      .map((_, at) => {
        const cell = row[at] ?? '';
        return cell + ' '.repeat(widths[at]! - displayWidth(cell));
      })
      .join('  ')
      .trimEnd();
  const dashes = widths.map((columns) => '-'.repeat(columns));
  return [titles, dashes, ...rows].map((row) => truncateLine(line(row), limit));
}

/** The number of terminal columns of a text; color codes take none. */
export function displayWidth(text: string): number {
  return width(text.replace(PAINT, ''));
}

/** Truncates a line to a number of columns. Color codes stay whole and are reset. */
export function truncateLine(text: string, columns: number): string {
  if (displayWidth(text) <= columns) return text;
  let cut = '';
  let left = columns - 1;
  // Every second part is a color code.
  for (const [at, part] of text.split(PAINT_KEPT).entries()) {
    if (at % 2 === 1) cut += part;
    else {
      for (const char of part) {
        left -= width(char);
        if (left < 0) return `${cut}…${cut.includes('\x1b') ? '\x1b[0m' : ''}`;
        cut += char;
      }
    }
  }
  return cut;
}

// eslint-disable-next-line no-control-regex
const PAINT = /\x1b\[\d+m/g;
// eslint-disable-next-line no-control-regex
const PAINT_KEPT = /(\x1b\[\d+m)/;
