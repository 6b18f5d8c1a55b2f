import type { SourceInfo } from '../../gateway/index.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import { summarise } from './summarise.ts';

export interface LearnedInfo {
  /** The server's name in the configuration. */
  readonly name: string;
  /** Its own description; undefined if it has never run. */
  readonly about: SourceInfo | undefined;
  /** Whether to use only what it says in a sentence, and not its title or its tools. */
  readonly bySentence: boolean;
  /** The tools that may be called, in the server's order; empty if they are unknown. */
  readonly subtools: readonly string[];
  /** Returns a sentence about servers of this kind, for one that does not describe itself. */
  readonly known: () => string | undefined;
}

/**
 * What a server does, in at most 40 tokens, according to its last run: its description, or the first sentence of its
 * instructions, or its title, plus the names of its tools. Undefined if that says no more than its name. The text is
 * untrusted: it is quoted, cut to one clean line, and left out if it gives the model orders.
 */
export function learnedDescription({
  name,
  about,
  bySentence,
  subtools,
  known,
}: LearnedInfo): string | undefined {
  const { title, name: ownName } = about?.serverInfo ?? {};
  const said = ownSentence(about);
  const label = name.length <= MAX_LABEL ? name : 'This server';
  const names = bySentence ? [] : subtools.filter((each) => PLAIN_NAME.test(each));
  if (said === undefined && bySentence) return undefined;
  if (said !== undefined) return withNames(quoted(label, said), names);
  // A name counts as a title if it is written like one and not like the name of a package.
  const titles = [titleIn(title), titleIn(ownName)?.includes(' ') === true ? titleIn(ownName) : undefined];
  const titled = titles.find((each) => each !== undefined && !isNamed(each, name));
  if (titled === undefined && names.length === 0) return undefined;
  const alone = titled === undefined ? `${label}.` : quoted(label, titled);
  return withNames(known() ?? alone, names);
}

/** What a server says it does, in one sentence; undefined if it does not say. */
export function ownSentence(about: SourceInfo | undefined): string | undefined {
  return firstSentence(about?.serverInfo.description) ?? firstSentence(about?.instructions);
}

/** The limit in tokens by our estimate, which may be a seventh too low. */
const MAX_TOKENS = 34;
const MAX_LABEL = 40;
const PLAIN_NAME = /^[A-Za-z0-9_./:-]{1,64}$/;

/** `azure: "Manages Azure resources."`, with as much of the text as fits. */
function quoted(label: string, text: string): string {
  const clean = text.replaceAll('"', "'");
  let shown = `${label}: "${clean}"`;
  // A word has at least one token, and no token is longer than this.
  for (let chars = MAX_TOKENS * 6; !fits(shown) && chars > 0; chars -= 4)
    shown = `${label}: "${summarise(clean, chars)}"`;
  return shown;
}

/** The sentence with as many names as fit; without names if too few would fit. */
function withNames(sentence: string, names: readonly string[]): string {
  const listed = (count: number): string =>
    `${sentence} Subtools: ${names.slice(0, count).join(', ')}${count < names.length ? ', …' : '.'}`;
  let count = 0;
  // A name is often not a word, and costs more than estimated.
  while (count < names.length && fits(listed(count + 1), (count + 1) * 0.8)) count++;
  return count === 0 || (count < names.length && count < FEWEST_NAMES) ? sentence : listed(count);
}

const FEWEST_NAMES = 3;

function fits(text: string, more = 0): boolean {
  // For mixtures of digits and letters, as in hashes, the estimate is even lower than that.
  const digits = text.match(/\d/g)?.length ?? 0;
  return estimateTokens(text) + digits / 4 + more <= MAX_TOKENS;
}

/** The first sentence that describes the server instead of instructing the model. */
function firstSentence(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  return paragraphs(text.slice(0, MAX_READ))
    .map(
      (each) =>
        /^.*?(?:[^.\s][.!?](?=\s+[\p{Lu}\p{N}"'(`*[]|$)|[\u3002\uff01\uff1f])/u.exec(each)?.[0] ?? each,
    )
    .slice(0, MAX_PARAGRAPHS)
    .find(
      (each) => WORDS.test(each) && !ORDER.test(each) && !ABOUT_ITSELF.test(each) && !OVERRULES.test(each),
    );
}

const MAX_READ = 4000;
/** Later paragraphs are about individual tools. */
const MAX_PARAGRAPHS = 3;
/** Matches three words; some scripts have no blanks between words. */
const WORDS = /\S+ \S+ \S|[\u3040-\u9fff\uac00-\ud7af]{4}/;
const ORDER =
  /^(?:important|critical|warning|caution|attention|note|notice|always|never|must|do not|don't|you|your|ignore|disregard|forget|before|after|when|whenever|if|first|please|follow|call|remember|system|assistant|human|user)\b/i;
/** Matches text that is about the instructions themselves rather than the server. */
const ABOUT_ITSELF =
  /:$|^(?:audience|here (?:is|are)|below)\b|\b(?:these|following|usage)(?: \w+)? (?:instructions|guidelines|rules|tips)\b/i;
const OVERRULES =
  /\b(?:ignore|disregard|override|forget)\b.*\b(?:instructions?|prompts?|rules?|above|previous)\b/i;

/** The paragraphs of a Markdown text as plain lines, without headings and lists, which are mostly rules. */
function paragraphs(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, '\n\n')
    .split(/\r?\n[ \t]*(?:\r?\n|(?=[-*+#>|]|\d+[.)]))/)
    .filter((each) => /\S/.test(each) && !/^\s*(?:[#|=>]|[-*+]\s|-{3}|\d+[.)]\s)/.test(each))
    .map((each) =>
      summarise(
        each
          .replace(/<[^<>]*>/g, ' ')
          .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
          .replace(/[*`]+|(?<=^|\s)_+|(?<!_)_+(?=\s|$)/g, ''),
        MAX_READ,
      ),
    );
}

function titleIn(title: unknown): string | undefined {
  if (typeof title !== 'string') return undefined;
  const line = summarise(title, 80);
  return line === '' || ORDER.test(line) || OVERRULES.test(line) ? undefined : line;
}

/** Whether a title says no more than the server's name in the configuration. */
function isNamed(title: string, name: string): boolean {
  const bare = (text: string): string =>
    text.toLowerCase().replace(/\b(?:mcp|server)\b|mcp[-_ ]?server|[^\p{L}\p{N}]/giu, '');
  return bare(title) === '' || bare(title) === bare(name);
}
