import { isDeepStrictEqual } from 'node:util';
import { lineStart } from '../shared/line-start.ts';
import { spliced, type Splice } from '../shared/splice.ts';
import { tomlStatements, type TomlPair, type TomlStatement } from '../shared/toml-statements.ts';
import { faultAt, valueAt } from './container.ts';
import { parseHostToml } from './parse-toml.ts';
import { printHeader, printKey, printPairs, printTables, printValue } from './print-toml.ts';
import { startsWithPath, removeFromBraces, setInBraces } from './toml-braces.ts';
import { blockAt, cutBlock, cutStatement, eolOf, lineEnd, type Block } from './toml-lines.ts';

type Table = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** A valid text, its parsed structure, and the keys of the value to change. */
interface TomlTarget {
  readonly text: string;
  readonly statements: readonly TomlStatement[];
  readonly path: Path;
}

/**
 * The text with this table at these keys, in whichever form it is written: with a header, dotted keys or an inline
 * table. A new table goes to the end, with its own header. The text must be valid.
 *
 * `notes` are comments directly below its header. If given, they replace the existing ones.
 */
export function setInToml(text: string, path: Path, table: Table, notes?: readonly string[]): string {
  const target: TomlTarget = { text, statements: [...tomlStatements(text)], path };
  const holder = bracesOn(target);
  if (holder !== undefined) {
    if (isDeepStrictEqual(valueAt(parseHostToml(text), path), table)) return text;
    const { path: found, value } = holder;
    if (found.length < path.length) return setInBraces(text, value, path.slice(found.length), table);
    return spliced(text, [{ start: value.start, end: value.end, with: printValue(table) }]);
  }
  const isNew = !target.statements.some((each) => startsWithPath(each.path, path));
  return isNew ? appended(target, table, notes) : updated(target, table, notes);
}

/** The text without the value at these keys and all tables below it. Comments above a header stay. */
export function removeFromToml(text: string, path: Path): string {
  const target: TomlTarget = { text, statements: [...tomlStatements(text)], path };
  const holder = bracesOn(target);
  if (holder !== undefined && holder.path.length < path.length)
    return removeFromBraces(text, holder.value, path.slice(holder.path.length));
  const cuts = cutsFor(target, path);
  const rest = spliced(text, cuts);
  // At the top of the text, the empty line came after it.
  return asItEnded(text, cuts[0]?.start === 0 ? rest.replace(/^(?:\r?\n)+/, '') : rest);
}

/** The pair whose inline table contains the rest of the keys, or whose value is at these keys. */
function bracesOn({ text, statements, path }: TomlTarget): TomlPair | undefined {
  const list = statements.find(
    ({ kind, path: own }) => kind === 'list-of-tables' && startsWithPath(path, own),
  );
  if (list !== undefined) throw faultAt(text, list.start, 'a table was expected here, not a list of tables');
  return statements.filter(isPair).find(({ path: own }) => startsWithPath(path, own));
}

/** Written so that removing it again restores the same text, except for a missing line break at the end. */
function appended({ text, path }: TomlTarget, table: Table, notes: readonly string[] = []): string {
  const eol = eolOf(text);
  const main = [printHeader(path), ...commented(notes), ...printPairs(table)];
  const block = [main, ...printTables(path, table)].map((lines) => lines.join(eol)).join(eol + eol);
  if (text === '') return block + eol;
  return text.endsWith('\n') ? text + eol + block + eol : text + eol + eol + block;
}

function updated(target: TomlTarget, table: Table, notes: readonly string[] | undefined): string {
  const { text, statements, path } = target;
  const present = valueAt(parseHostToml(text), path) as Table;
  const splices: Splice[] = [];
  const fresh: Record<string, unknown> = {};
  const removed = new Set<TomlStatement>();
  for (const key of new Set([...Object.keys(present), ...Object.keys(table)])) {
    const [value, own] = [table[key], [...path, key]];
    if (isDeepStrictEqual(value, present[key])) continue;
    const pair = statements.filter(isPair).find((each) => isDeepStrictEqual(each.path, own));
    if (pair !== undefined && value !== undefined) {
      splices.push({ start: pair.value.start, end: pair.value.end, with: printValue(value) });
      continue;
    }
    splices.push(...cutsFor(target, own));
    for (const each of statements) if (startsWithPath(each.path, own)) removed.add(each);
    if (value !== undefined) fresh[key] = value;
  }
  const block = blockAt(
    statements,
    ({ kind, path: own }) => kind === 'table' && isDeepStrictEqual(own, path),
  );
  if (block === undefined) {
    const added = withoutBlock(target, fresh, notes).map((each) => outside(each, splices));
    return asItEnded(text, spliced(text, [...added, ...splices]));
  }
  const noted = newNotes(text, block, notes);
  // New pairs go after the last line that stays under the header.
  const last = block.pairs.findLast((pair) => !removed.has(pair));
  const at =
    last === undefined ? (noted[0]?.end ?? lineEnd(text, block.header.end)) : lineEnd(text, last.end);
  const added = { start: at, end: at, with: linesBelow(target, fresh) };
  return asItEnded(text, spliced(text, [...noted, added, ...splices]));
}

/** The comments below the header, if different ones are wanted. */
function newNotes(text: string, { header }: Block, notes: readonly string[] | undefined): Splice[] {
  if (notes === undefined) return [];
  const start = lineEnd(text, header.end);
  const [present = ''] = /^(?:\r?\n[ \t]*#[^\r\n]*)*/.exec(text.slice(start)) ?? [];
  const instead = commented(notes)
    .map((line) => eolOf(text) + line)
    .join('');
  return present === instead ? [] : [{ start, end: start + present.length, with: instead }];
}

function linesBelow({ text, path }: TomlTarget, fresh: Table): string {
  const eol = eolOf(text);
  const lines = printPairs(fresh).map((line) => eol + line);
  const tables = printTables(path, fresh).map((table) => eol + eol + table.join(eol));
  return [...lines, ...tables].join('');
}

/** For a table that is written with dotted keys, or of which only subtables exist. */
function withoutBlock(
  { text, statements, path }: TomlTarget,
  fresh: Table,
  notes: readonly string[] = [],
): Splice[] {
  if (Object.keys(fresh).length === 0) return [];
  const eol = eolOf(text);
  const first = statements.find((each) => startsWithPath(each.path, path));
  const at = lineStart(text, first?.start ?? text.length);
  if (first?.kind !== 'pair') {
    const main = [printHeader(path), ...commented(notes), ...printPairs(fresh)];
    const blocks = [main, ...printTables(path, fresh)].map((lines) => lines.join(eol) + eol + eol);
    return [{ start: at, end: at, with: blocks.join('') }];
  }
  const above = statements.findLast(({ kind, start }) => kind !== 'pair' && start < first.start)?.path ?? [];
  const front = path.slice(above.length).map(printKey).join('.');
  const lines = Object.entries(fresh).map(
    ([key, value]) => `${front}.${printKey(key)} = ${printValue(value)}${eol}`,
  );
  return [{ start: at, end: at, with: lines.join('') }];
}

/** Moves an insertion that would be inside a cut to before the cut. */
function outside({ start, with: added }: Splice, cuts: readonly Splice[]): Splice {
  const at = cuts.find((cut) => cut.start < start && start < cut.end)?.start ?? start;
  return { start: at, end: at, with: added };
}

function cutsFor({ text, statements }: TomlTarget, path: Path): Splice[] {
  const cuts: Splice[] = [];
  let within = false;
  for (const statement of statements) {
    const own = startsWithPath(statement.path, path);
    if (statement.kind === 'pair') {
      if (own && !within) cuts.push(cutStatement(text, statement));
      continue;
    }
    within = own;
    const block = own ? blockAt(statements, (each) => each === statement) : undefined;
    if (block !== undefined) cuts.push(cutBlock(text, block));
  }
  return cuts;
}

function isPair(statement: TomlStatement): statement is TomlPair {
  return statement.kind === 'pair';
}

/** With a line break at the end only if there was one. */
function asItEnded(before: string, after: string): string {
  return before.endsWith('\n') ? after : after.replace(/\r?\n$/, '');
}

function commented(notes: readonly string[]): string[] {
  return notes.map((note) => `# ${note}`);
}
