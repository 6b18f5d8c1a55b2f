/**
 * node bench/fit-search.mjs
 *
 * Fits the weights of the ranking (src/search/rank.ts) to bench/queries/tuning.json and prints them, with how well weights
 * find the tools of servers they were not fitted to. `unsaid` leaves out of each query what people say (src/search/sayings.ts)
 * where no other query says the same: a cautious estimate of how well unknown words are understood.
 */
import { serverLists } from './lib/search-servers.mjs';
import { queriesIn } from './lib/queries.mjs';
import { table } from './lib/table.mjs';
import { loadToolSearch, searchedServer } from './lib/tool-search.mjs';

/** Each server is held out once, along with others. */
const FOLDS = 6;
const STEPS = 250;
const STEP = 0.05;
/** The penalty for large weights. */
const DECAY = 0.002;
/** Scales the weights so that the best scores are about 4. */
const SCALE = 4;

const lists = await serverLists(console.log);
const { ToolIndex, termsWanted, judge } = await loadToolSearch();
const queries = queriesIn('tuning', lists);
const index = new ToolIndex();
const used = await index.use(lists.map(searchedServer));
const terms = queries.map(({ query }) => termsWanted(query, 24));
const known = judged(terms);
const unsaid = judged(terms.map((each) => each.map(withoutOwnSayings)));
const signs = Object.keys(known[0].tools[0].signs);
const servers = [...new Set(known.map(({ server }) => server))];

const rows = [];
for (const [name, judgements] of [
  ['known', known],
  ['unsaid', unsaid],
]) {
  const places = servers.slice(0, FOLDS).flatMap((_, fold) => {
    const isIn = ({ server }) => servers.indexOf(server) % FOLDS === fold;
    const weights = fit(judgements.filter((each) => !isIn(each)));
    return judgements.filter(isIn).map((each) => ({ kind: each.kind, place: placeOf(each, weights) }));
  });
  for (const kind of ['spoken', 'terse']) {
    const own = places.filter((each) => each.kind === kind);
    const share = (most) =>
      `${((100 * own.filter(({ place }) => place <= most).length) / own.length).toFixed(0)} %`;
    rows.push([`${name}, ${kind}`, String(own.length), share(1), share(5)]);
  }
}
console.log(table('Servers that the weights were not fitted to', ['', 'queries', 'hit@1', 'hit@5'], rows));
const weights = fit(unsaid);
console.log(signs.map((sign, at) => `  ${sign}: ${(weights[at] / SCALE).toFixed(2)},`).join('\n'));
process.exit();

function judged(allTerms) {
  return queries.map(({ query, kind, expected }, at) => ({
    kind,
    server: expected[0].slice(0, expected[0].indexOf('.')),
    tools: judge({ query, terms: allTerms[at] }, index, used).map(({ tool, signs }) => ({
      signs,
      values: Object.values(signs),
      isRight: expected.includes(`${tool.server}.${tool.tool.name}`),
    })),
  }));
}

/** Removes marks of sayings that occur in no other query. */
function withoutOwnSayings({ stem, meanings }) {
  const isSaidElsewhere = (mark) =>
    terms.filter((each) => each.some((term) => term.stem === stem && term.meanings.includes(mark))).length >
    1;
  return { stem, meanings: meanings.filter((mark) => !mark.startsWith('~s') || isSaidElsewhere(mark)) };
}

function scoreOf({ values }, weights) {
  return values.reduce((sum, value, at) => sum + value * weights[at], 0);
}

function placeOf({ tools }, weights) {
  const sorted = [...tools].sort((a, b) => scoreOf(b, weights) - scoreOf(a, weights));
  const at = sorted.findIndex(({ isRight }) => isRight);
  return at === -1 ? Infinity : at + 1;
}

/** The weights with which a right tool is most likely to be the best (softmax), found by gradient descent (Adam). */
function fit(judgements) {
  const weights = signs.map(() => 1);
  const mean = signs.map(() => 0);
  const square = signs.map(() => 0);
  const usable = judgements.filter(({ tools }) => tools.some(({ isRight }) => isRight));
  for (let step = 1; step <= STEPS; step++) {
    const slope = weights.map((weight) => 2 * DECAY * weight);
    for (const { tools } of usable) {
      const scores = tools.map((tool) => Math.exp(scoreOf(tool, weights)));
      const all = scores.reduce((sum, score) => sum + score, 0);
      const right = scores.reduce((sum, score, at) => sum + (tools[at].isRight ? score : 0), 0);
      tools.forEach(({ values, isRight }, at) => {
        const off = scores[at] / all - (isRight ? scores[at] / right : 0);
        for (const sign of weights.keys()) slope[sign] += (off * values[sign]) / usable.length;
      });
    }
    for (const sign of weights.keys()) {
      mean[sign] = 0.9 * mean[sign] + 0.1 * slope[sign];
      square[sign] = 0.999 * square[sign] + 0.001 * slope[sign] ** 2;
      weights[sign] -=
        (STEP * mean[sign]) / (1 - 0.9 ** step) / (Math.sqrt(square[sign] / (1 - 0.999 ** step)) + 1e-8);
    }
  }
  return weights;
}
