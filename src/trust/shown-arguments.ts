import { revealedLine } from '../shared/printable.ts';
import { isSecretName } from '../shared/secrets.ts';
import { jsonItems, jsonMembers } from '../wire/index.ts';

/** How much of one text, and of all arguments together, a person sees, in characters. */
const SHOWN_OF_ONE = 300;
const SHOWN = 4000;
/** Longer arguments are shown as the names and sizes of their members. */
const TAKEN_APART = 500_000;
const MOST_LEVELS = 20;

/** Arguments that a person and a server could interpret differently. */
export class AmbiguousArguments extends Error {}

/**
 * Formats the arguments of a call, given as JSON text, for the person who decides on it: invisible characters become
 * visible, secrets are hidden, and a long text cannot push the rest out of sight. Throws AmbiguousArguments if a member
 * is repeated, because servers differ in which one they use.
 */
export function shownArguments(args: string, hidden: ReadonlySet<string>): string {
  const levels = args.length > TAKEN_APART ? 1 : MOST_LEVELS;
  return beginningOf(revealedLine(shown(args, hidden, levels)), SHOWN);
}

function shown(value: string, hidden: ReadonlySet<string>, levels: number): string {
  const first = value[0];
  if (first === '"') return JSON.stringify(beginningOf(JSON.parse(value) as string, SHOWN_OF_ONE));
  if (first !== '{' && first !== '[') return value;
  if (levels === 0) return `… ${value.length} characters`;
  if (first === '[')
    return `[${[...jsonItems(value)].map((item) => shown(item, hidden, levels - 1)).join(', ')}]`;
  const members = jsonMembers(value);
  const names = new Set(members.map(({ key }) => key));
  if (names.size < members.length) throw new AmbiguousArguments();
  const parts = members.map(({ key, valueText }) => {
    const secret = hidden.has(key) || isSecretName(key);
    return `${JSON.stringify(key)}: ${secret ? '(hidden)' : shown(valueText, hidden, levels - 1)}`;
  });
  return `{${parts.join(', ')}}`;
}

function beginningOf(text: string, length: number): string {
  const more = text.length - length;
  return more > 0 ? `${text.slice(0, length)} … and ${more} more characters` : text;
}
