/** A table with a title in Markdown, which is readable in a terminal too. */
export function table(title, head, rows) {
  const widths = head.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column].length), 3),
  );
  const line = (row) =>
    `| ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [title, '', line(head), line(rule), ...rows.map(line), ''].join('\n');
}
