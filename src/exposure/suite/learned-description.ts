import type { SourceInfo } from '../../gateway/index.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import { summarise } from './summarise.ts';

export interface LearnedInfo {
  /** The name the server has here. */
  readonly name: string;
  /** Its own description; undefined if it has never run. */
  readonly about: SourceInfo | undefined;
  /** Use what it says in a sentence only, neither its title nor its tools. */
  readonly bySentence: boolean;
  /** Those that may be called, in the server's order; empty where they are not known. */
  readonly subtools: readonly string[];
  /** A sentence on what servers of this kind do, for one that does not say it itself. */
  readonly known: () => string | undefined;
}

/**
 * What a server does, in at most 40 tokens, from its last run: its description, the first sentence of its
 * instructions or its title, and the names of its tools. Undefined where that is no more than its name. The words are a
 * stranger's, so they are quoted, cut to one clean line, and left out where they order the model around.
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
  // A name is a title where it is written like one, and not like that of a package.
  const titles = [titleIn(title), titleIn(ownName)?.includes(' ') === true ? titleIn(ownName) : undefined];
  const titled = titles.find((each) => each !== undefined && !isNamed(each, name));
  if (titled === undefined && names.length === 0) return undefined;
  const alone = titled === undefined ? `${label}.` : quoted(label, titled);
  return withNames(known() ?? alone, names);
}

/** What a server says it does, in one sentence; undefined where it does not say it. */
export function ownSentence(about: SourceInfo | undefined): string | undefined {
  return firstSentence(about?.serverInfo.description) ?? firstSentence(about?.instructions);
}

/** By our estimate, which may be a seventh too low. */
const MAX_TOKENS = 34;
const MAX_LABEL = 40;
const PLAIN_NAME = /^[A-Za-z0-9_./:-]{1,64}$/;

/** `azure: "Manages Azure resources."`, with as much of the text as there is room for. */
function quoted(label: string, text: string): string {
  const clean = text.replaceAll('"', "'");
  let shown = `${label}: "${clean}"`;
  // A word is a token or more, and no token is longer than all of this.
  for (let chars = MAX_TOKENS * 6; !fits(shown) && chars > 0; chars -= 4)
    shown = `${label}: "${summarise(clean, chars)}"`;
  return shown;
}

/** The sentence, and as many names as there is room for; no names where only too few would fit. */
function withNames(sentence: string, names: readonly string[]): string {
  const listed = (count: number): string =>
    `${sentence} Subtools: ${names.slice(0, count).join(', ')}${count < names.length ? ', …' : '.'}`;
  let count = 0;
  // A name is often no word, and costs more than the estimate says.
  while (count < names.length && fits(listed(count + 1), (count + 1) * 0.8)) count++;
  return count === 0 || (count < names.length && count < FEWEST_NAMES) ? sentence : listed(count);
}

const FEWEST_NAMES = 3;

function fits(text: string, more = 0): boolean {
  // Where digits and letters are mixed, as in hashes, the estimate is too low by more than that.
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
/** What comes later is about single tools. */
const MAX_PARAGRAPHS = 3;
/** Three words; some scripts have no blanks between them. */
const WORDS = /\S+ \S+ \S|[\u3040-\u9fff\uac00-\ud7af]{4}/;
const ORDER =
  /^(?:important|critical|warning|caution|attention|note|notice|always|never|must|do not|don't|you|your|ignore|disregard|forget|before|after|when|whenever|if|first|please|follow|call|remember|system|assistant|human|user)\b/i;
/** Words on the instructions that follow, instead of on the server. */
const ABOUT_ITSELF =
  /:$|^(?:audience|here (?:is|are)|below)\b|\b(?:these|following|usage)(?: \w+)? (?:instructions|guidelines|rules|tips)\b/i;
const OVERRULES =
  /\b(?:ignore|disregard|override|forget)\b.*\b(?:instructions?|prompts?|rules?|above|previous)\b/i;

/** The paragraphs of a text in Markdown as plain lines, without headings and lists, which are mostly rules. */
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

/** Whether a title says no more than the name that the server has here. */
function isNamed(title: string, name: string): boolean {
  const bare = (text: string): string =>
    text.toLowerCase().replace(/\b(?:mcp|server)\b|mcp[-_ ]?server|[^\p{L}\p{N}]/giu, '');
  return bare(title) === '' || bare(title) === bare(name);
}
