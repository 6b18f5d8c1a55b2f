import { bareName } from './words.ts';
import { judge, type Need, type Sign } from './signs.ts';
import { isOneTypo, type IndexedTool, type ToolIndex, type UsedServers } from './tool-index.ts';

export interface RankedTool {
  readonly tool: IndexedTool;
  /** Higher is better. Exact names score above 1000, near ones above 500. */
  readonly score: number;
}

export interface RankingOptions {
  readonly index: ToolIndex;
  readonly used: UsedServers;
  /** How much tools were used for similar words, by `server.tool`: 0 to 1. Undefined: nothing was learned. */
  readonly learned: ReadonlyMap<string, number> | undefined;
}

/** The weight of each sign, fitted to bench/queries/tuning.json by `node bench/fit-search.mjs`. */
const WEIGHTS: Readonly<Record<Sign, number>> = {
  words: 0.5,
  covered: 0.6,
  told: 0.9,
  detail: 0.25,
  meant: 0.45,
  many: 0.5,
  named: 0.4,
  action: 0.1,
  asked: 0.3,
  server: 0.65,
  serverNamed: 0.5,
  deprecated: -0.16,
};
/** The weight of earlier use for such words: more than most signs together, at full confidence. */
const LEARNED = 3;
const EXACT = 1000;
const NEAR = 500;

/** The tools for one need, best first. */
export function rankTools(need: Need, { index, used, learned }: RankingOptions): RankedTool[] {
  const scores = new Map<IndexedTool, number>();
  const add = (tool: IndexedTool, score: number): void =>
    void scores.set(tool, score + (scores.get(tool) ?? 0));
  for (const { tool, signs } of judge(need, index, used)) add(tool, scoreOf(signs));
  for (const [path, sureness] of learned ?? [])
    for (const tool of used.byBareName.get(bareName(path)) ?? []) add(tool, LEARNED * sureness);
  for (const [tool, score] of namedTools(need.query, used)) add(tool, score);
  return [...scores]
    .map(([tool, score]) => ({ tool, score }))
    .sort((a, b) => b.score - a.score || a.tool.id - b.tool.id);
}

function scoreOf(signs: Readonly<Record<Sign, number>>): number {
  let score = 0;
  for (const sign of Object.keys(signs) as Sign[]) score += WEIGHTS[sign] * signs[sign];
  return score;
}

/** The tools that the query names, exactly or with one typo. */
function namedTools(query: string, { tools, byBareName }: UsedServers): Map<IndexedTool, number> {
  const whole = bareName(query.slice(0, 200));
  // A word that consists of several words is a name: `create_issue`, `createIssue`, `github.create_issue`.
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
