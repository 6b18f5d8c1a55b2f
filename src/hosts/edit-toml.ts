import { isDeepStrictEqual } from 'node:util';
import { spliced, type Splice } from '../shared/splice.ts';
import { faultAt, valueAt } from './container.ts';
import { tomlStatements, type TomlStatement } from '../shared/toml-statements.ts';
import { parseHostToml } from './parse-toml.ts';
import { printHeader, printKey, printPairs, printTables, printValue } from './print-toml.ts';
import { startsWithPath, removeFromBraces, setInBraces } from './toml-braces.ts';
import { blockAt, cutBlock, cutStatement, eolOf, lineEnd, lineStart, type Block } from './toml-lines.ts';

type Table = Readonly<Record<string, unknown>>;

/**
 * A text with this table at the end of these keys, however that is spelled there: under a header, with dots, in braces.
 * Where there is none it goes to the end, under a header of its own. The text is one that can be parsed.
 *
 * `notes` are comments directly below its header. If given, they replace the existing ones.
 */
export function setInToml(
  text: string,
  path: readonly string[],
  table: Table,
  notes?: readonly string[],
): string {
  const statements = [...tomlStatements(text)];
  const holder = bracesOn(text, statements, path);
  if (holder !== undefined) {
    if (isDeepStrictEqual(valueAt(parseHostToml(text), path), table)) return text;
    const { path: found, value } = holder;
    if (found.length < path.length) return setInBraces(text, value!, path.slice(found.length), table);
    return spliced(text, [{ start: value!.start, end: value!.end, with: printValue(table) }]);
  }
  if (!statements.some((each) => startsWithPath(each.path, path))) return appended(text, path, table, notes);
  return updated(text, statements, path, table, notes);
}

/** The text without the value at these keys and all tables below it. Comments above a header stay. */
export function removeFromToml(text: string, path: readonly string[]): string {
  const statements = [...tomlStatements(text)];
  const holder = bracesOn(text, statements, path);
  if (holder !== undefined && holder.path.length < path.length)
    return removeFromBraces(text, holder.value!, path.slice(holder.path.length));
  const cuts = cutsFor(text, statements, path);
  const rest = spliced(text, cuts);
  // At the top, the empty line was behind it.
  return asItEnded(text, cuts[0]?.start === 0 ? rest.replace(/^(?:\r?\n)+/, '') : rest);
}

/** The pair in whose braces the keys lead on, or whose value is what they lead to. */
function bracesOn(
  text: string,
  statements: readonly TomlStatement[],
  path: readonly string[],
): TomlStatement | undefined {
  const list = statements.find(
    ({ kind, path: own }) => kind === 'list-of-tables' && startsWithPath(path, own),
  );
  if (list !== undefined) throw faultAt(text, list.start, 'a table was expected here, not a list of tables');
  return statements.find(({ kind, path: own }) => kind === 'pair' && startsWithPath(path, own));
}

/** Written so that taking it out again gives the same text, up to how the last line ends. */
function appended(
  text: string,
  path: readonly string[],
  table: Table,
  notes: readonly string[] = [],
): string {
  const eol = eolOf(text);
  const main = [printHeader(path), ...commented(notes), ...printPairs(table)];
  const block = [main, ...printTables(path, table)].map((lines) => lines.join(eol)).join(eol + eol);
  if (text === '') return block + eol;
  return text.endsWith('\n') ? text + eol + block + eol : text + eol + eol + block;
}

function updated(
  text: string,
  statements: readonly TomlStatement[],
  path: readonly string[],
  table: Table,
  notes: readonly string[] | undefined,
): string {
  const present = valueAt(parseHostToml(text), path) as Table;
  const splices: Splice[] = [];
  const fresh: Record<string, unknown> = {};
  const removed = new Set<TomlStatement>();
  for (const key of new Set([...Object.keys(present), ...Object.keys(table)])) {
    const [value, own] = [table[key], [...path, key]];
    if (isDeepStrictEqual(value, present[key])) continue;
    const pair = statements.find((each) => each.kind === 'pair' && isDeepStrictEqual(each.path, own));
    if (pair !== undefined && value !== undefined) {
      splices.push({ start: pair.value!.start, end: pair.value!.end, with: printValue(value) });
      continue;
    }
    splices.push(...cutsFor(text, statements, own));
    for (const each of statements) if (startsWithPath(each.path, own)) removed.add(each);
    if (value !== undefined) fresh[key] = value;
  }
  const block = blockAt(
    statements,
    ({ kind, path: own }) => kind === 'table' && isDeepStrictEqual(own, path),
  );
  const added =
    block === undefined
      ? withoutBlock(text, statements, path, fresh, notes).map((each) => outside(each, splices))
      : intoBlock(text, block, removed, path, fresh, notes);
  return asItEnded(text, spliced(text, [...added, ...splices]));
}

/** What is new goes behind the last line that stays under the header. */
function intoBlock(
  text: string,
  { header, pairs }: Block,
  removed: ReadonlySet<TomlStatement>,
  path: readonly string[],
  fresh: Table,
  notes: readonly string[] | undefined,
): Splice[] {
  const eol = eolOf(text);
  const below = lineEnd(text, header.end);
  const splices: Splice[] = [];
  if (notes !== undefined) {
    const standing = /^(?:\r?\n[ \t]*#[^\r\n]*)*/.exec(text.slice(below))![0];
    const instead = commented(notes)
      .map((line) => eol + line)
      .join('');
    if (standing !== instead) splices.push({ start: below, end: below + standing.length, with: instead });
  }
  const last = pairs.findLast((pair) => !removed.has(pair));
  const at = last === undefined ? (splices[0]?.end ?? below) : lineEnd(text, last.end);
  const lines = printPairs(fresh).map((line) => eol + line);
  const tables = printTables(path, fresh).map((table) => eol + eol + table.join(eol));
  return [...splices, { start: at, end: at, with: [...lines, ...tables].join('') }];
}

/** Spelled with dots, or only tables below it are there. */
function withoutBlock(
  text: string,
  statements: readonly TomlStatement[],
  path: readonly string[],
  fresh: Table,
  notes: readonly string[] = [],
): Splice[] {
  if (Object.keys(fresh).length === 0) return [];
  const eol = eolOf(text);
  const own = statements.filter((each) => startsWithPath(each.path, path));
  const dotted = own.find(({ kind }) => kind === 'pair');
  const header = own.find(({ kind }) => kind !== 'pair');
  if (header !== undefined && (dotted === undefined || header.start < dotted.start)) {
    const at = lineStart(text, header.start);
    const main = [printHeader(path), ...commented(notes), ...printPairs(fresh)];
    const blocks = [main, ...printTables(path, fresh)].map((lines) => lines.join(eol) + eol + eol);
    return [{ start: at, end: at, with: blocks.join('') }];
  }
  const above =
    statements.findLast(({ kind, start }) => kind !== 'pair' && start < dotted!.start)?.path ?? [];
  const front = path.slice(above.length).map(printKey).join('.');
  const lines = Object.entries(fresh).map(
    ([key, value]) => `${front}.${printKey(key)} = ${printValue(value)}${eol}`,
  );
  const at = lineStart(text, dotted!.start);
  return [{ start: at, end: at, with: lines.join('') }];
}

/** An insertion that would fall into what is cut out goes before it. */
function outside({ start, with: added }: Splice, cuts: readonly Splice[]): Splice {
  const at = cuts.find((cut) => cut.start < start && start < cut.end)?.start ?? start;
  return { start: at, end: at, with: added };
}

function cutsFor(text: string, statements: readonly TomlStatement[], path: readonly string[]): Splice[] {
  const cuts: Splice[] = [];
  let within = false;
  for (const statement of statements) {
    const own = startsWithPath(statement.path, path);
    if (statement.kind !== 'pair') {
      within = own;
      if (own)
        cuts.push(
          cutBlock(
            text,
            blockAt(statements, (each) => each === statement)!,
          ),
        );
    } else if (own && !within) cuts.push(cutStatement(text, statement));
  }
  return cuts;
}

/** With a line break at the end only where there was one. */
function asItEnded(before: string, after: string): string {
  return before.endsWith('\n') ? after : after.replace(/\r?\n$/, '');
}

function commented(notes: readonly string[]): string[] {
  return notes.map((note) => `# ${note}`);
}
