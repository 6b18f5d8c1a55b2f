import { actionFit, actionsWanted, isQuestion } from './actions.ts';
import { stem } from './stem.ts';
import type { Term } from './terms.ts';
import { LONG_FORMS, OF_QUERIES, OF_TOOLS } from './thesaurus.ts';
import { weighed, type Candidate, type IndexedTool, type ToolIndex, type UsedServers } from './tool-index.ts';
import { wordsOf } from './words.ts';

/** What somebody wants, in their own words. */
export interface Need {
  readonly query: string;
  readonly terms: readonly Term[];
}

/**
 * The signs that a tool matches, each up to 1:
 * - `words`: the score of the index, relative to the best
 * - `covered`: how much of the need the tool covers, rare words counting more
 * - `told`: the same, each word counting as much as its rarest synonym
 * - `detail`: how much of the need its parameters and the rest of its description cover
 * - `meant`: how much of the need its name says in other words
 * - `many`: how many of the words it has
 * - `named`: how much of its name the query mentions
 * - `action`: 1 if it does what is wanted, -1 if it does something else
 * - `asked`: -1 if the query is a question and the tool changes something
 * - `server`: how well the tools of its server match, relative to the best
 * - `serverNamed`: whether the query names its server
 * - `deprecated`: whether it says that it is deprecated
 */
export type Sign =
  | 'words'
  | 'covered'
  | 'told'
  | 'detail'
  | 'meant'
  | 'many'
  | 'named'
  | 'action'
  | 'asked'
  | 'server'
  | 'serverNamed'
  | 'deprecated';

export interface JudgedTool {
  readonly tool: IndexedTool;
  readonly signs: Readonly<Record<Sign, number>>;
}

/** How many of the best matches are examined closely. */
const CLOSELY = 100;
/** The weight of a word's meanings, relative to the word itself: in the index, and in a tool. */
const MEANING_IN_INDEX = 0.35;
const MEANING = 0.75;

/** The tools that match part of the need, with their signs. */
export function judge({ query, terms: said }: Need, index: ToolIndex, used: UsedServers): JudgedTool[] {
  const terms = withoutSlips(said, index);
  const wanted = terms.map((term) => wantedTerm(term, index));
  const sumOf = (value: (term: WantedTerm) => number): number =>
    wanted.reduce((sum, term) => sum + value(term), 0);
  const common = sumOf((term) => term.common) || 1;
  const rarest = sumOf((term) => term.rarest) || 1;
  const meant = new Set(terms.flatMap(({ stem: word, meanings }) => [word, ...meanings]));
  const isNamed = namedServers(query);
  const someNamed = used.servers.some(isNamed);
  const actions = actionsWanted(query);
  const asked = isQuestion(query);
  const candidates = index.search(weighed(terms, MEANING_IN_INDEX), used, {
    most: CLOSELY,
    boostServer: someNamed ? (server) => (isNamed(server) ? 1.5 : 1) : undefined,
  });
  const best = candidates[0]?.score ?? 1;
  const found = candidates.map(({ match }) => wanted.map((term) => findTerm(term, match)));
  const fits = serverFits(candidates, wanted, found);
  return candidates.map(({ tool, score }, at) => {
    const terms = found[at] as FoundTerm[];
    const share = (value: (term: FoundTerm) => number, whole: number): number =>
      terms.reduce((sum, term) => sum + value(term), 0) / (whole || 1);
    const fit = actionFit(actions, tool.actions);
    return {
      tool,
      signs: {
        words: score / best,
        covered: share((term) => term.covered * term.common, common),
        told: share((term) => term.told, rarest),
        detail: share((term) => (term.inDetail ? term.common : 0), common),
        meant: share((term) => (term.meant ? term.common : 0), common),
        many: share((term) => (term.covered > 0 ? 1 : 0), wanted.length),
        named: tool.nameStems.filter((each) => isMeant(each, meant)).length / tool.nameStems.length,
        action: fit,
        asked: asked && fit < 0 ? -1 : 0,
        server: fits.get(tool.owner) ?? 0,
        serverNamed: isNamed(tool.server) ? 1 : 0,
        deprecated: tool.deprecated ? 1 : 0,
      },
    };
  });
}

interface WantedTerm {
  /** The word and its meanings, as far as tools use them. */
  readonly ways: readonly { readonly word: string; readonly factor: number; readonly rarity: number }[];
  /** How well it tells tools apart: like its most common synonym, or like its rarest. */
  readonly common: number;
  readonly rarest: number;
}

function wantedTerm({ stem: word, meanings }: Term, index: ToolIndex): WantedTerm {
  const ways = [word, ...meanings]
    .filter((each) => index.has(each))
    .map((each) => ({ word: each, factor: each === word ? 1 : MEANING, rarity: index.rarity(each) }));
  const rarities = ways.map(({ rarity }) => rarity);
  return {
    ways,
    common: ways.length === 0 ? 0 : Math.min(...rarities),
    rarest: Math.max(0, ...rarities),
  };
}

const FOUND_IN: Readonly<Record<string, number>> = { name: 1, summary: 0.85, server: 0.8, detail: 0.5 };

/** How well a tool matches one word of the query. */
interface FoundTerm {
  readonly common: number;
  /** 1 if the word itself is in the tool's name, otherwise less. */
  covered: number;
  /** The same, weighted by how rare the word is. */
  told: number;
  inDetail: boolean;
  /** Whether the tool's name says it in other words. */
  meant: boolean;
}

function findTerm({ ways, common }: WantedTerm, match: Candidate['match']): FoundTerm {
  const found = { common, covered: 0, told: 0, inDetail: false, meant: false };
  for (const { word, factor, rarity } of ways)
    for (const field of match[word] ?? []) {
      const value = factor * (FOUND_IN[field] ?? 0);
      found.covered = Math.max(found.covered, value);
      found.told = Math.max(found.told, value * rarity);
      if (factor === 1 && field === 'detail') found.inDetail = true;
      if (factor < 1 && field === 'name') found.meant = true;
    }
  return found;
}

/** How much of the need the tools of each server mention, where the best server has 1: "pod" is about Kubernetes. */
function serverFits(
  candidates: readonly Candidate[],
  wanted: readonly WantedTerm[],
  found: readonly (readonly FoundTerm[])[],
): ReadonlyMap<object, number> {
  const sums = new Map<IndexedTool['owner'], number[]>();
  candidates.forEach(({ tool: { owner } }, at) => {
    const sum = sums.get(owner) ?? wanted.map(() => 0);
    sums.set(owner, sum);
    found[at]?.forEach(({ covered }, term) => (sum[term] = (sum[term] ?? 0) + covered));
  });
  const fits = new Map<object, number>();
  for (const [owner, sum] of sums) {
    const many = Math.max(3, owner.tools / 2);
    fits.set(
      owner,
      wanted.reduce((fit, { common }, term) => {
        const n = sum[term] ?? 0;
        return fit + (n > 0 ? common * (0.4 * Math.min(1, n) + 0.6 * Math.min(1, n / many)) : 0);
      }, 0),
    );
  }
  const best = Math.max(...fits.values()) || 1;
  return new Map([...fits].map(([owner, fit]) => [owner, fit / best]));
}

/** Replaces a word that no tool has by those it may be a typo or the beginning of. */
function withoutSlips(terms: readonly Term[], index: ToolIndex): Term[] {
  return terms.flatMap((term) => {
    if (term.meanings.length > 0 || index.has(term.stem)) return [term];
    const near = index.nearWords(term.stem);
    return near.length === 0
      ? [term]
      : near.map((word) => ({ stem: word, meanings: OF_QUERIES.meanings.get(word) ?? [] }));
  });
}

function isMeant(word: string, meant: ReadonlySet<string>): boolean {
  return meant.has(word) || (OF_TOOLS.meanings.get(word)?.some((meaning) => meant.has(meaning)) ?? false);
}

/** Whether the query names a server, by all words of its name. */
function namedServers(query: string): (server: string) => boolean {
  const words = wordsOf(query);
  const said = new Set([
    ...words,
    ...words.map(stem),
    ...words.flatMap((word) => LONG_FORMS.get(word) ?? []),
  ]);
  const known = new Map<string, boolean>();
  return (server) => {
    let named = known.get(server);
    if (named === undefined) {
      const own = wordsOf(server).filter((word) => word !== 'mcp' && word !== 'server');
      named = own.length > 0 && own.every((word) => said.has(word) || said.has(stem(word)));
      known.set(server, named);
    }
    return named;
  };
}
