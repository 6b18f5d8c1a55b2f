import { isObject } from '../shared/is-object.ts';
import { parseJson } from '../shared/parse-json.ts';
import { printable } from '../shared/printable.ts';

/** How many characters of one text are named. */
const NAMED = 5;
const MOST_FINDINGS = 10;

/**
 * What a definition hides from the person who reads it, as sentences: tag characters, zero width, bidirectional and
 * terminal controls. Joiners and selectors that shape emoji and letters are not meant.
 */
export function hiddenCharacters(definition: string): string[] {
  const findings: string[] = [];
  visit(parseJson(definition), '', (text, where) => {
    if (findings.length < MOST_FINDINGS && hasHidden(text))
      findings.push(`${where} contains invisible characters: ${named(text)}`);
  });
  return findings;
}

function visit(value: unknown, where: string, found: (text: string, where: string) => void): void {
  if (typeof value === 'string') found(value, where);
  else if (Array.isArray(value)) for (const item of value) visit(item, where, found);
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      found(key, `a name in ${where === '' ? 'the definition' : where}`);
      visit(member, where === '' ? `its ${key}` : where, found);
    }
  }
}

function hasHidden(text: string): boolean {
  const plain = withoutReturns(text);
  return printable(plain) !== plain;
}

/** Texts from Windows have them, and they hide nothing. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

function named(text: string): string {
  const codes = new Set(
    Array.from(withoutReturns(text))
      .filter((char) => printable(char) !== char)
      .map((char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`),
  );
  const more = codes.size - NAMED;
  return [...codes].slice(0, NAMED).join(' ') + (more > 0 ? ` and ${more} more` : '');
}

/**
 * The name, among those of other tools, that this one could be mistaken for. Only a name with unusual characters is one
 * that imitates: whoever comes first, the plain name is the real one.
 */
export function imitatedName(name: string, others: Iterable<string>): string | undefined {
  const drawn = skeleton(name);
  if (drawn === name.toLowerCase()) return undefined;
  for (const other of others) if (other !== name && skeleton(other) === drawn) return other;
  return undefined;
}

/** How a name looks, in plain letters. */
function skeleton(name: string): string {
  const visible = name.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  return Array.from(visible.toLowerCase())
    .map((char) => LOOKS_LIKE.get(char) ?? char)
    .join('');
}

/** Letters and digits that look like a Latin letter in most fonts. */
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', у: 'y', х: 'x', і: 'i', ј: 'j', ѕ: 's', ԁ: 'd', һ: 'h' },
    ...{ ԛ: 'q', ԝ: 'w', к: 'k', м: 'm', т: 't', в: 'b', н: 'h', г: 'r', п: 'n', ӏ: 'l', ѵ: 'v', ɡ: 'g' },
    ...{ α: 'a', ο: 'o', ν: 'v', ρ: 'p', υ: 'u', ι: 'i', κ: 'k', τ: 't', ε: 'e', η: 'n', χ: 'x', γ: 'y' },
    ...{ ı: 'i', ł: 'l', ø: 'o', ʟ: 'l', '0': 'o', '1': 'l' },
  }),
);
