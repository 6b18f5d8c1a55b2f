import { spliced, type Splice } from '../shared/splice.ts';
import { faultAt } from './container.ts';
import type { TomlBraces, TomlMember, TomlNode } from '../shared/toml-statements.ts';
import { printKey, printValue } from './print-toml.ts';

/** Sets a value in a table that is written in braces, `{ a = 1, b.c = 2 }`. */
export function setInBraces(text: string, table: TomlNode, path: readonly string[], value: unknown): string {
  const { holder, rest, members } = descend(text, table, path);
  const [first] = members;
  if (first !== undefined && first.key.length === rest.length)
    return spliced(text, [{ start: first.node.start, end: first.node.end, with: printValue(value) }]);
  const written = `${rest.map(printKey).join('.')} = ${printValue(value)}`;
  const [lead, ...others] = members;
  if (lead !== undefined) {
    // Spelled with dots: the first makes room for the whole.
    const whole = { start: lead.start, end: lead.node.end, with: written };
    return spliced(text, [whole, ...others.map((member) => withComma(holder, member))]);
  }
  const last = holder.members.at(-1);
  const at = last?.node.end ?? holder.start + 1;
  return spliced(text, [{ start: at, end: at, with: last === undefined ? written : `, ${written}` }]);
}

/** Takes a value out of such a table; the text stays as it is where there is none. */
export function removeFromBraces(text: string, table: TomlNode, path: readonly string[]): string {
  const { holder, members } = descend(text, table, path);
  const all = holder.members;
  // Those behind another take the comma before them along. What is left at the front loses the comma behind it.
  const leading = members.filter((member) => member === all[members.indexOf(member)]);
  const splices = members
    .filter((member) => !leading.includes(member))
    .map((member) => withComma(holder, member));
  const [first, last] = [leading[0], leading.at(-1)];
  if (first !== undefined && last !== undefined) {
    const next = all[leading.length];
    const end = next?.start ?? last.node.end;
    const comma = next === undefined ? (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0) : 0;
    splices.push({ start: first.start, end: end + comma, with: '' });
  }
  return spliced(text, splices);
}

interface Spot {
  /** The innermost table in braces on the way. */
  readonly holder: TomlBraces;
  /** The keys that lead on from there. */
  readonly rest: readonly string[];
  /** What is there: one member, or several whose keys start that way and continue after a dot. */
  readonly members: readonly TomlMember[];
}

function descend(text: string, table: TomlNode, path: readonly string[]): Spot {
  if (table.members === undefined) throw faultAt(text, table.start, 'a table was expected here');
  const onTheWay = table.members.find(({ key }) => key.length < path.length && startsWithPath(path, key));
  if (onTheWay !== undefined) return descend(text, onTheWay.node, path.slice(onTheWay.key.length));
  return { holder: table, rest: path, members: table.members.filter(({ key }) => startsWithPath(key, path)) };
}

/** Whether the keys begin with these. */
export function startsWithPath(path: readonly string[], start: readonly string[]): boolean {
  return start.every((key, at) => path[at] === key);
}

function withComma({ members }: TomlBraces, member: TomlMember): Splice {
  const previous = members[members.indexOf(member) - 1];
  return { start: previous?.node.end ?? member.start, end: member.node.end, with: '' };
}
