import { isObject } from '../shared/is-object.ts';
import { parseJson } from '../shared/parse-json.ts';
import { undrawn } from '../shared/printable.ts';
import { Turns } from '../shared/turns.ts';

/** How many characters of one text are reported. */
const NAMED = 5;
const MOST_FINDINGS = 3;
/** How many hidden characters of one text are examined. */
const MOST_HIDDEN = 100;

/**
 * Describes, in sentences, what a definition hides from its reader: tag characters, zero-width characters,
 * bidirectional and terminal controls. Joiners and selectors that shape emoji and letters are not reported.
 */
export async function hiddenCharacters(definition: string): Promise<string[]> {
  const findings: string[] = [];
  if (PLAIN.test(definition)) return findings;
  const turns = new Turns();
  for (const { text, where } of textsIn(parseJson(definition), '')) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    const codes = await hiddenCodes(text, turns);
    if (codes.size > 0) findings.push(`${where} contains invisible characters: ${named([...codes])}`);
    if (findings.length === MOST_FINDINGS) break;
  }
  return findings;
}

/** JSON that cannot contain a hidden character, plain or escaped. Most definitions match. */
const PLAIN = /^(?:[ -[\]-~]|\\["\\/nt])*$/;

function* textsIn(
  value: unknown,
  where: string,
): Generator<{ readonly text: string; readonly where: string }> {
  if (typeof value === 'string') yield { text: value, where };
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item, where);
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      yield { text: key, where: `a name in ${where === '' ? 'the definition' : where}` };
      yield* textsIn(member, where === '' ? `its ${key}` : where);
    }
  }
}

async function hiddenCodes(text: string, turns: Turns): Promise<ReadonlySet<string>> {
  const codes = new Set<string>();
  let hidden = 0;
  for (const { char, at, shapes } of undrawn(text)) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    // Texts from Windows contain carriage returns, which are harmless.
    if (shapes || (char === '\r' && text[at + 1] === '\n')) continue;
    codes.add(`U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`);
    if (++hidden === MOST_HIDDEN) break;
  }
  return codes;
}

function named(codes: readonly string[]): string {
  const more = codes.length - NAMED;
  return codes.slice(0, NAMED).join(' ') + (more > 0 ? ` and ${more} more` : '');
}

/** Finds the names of other tools that a name could be mistaken for. */
export class Lookalikes {
  /** Names that look like a name that can imitate others, by appearance. Few names can, so most others are not kept. */
  readonly #others = new Map<string, Set<string>>();

  constructor(names: Iterable<string>) {
    for (const name of names) if (canImitate(name)) this.#others.set(skeleton(name), new Set());
  }

  /** Whether any of the names can imitate another one. */
  get any(): boolean {
    return this.#others.size > 0;
  }

  /** Adds the name of another tool. */
  add(name: string): void {
    // The first may be the name under test, which does not imitate itself, so two are kept.
    const others = this.any ? this.#others.get(skeleton(name)) : undefined;
    if (others !== undefined && others.size < 2) others.add(name);
  }

  /** The name of another tool that this one could be mistaken for. */
  imitatedBy(name: string): string | undefined {
    if (!canImitate(name)) return undefined;
    return [...(this.#others.get(skeleton(name)) ?? [])].find((other) => other !== name);
  }
}

/**
 * Only a name with unusual characters can imitate another. The plain name counts as the original, whichever comes
 * first.
 */
function canImitate(name: string): boolean {
  return skeleton(name) !== name.toLowerCase();
}

/** Only the beginning of longer names is compared. */
const LONGEST_NAME = 200;

/** What a name looks like, in plain letters. */
function skeleton(name: string): string {
  const beginning = name.slice(0, LONGEST_NAME);
  // A shortcut with the same result for most names: a new server is compared with all tools ever listed.
  if (ASCII.test(beginning))
    return beginning.toLowerCase().replace(/[01]/g, (digit) => LOOKS_LIKE.get(digit) ?? digit);
  const visible = beginning.normalize('NFKC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '');
  return Array.from(visible.toLowerCase(), (char) => LOOKS_LIKE.get(char) ?? char).join('');
}

const ASCII = /^[ -~]*$/;

/** Letters and digits that look like a Latin letter in most fonts. */
const LOOKS_LIKE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ а: 'a', е: 'e', о: 'o', р: 'p', с: 'c', у: 'y', х: 'x', і: 'i', ј: 'j', ѕ: 's', ԁ: 'd', һ: 'h' },
    ...{ ԛ: 'q', ԝ: 'w', к: 'k', м: 'm', т: 't', в: 'b', н: 'h', г: 'r', п: 'n', ӏ: 'l', ѵ: 'v', ɡ: 'g' },
    ...{ α: 'a', ο: 'o', ν: 'v', ρ: 'p', υ: 'u', ι: 'i', κ: 'k', τ: 't', ε: 'e', η: 'n', χ: 'x', γ: 'y' },
    ...{ ı: 'i', ł: 'l', ø: 'o', ʟ: 'l', '0': 'o', '1': 'l' },
  }),
);
