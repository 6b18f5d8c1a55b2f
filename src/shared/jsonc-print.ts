/** How a value is written into a text that has a manner of its own. */
export interface Manner {
  /** What a line break is. */
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
  /** Whether there are blanks where JSON needs none; only for what goes on one line. */
  readonly spaced: boolean;
}

/** Lists of single values stay on one line up to this width. */
const WIDTH = 100;

/** A JSON value over several lines, as people write it. `indent` is that of the line it begins in. */
export function printLines(value: unknown, manner: Manner, indent: string, column = indent.length): string {
  const inside = indent + manner.unit;
  const enclosed = (open: string, parts: readonly string[], close: string): string =>
    open + parts.map((part) => manner.eol + inside + part).join(',') + manner.eol + indent + close;
  if (Array.isArray(value)) {
    const line = printLine(value, true);
    if (value.length === 0 || (!value.some(isCompound) && column + line.length <= WIDTH)) return line;
    return enclosed(
      '[',
      value.map((each) => printLines(each, manner, inside)),
      ']',
    );
  }
  if (!isCompound(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => {
    const front = `${JSON.stringify(key)}: `;
    return front + printLines(member, manner, inside, inside.length + front.length);
  });
  return members.length === 0 ? '{}' : enclosed('{', members, '}');
}

/** The same on one line. */
export function printLine(value: unknown, spaced: boolean): string {
  if (!spaced || !isCompound(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => printLine(each, spaced)).join(', ')}]`;
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}: ${printLine(member, spaced)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function isCompound(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
