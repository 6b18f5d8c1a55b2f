import { isDeepStrictEqual } from 'node:util';
import { locateJsonc, type JsoncMember, type JsoncNode, type JsoncObject } from './jsonc.ts';
import { piecesOf, type GapPiece } from './jsonc-gap.ts';
import { printLine, printLines, type Manner } from './jsonc-print.ts';
import { lineStart } from './line-start.ts';
import { spliced, type Splice } from './splice.ts';

/** A JSON text and the position of everything in it. */
export interface LocatedText {
  readonly text: string;
  readonly root: JsoncNode;
}

/** Edits a JSON text and keeps its byte-order mark, if there is one. Throws what locateJsonc throws. */
export function editJsonc(text: string, edit: (located: LocatedText) => string): string {
  const mark = text.startsWith('\ufeff') ? '\ufeff' : '';
  const body = text.slice(mark.length);
  return mark + edit({ text: body, root: locateJsonc(body) });
}

/**
 * Sets a member of an object in the text: in place if it exists (the last one with that name, which is the one that
 * counts), otherwise after the last member. The rest of the text stays as it is.
 */
export function setMember(located: LocatedText, object: JsoncObject, key: string, value: unknown): string {
  // As in JSON: without undefined members.
  const plain: unknown = JSON.parse(JSON.stringify(value));
  const present = object.members.findLast((member) => member.key === key);
  return present === undefined ? add(located, object, key, plain) : replace(located, present, plain);
}

function replace({ text, root }: LocatedText, { start, node }: JsoncMember, value: unknown): string {
  if (isDeepStrictEqual(node.value, value)) return text;
  const manner = mannerOf(text, root);
  const lines = startsLine(text, start) || text.slice(node.start, node.end).includes('\n');
  const printed = lines ? printLines(value, manner, indentAt(text, start)) : printLine(value, manner.spaced);
  return spliced(text, [{ start: node.start, end: node.end, with: printed }]);
}

/**
 * Adds a member in the style of the last one. It goes directly after what belongs to that one (or to the brace), so
 * that removeMember, which is independent of this function, removes exactly what was added.
 */
function add({ text, root }: LocatedText, object: JsoncObject, key: string, value: unknown): string {
  const manner = mannerOf(text, root);
  const last = object.members.at(-1);
  const close = object.end - 1;
  const tail = tailOf(text, behind(object, last), close);
  const comma = last?.comma === undefined ? '' : ',';
  const edits: Splice[] = [];
  if (last !== undefined && last.comma === undefined)
    edits.push({ start: last.node.end, end: last.node.end, with: ',' });

  const insert = (added: string): string =>
    spliced(text, [...edits, { start: tail.end, end: tail.end, with: added }]);
  const isLines =
    tail.kind === 'line' ||
    (last === undefined
      ? object === root || text.slice(root.start, root.end).includes('\n')
      : startsLine(text, last.start));
  if (!isLines) {
    const gap = last !== undefined && manner.spaced ? ' ' : '';
    const colon = manner.spaced ? ': ' : ':';
    return insert(gap + JSON.stringify(key) + colon + printLine(value, manner.spaced) + comma);
  }
  const outer = indentAt(text, object.start);
  const indent =
    last !== undefined && startsLine(text, last.start) ? indentAt(text, last.start) : outer + manner.unit;
  const rest = text.slice(tail.end, close);
  const member = `${JSON.stringify(key)}: ${printLines(value, manner, indent)}${comma}`;
  const closing = !isOpenedAnew(last, tail, rest)
    ? ''
    : /^\r?\n/.test(rest)
      ? manner.eol
      : manner.eol + outer;
  return insert(manner.eol + indent + member + closing);
}

/** Whether the closing brace of an empty object needs a line of its own; `rest` is the text before it. */
function isOpenedAnew(last: JsoncMember | undefined, tail: Tail, rest: string): boolean {
  return last === undefined && tail.kind !== 'line' && rest.trim() === '';
}

/**
 * Removes a member from an object, with the comments that clearly belong to it: those on the lines directly above it,
 * and those after it on its last line.
 */
export function removeMember({ text }: LocatedText, object: JsoncObject, member: JsoncMember): string {
  const { members } = object;
  const index = members.indexOf(member);
  const previous = members[index - 1];
  const next = members[index + 1];
  const limit = next?.start ?? object.end - 1;
  const tail = tailOf(text, behind(object, previous), member.start);
  const after = piecesOf(text, member.node.end, limit);
  const end = endOfMember(member, after, next !== undefined);
  const main = cut(text, {
    start: member.start,
    end,
    tail,
    before: piecesOf(text, tail.end, member.start),
    rest: piecesOf(text, end, limit),
    isLast: next === undefined,
  });

  const edits = [main];
  const comma = after.find((piece) => piece.kind === 'comma');
  if (comma !== undefined && comma.start >= end) edits.push({ start: comma.start, end: comma.end, with: '' });
  // The previous member is now the last. It keeps its comma only if the last one had one.
  if (next === undefined && previous?.comma !== undefined && member.comma === undefined)
    edits.push({ start: previous.comma, end: previous.comma + 1, with: '' });
  // If nothing else is left: what `add` has written between the member and the brace.
  const left = text.slice(end, limit);
  const onLine = text.slice(main.start, member.start).includes('\n');
  if (members.length === 1 && onLine && main.start === tail.end && isOpenedAnew(undefined, tail, left)) {
    const closing = closingIn(left, indentAt(text, object.start));
    edits.push({ start: end, end: end + closing.length, with: '' });
  }
  return spliced(text, edits);
}

/** The end of a member, including its comma and the comments that belong to it. */
function endOfMember({ node }: JsoncMember, after: readonly GapPiece[], hasNext: boolean): number {
  const broken = after.findIndex((piece) => piece.kind === 'blank' && piece.breaks > 0);
  const sameLine = broken === -1 ? after : after.slice(0, broken);
  const comma = sameLine.findIndex((piece) => piece.kind === 'comma');
  // A comment between this member and the next one on the same line may be about either.
  const own = broken === -1 && hasNext ? sameLine.slice(0, comma + 1) : sameLine;
  return own.findLast((piece) => piece.kind !== 'blank')?.end ?? node.end;
}

interface Cut {
  /** The start of the member itself. */
  readonly start: number;
  readonly end: number;
  /** What belongs to the previous member, or to the brace. */
  readonly tail: Tail;
  /** The text between the tail and the member. */
  readonly before: readonly GapPiece[];
  /** The text between the end and the next member or the brace. */
  readonly rest: readonly GapPiece[];
  readonly isLast: boolean;
}

/** The range to remove: includes the comments directly above, and the line break before them. */
function cut(text: string, { start, end, tail, before, rest, isLast }: Cut): Splice {
  const gap = before.at(-1);
  if (gap?.kind !== 'blank') return { start, end, with: '' };
  if (gap.breaks === 0) return { start: gap.start, end, with: '' };
  const at = blankAbove(before);
  const blank = before[at] ?? gap;
  const lineBreak = blank.start + text.slice(blank.start, blank.end).search(/\r?\n[^\n]*$/);
  const following = rest[0]?.kind === 'blank' ? rest[0] : undefined;
  if (following !== undefined && following.breaks > 0) {
    // A member between empty lines is removed with those above it.
    const isAlone = blank.breaks > 1 && (following.breaks > 1 || (isLast && rest.length === 1));
    return { start: isAlone ? blank.start : lineBreak, end, with: '' };
  }
  // What follows on its last line must not move into a comment, nor up to the previous member.
  const aboveIt = before[at - 1]?.kind ?? tail.kind;
  if (isLast && (aboveIt !== 'line' || blank.breaks > 1)) return { start: lineBreak, end, with: '' };
  return { start: blank.end, end: following?.end ?? end, with: '' };
}

/** The index of the piece before the comments directly above a member: the white space with the line break. */
function blankAbove(before: readonly GapPiece[]): number {
  let at = before.length - 1;
  while (before[at]?.breaks === 1) {
    const next = before.findLastIndex(
      (piece, index) => index < at && piece.kind === 'blank' && piece.breaks > 0,
    );
    if (next === -1) break;
    at = next;
  }
  return at;
}

function closingIn(left: string, indent: string): string {
  const [lineBreak = ''] = /^\r?\n/.exec(left) ?? [];
  if (lineBreak === '' || /^\r?\n/.test(left.slice(lineBreak.length))) return lineBreak;
  return left.startsWith(lineBreak + indent) ? lineBreak + indent : '';
}

interface Tail {
  readonly end: number;
  /** The kind of the last comment in it. */
  readonly kind: 'line' | 'block' | undefined;
}

/** The comments that begin on the line on which something ends. They belong to it, whatever comes next. */
function tailOf(text: string, from: number, to: number): Tail {
  let tail: Tail = { end: from, kind: undefined };
  for (const { kind, end, breaks } of piecesOf(text, from, to)) {
    if (kind === 'blank' && breaks > 0) break;
    if (kind === 'line' || kind === 'block') tail = { end, kind };
  }
  return tail;
}

/** The position after a member and its comma or, without a member, after the brace. */
function behind(object: JsoncNode, member: JsoncMember | undefined): number {
  if (member === undefined) return object.start + 1;
  return member.comma === undefined ? member.node.end : member.comma + 1;
}

function mannerOf(text: string, root: JsoncNode): Manner {
  const [first] = root.members ?? [];
  return {
    eol: /\r?\n/.exec(text)?.[0] ?? '\n',
    unit: unitIn(text, root) ?? '  ',
    spaced: first === undefined || !text.slice(first.start, first.node.start).endsWith(':'),
  };
}

/** How much deeper than their object the first members at the start of a line are indented. */
function unitIn(text: string, { start, members = [] }: JsoncNode): string | undefined {
  const outer = indentAt(text, start);
  for (const member of members) {
    const indent = indentAt(text, member.start);
    const isDeeper = indent.startsWith(outer) && indent !== outer;
    if (isDeeper && startsLine(text, member.start)) return indent.slice(outer.length);
    const inside = unitIn(text, member.node);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function startsLine(text: string, at: number): boolean {
  return text.slice(lineStart(text, at), at).trim() === '';
}

function indentAt(text: string, at: number): string {
  return text.slice(lineStart(text, at), at).replace(/[^ \t][^]*$/, '');
}
