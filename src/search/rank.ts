import { actionFit, actionsWanted } from './actions.ts';
import { stem } from './stem.ts';
import {
  isOneTypo,
  weighed,
  type Candidate,
  type IndexedTool,
  type ToolIndex,
  type UsedServers,
} from './tool-index.ts';
import type { Term } from './terms.ts';
import { LONG_FORMS, MEANINGS } from './thesaurus.ts';
import { bareName, wordsOf } from './words.ts';

export interface RankedTool {
  readonly tool: IndexedTool;
  /** Higher is better. Exact names have more than 1000, near ones more than 500. */
  readonly score: number;
}

/** What somebody wants, in their words. */
export interface Need {
  readonly query: string;
  readonly terms: readonly Term[];
}

export interface RankingOptions {
  readonly index: ToolIndex;
  readonly used: UsedServers;
  /** How much tools were used for similar words, by `server.tool`: 0 to 1. Default: nothing is known. */
  readonly learned: ReadonlyMap<string, number> | undefined;
}

/** How much each sign of a good tool counts. Found by trying. */
const WEIGHTS = {
  /** What a word may also mean, beside the word itself, in the index. */
  meaning: 0.35,
  /** The score of the index, of which the best is 1. */
  words: 1,
  /** How much of what is wanted the tool has. */
  covered: 1.6,
  /** How much of its name is wanted. */
  named: 0.6,
  /** It does what is wanted, or else it does not. */
  action: 0.25,
  deprecated: 0.6,
  /** Its server is named. */
  server: 0.8,
  /** It was used for such words before. */
  learned: 1.2,
} as const;

/** Of so many tools that have some of the words, the best are looked at closely. */
const CLOSELY = 150;
const EXACT = 1000;
const NEAR = 500;

/** The tools for one need, best first. */
export function rankTools({ query, terms: said }: Need, options: RankingOptions): RankedTool[] {
  const { index, used, learned } = options;
  const terms = withoutSlips(said, index);
  const wanted = terms.map((term) => ({ ...term, rarity: rarityOf(term, index) }));
  const whole = wanted.reduce((sum, { rarity }) => sum + rarity, 0);
  const meant = new Set(terms.flatMap(({ stem: word, meanings }) => [word, ...meanings]));
  const isNamed = namedServers(query);
  const someNamed = used.servers.some(isNamed);
  const actions = actionsWanted(query);
  const candidates = index.search(weighed(terms, WEIGHTS.meaning), used, {
    most: CLOSELY,
    boostServer: someNamed ? (server) => (isNamed(server) ? 1.5 : 1) : undefined,
  });
  const best = candidates[0]?.score ?? 1;
  const scores = new Map<IndexedTool, number>();
  for (const { tool, score, match } of candidates) {
    const covered = wanted.reduce((sum, term) => sum + term.rarity * howFound(term, match), 0) / (whole || 1);
    const named = tool.nameStems.filter((each) => isMeant(each, meant)).length / tool.nameStems.length;
    scores.set(
      tool,
      WEIGHTS.words * (score / best) +
        WEIGHTS.covered * covered +
        WEIGHTS.named * named +
        WEIGHTS.action * actionFit(actions, tool.actions) -
        (tool.deprecated ? WEIGHTS.deprecated : 0) +
        WEIGHTS.server * (isNamed(tool.server) ? 1 : 0),
    );
  }
  const add = (tool: IndexedTool, score: number): void =>
    void scores.set(tool, score + (scores.get(tool) ?? 0));
  for (const [path, sureness] of learned ?? [])
    for (const tool of used.byBareName.get(bareName(path)) ?? []) add(tool, WEIGHTS.learned * sureness);
  for (const [tool, score] of namedTools(query, used)) add(tool, score);
  return [...scores]
    .map(([tool, score]) => ({ tool, score }))
    .sort((a, b) => b.score - a.score || a.tool.id - b.tool.id);
}

/** A word that no tool has is replaced by those it may be a slip or a beginning of. */
function withoutSlips(terms: readonly Term[], index: ToolIndex): Term[] {
  return terms.flatMap((term) => {
    if (term.meanings.length > 0 || index.has(term.stem)) return [term];
    const near = index.nearWords(term.stem);
    return near.length === 0
      ? [term]
      : near.map((word) => ({ stem: word, meanings: MEANINGS.get(word) ?? [] }));
  });
}

/** How much a word tells tools apart: as much as the commonest way to say it. */
function rarityOf({ stem: word, meanings }: Term, index: ToolIndex): number {
  const ways = [word, ...meanings].filter((each) => index.has(each)).map((each) => index.rarity(each));
  return ways.length === 0 ? 0 : Math.min(...ways);
}

const FOUND_IN: Readonly<Record<string, number>> = {
  name: 1,
  summary: 0.85,
  server: 0.8,
  detail: 0.5,
};

/** How well one word of the query is found in a tool: 1 for the word itself in its name, less for the rest. */
function howFound({ stem: word, meanings }: Term, match: Candidate['match']): number {
  let best = 0;
  for (const [each, factor] of [[word, 1] as const, ...meanings.map((meaning) => [meaning, 0.75] as const)])
    for (const field of match[each] ?? []) best = Math.max(best, factor * (FOUND_IN[field] ?? 0));
  return best;
}

function isMeant(word: string, meant: ReadonlySet<string>): boolean {
  return meant.has(word) || (MEANINGS.get(word)?.some((meaning) => meant.has(meaning)) ?? false);
}

/** Whether a server is named in the query, by all words of its name. */
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

/** Tools that the query calls by their names, and those of which it is one slip away. */
function namedTools(query: string, { tools, byBareName }: UsedServers): Map<IndexedTool, number> {
  const whole = bareName(query.slice(0, 200));
  // A word of several words is a name: `create_issue`, `createIssue`, `github.create_issue`.
  const names = query
    .slice(0, 500)
    .split(/[\s,;()"'`]+/)
    .filter((word) => /[\p{L}\p{N}][._/:-]+[\p{L}\p{N}]|\p{Ll}\p{Lu}/u.test(word))
    .slice(0, 8)
    .map(bareName);
  const named = new Map<IndexedTool, number>();
  for (const guess of /\s/.test(query.trim()) ? names : [whole, ...names])
    for (const tool of tools)
      if (isOneTypo(guess, tool.bareWithServer) || isOneTypo(guess, tool.bare)) named.set(tool, NEAR);
  for (const name of [whole, ...names])
    for (const tool of byBareName.get(name) ?? []) named.set(tool, name === tool.bare ? EXACT : EXACT * 2);
  return named;
}
