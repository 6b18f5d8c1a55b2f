/** The lower-case words of a text; names are split at camelCase, snake_case, kebab-case and dots. */
export function wordsOf(text: string): string[] {
  // eslint-disable-next-line no-control-regex
  const isPlain = /^[\x00-\x7f]*$/.test(text);
  const split = text.replace(isPlain ? HUMP : ANY_HUMP, '$1$2 ').toLowerCase();
  const plain = isPlain ? split : split.normalize('NFKD').replace(/\p{M}+/gu, '');
  return plain.replace(/['\u2019](?:s|t|re|ll|ve|d|m)\b/g, '').match(isPlain ? WORD : ANY_WORD) ?? [];
}

/** The same for English, which is faster, and for all languages. */
const HUMP = /([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g;
const ANY_HUMP = /([\p{Ll}\d])(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu;
const WORD = /[a-z]+|\d+/g;
const ANY_WORD = /\p{L}+|\d+/gu;

/** A name without separators, so that `createIssue`, `create_issue` and `Create issue` are equal. */
export function bareName(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Words that say nothing about a tool. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a an the this that these those it its they them their there here i me my mine we us our you your he she his her one ones ' +
    'of to in on at by for from with into onto about as than then so if or and but not no nor ' +
    'is are was were be been being am do does did done doing have has had having can could should would will shall may might must ' +
    'please want wants need needs like let lets help just only also too very really again still already yet now currently lately ' +
    'what which when how why whose whom where while some any every each most more much many such same other another own ' +
    'via per using use used uses tool tools mcp server servers given based specified specific provided provide provides allow allows ' +
    'returns return returned optional required default e g etc something someone thing things stuff way etc lot bit kind sort ' +
    'right ok okay hey hi called named'
  ).split(' '),
);
