import { spliced, type Splice } from '../shared/splice.ts';
import { faultAt } from './container.ts';
import type { TomlBraces, TomlMember, TomlNode } from '../shared/toml-statements.ts';
import { printKey, printValue } from './print-toml.ts';

/** Sets a value in an inline table, such as `{ a = 1, b.c = 2 }`. */
export function setInBraces(text: string, table: TomlNode, path: readonly string[], value: unknown): string {
  const { holder, rest, members } = descend(text, table, path);
  const [first] = members;
  if (first !== undefined && first.key.length === rest.length)
    return spliced(text, [{ start: first.node.start, end: first.node.end, with: printValue(value) }]);
  const written = `${rest.map(printKey).join('.')} = ${printValue(value)}`;
  const [lead, ...others] = members;
  if (lead !== undefined) {
    // Written with dotted keys: the whole value takes the place of the first one.
    const whole = { start: lead.start, end: lead.node.end, with: written };
    return spliced(text, [whole, ...others.map((member) => withComma(holder, member))]);
  }
  const last = holder.members.at(-1);
  const at = last?.node.end ?? holder.start + 1;
  return spliced(text, [{ start: at, end: at, with: last === undefined ? written : `, ${written}` }]);
}

/** Removes a value from an inline table; the text stays as it is if there is none. */
export function removeFromBraces(text: string, table: TomlNode, path: readonly string[]): string {
  const { holder, members } = descend(text, table, path);
  const all = holder.members;
  // Members after another one are removed with the comma before them. Members at the front are removed with the comma
  // after them.
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
  /** The innermost inline table along the keys. */
  readonly holder: TomlBraces;
  /** The remaining keys from there. */
  readonly rest: readonly string[];
  /** The value: one member, or several whose keys begin that way and continue after a dot. */
  readonly members: readonly TomlMember[];
}

function descend(text: string, table: TomlNode, path: readonly string[]): Spot {
  if (table.members === undefined) throw faultAt(text, table.start, 'a table was expected here');
  const onTheWay = table.members.find(({ key }) => key.length < path.length && startsWithPath(path, key));
  if (onTheWay !== undefined) return descend(text, onTheWay.node, path.slice(onTheWay.key.length));
  return { holder: table, rest: path, members: table.members.filter(({ key }) => startsWithPath(key, path)) };
}

/** Whether a path begins with these keys. */
export function startsWithPath(path: readonly string[], start: readonly string[]): boolean {
  return start.every((key, at) => path[at] === key);
}

function withComma({ members }: TomlBraces, member: TomlMember): Splice {
  const previous = members[members.indexOf(member) - 1];
  return { start: previous?.node.end ?? member.start, end: member.node.end, with: '' };
}
