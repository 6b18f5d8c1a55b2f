import type { Flag } from './arguments.ts';

/** Two columns, the first as wide as it has to be. */
export function columns(rows: readonly (readonly [string, string])[], indent = '  '): string[] {
  const widest = Math.max(...rows.map(([left]) => left.length));
  // A meaning may go on in further lines.
  const below = `\n${indent}${' '.repeat(widest)}  `;
  return rows.map(([left, right]) =>
    `${indent}${left.padEnd(widest)}  ${right.replaceAll('\n', below)}`.trimEnd(),
  );
}

/** A paragraph in lines of at most so many characters. */
export function wrapText(text: string, limit: number): string[] {
  // What has lines of its own is a table.
  if (text.includes('\n')) return text.split('\n');
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > limit) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** A flag and what it does, for `columns`. */
export function flagRow({ name, short, value, optional, many, summary }: Flag): readonly [string, string] {
  const shown = optional === true ? ` [${value ?? ''}]` : value === undefined ? '' : ` ${value}`;
  const long = `--${name}${shown}${many === true ? ' …' : ''}`;
  return [short === undefined ? long : `${long}, -${short}`, summary];
}
