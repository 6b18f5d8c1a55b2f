import { tomlStatements, type TomlNode } from '../../shared/toml-statements.ts';

/** Where the keys of a TOML text stand. The parser tells values only, and a message without a line is half a message. */
export interface KeyLocations {
  /** The line of a key, or of the nearest key above it that stands in the text; 1 when there is none. */
  lineOf(path: readonly string[]): number;
  /** Where a key begins, to put keys in the order of the text; undefined for one that is not there. */
  positionOf(path: readonly string[]): number | undefined;
  /** A number, date or boolean as it is written. */
  writtenAt(path: readonly string[]): string | undefined;
}

interface Place {
  readonly position: number;
  readonly line: number;
  written?: string;
}

/**
 * Walks over a text that the parser has accepted. Items of a list have their index as key. A text that it does not
 * understand ends the walk: the keys found until then are still right.
 */
export function locateKeys(text: string): KeyLocations {
  const places = new Map<string, Place>();
  const bare = text.replace(/^\ufeff/, '');
  const line = lineCounter(bare);

  /** Dotted keys name tables on the way, which count from there unless they stood earlier. */
  const note = (table: readonly string[], key: readonly string[], position: number): string[] => {
    for (let length = 1; length <= key.length; length++) {
      const name = nameOf([...table, ...key.slice(0, length)]);
      if (!places.has(name)) places.set(name, { position, line: line(position) });
    }
    return [...table, ...key];
  };

  const enter = ({ start, end, members, items }: TomlNode, path: readonly string[]): void => {
    for (const member of members ?? []) enter(member.node, note(path, member.key, member.start));
    for (const [index, item] of (items ?? []).entries()) enter(item, note(path, [String(index)], item.start));
    const place = places.get(nameOf(path));
    if (place !== undefined && !/^["'[{]/.test(bare[start]!)) place.written = bare.slice(start, end);
  };

  try {
    for (const { path, start, value } of tomlStatements(bare)) {
      note([], path, start);
      if (value !== undefined) enter(value, path);
    }
  } catch {
    // What was found until then is right.
  }

  return {
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const place = places.get(nameOf(path.slice(0, length)));
        if (place !== undefined) return place.line;
      }
      return 1;
    },
    positionOf: (path) => places.get(nameOf(path))?.position,
    writtenAt: (path) => places.get(nameOf(path))?.written,
  };
}

/** The line of a position; to be asked in ascending order, so that the text is counted through only once. */
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
