/** The style in which a value is written into a text. */
export interface Manner {
  /** The line break. */
  readonly eol: string;
  /** One step of indentation. */
  readonly unit: string;
  /** Whether there is white space where JSON does not need it; only for values on one line. */
  readonly spaced: boolean;
}

/** Lists of simple values stay on one line up to this width. */
const WIDTH = 100;

/** A JSON value on several lines, as people write it. `indent` is the indentation of its first line. */
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

/** A JSON value on one line. */
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
