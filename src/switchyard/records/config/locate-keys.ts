import { tomlStatements, type TomlNode } from '../../../shared/toml-statements.ts';

/** The positions of the keys in a TOML text. The parser returns only values, but errors should name the line. */
export interface KeyLocations {
  /** The line of a key, or of its nearest parent in the text; 1 if there is none. */
  lineOf(path: readonly string[]): number;
  /** The position of a key, for sorting by position in the text; undefined if it is missing. */
  positionOf(path: readonly string[]): number | undefined;
  /** A number, date or boolean as written. */
  writtenAt(path: readonly string[]): string | undefined;
}

interface KeyLocation {
  readonly position: number;
  readonly line: number;
  written?: string;
}

/**
 * Scans a text that the parser has accepted. List items have their index as key. Stops at text it does not understand;
 * the keys found until then are still correct.
 */
export function locateKeys(text: string): KeyLocations {
  const locations = new Map<string, KeyLocation>();
  const bare = text.replace(/^\ufeff/, '');
  const line = lineCounter(bare);

  /** Dotted keys define tables on the way, which are located there unless they occurred earlier. */
  const note = (table: readonly string[], key: readonly string[], position: number): string[] => {
    for (let length = 1; length <= key.length; length++) {
      const name = nameOf([...table, ...key.slice(0, length)]);
      if (!locations.has(name)) locations.set(name, { position, line: line(position) });
    }
    return [...table, ...key];
  };

  const enter = ({ start, end, members, items }: TomlNode, path: readonly string[]): void => {
    for (const member of members ?? []) enter(member.node, note(path, member.key, member.start));
    for (const [index, item] of (items ?? []).entries()) enter(item, note(path, [String(index)], item.start));
    const location = locations.get(nameOf(path));
    if (location !== undefined && !/^["'[{]/.test(bare.charAt(start)))
      location.written = bare.slice(start, end);
  };

  try {
    for (const { path, start, value } of tomlStatements(bare)) {
      note([], path, start);
      if (value !== undefined) enter(value, path);
    }
  } catch {
    // The keys found until then are correct.
  }

  return {
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const location = locations.get(nameOf(path.slice(0, length)));
        if (location !== undefined) return location.line;
      }
      return 1;
    },
    positionOf: (path) => locations.get(nameOf(path))?.position,
    writtenAt: (path) => locations.get(nameOf(path))?.written,
  };
}

/** The line of a position. Call with ascending positions, so that the text is scanned only once. */
function lineCounter(text: string): (position: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (position) => {
    for (; next !== -1 && next < position; next = text.indexOf('\n', next + 1)) line++;
    return line;
  };
}

function nameOf(path: readonly string[]): string {
  return JSON.stringify(path);
}
