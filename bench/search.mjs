import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import MiniSearch from 'minisearch';
import { writeFileSync } from 'node:fs';
import { quantile } from './lib/stats.mjs';
import { queriesIn } from './lib/queries.mjs';
import { serverLists } from './lib/search-servers.mjs';
import { loadToolSearch, searchedServer } from './lib/tool-search.mjs';
import { toolTexts } from './lib/tool-texts.mjs';

/** How many tools are searched to measure times. */
const MANY = 5000;

/**
 * The queries on which the ranking was tuned, and queries that were written later by somebody who had not seen it. See
 * queries/README.md.
 */
const QUERY_FILES = ['tuning', 'held-out'];

/**
 * How well `find_tool` finds the tools of real servers, beside a plain index of the same library; how long its
 * responses are and how long it takes. With `toolsFile`, writes the texts of all tools there.
 */
export async function measureSearch({ say, toolsFile, timed = true }) {
  const lists = await serverLists(say);
  if (toolsFile !== undefined) writeFileSync(toolsFile, toolTexts(lists));
  const { ToolSearch, findAnswer, PLAIN_WRITING } = await loadToolSearch();
  const servers = lists.map(searchedServer);
  const search = new ToolSearch();
  const plain = plainIndex(lists);
  const files = [];
  for (const name of QUERY_FILES) {
    const queries = queriesIn(name, lists);
    if (queries === undefined) continue;
    const answers = [];
    for (const { query, kind, expected } of queries) {
      const needs = await search.find(servers, query);
      const text = findAnswer({ needs, more: false, unlisted: [], servers: [], writing: PLAIN_WRITING });
      answers.push({
        ...{ query, kind, tokens: encode(text).length },
        place: place(shownIn(text), expected),
        plain: place(plain(query), expected),
      });
    }
    files.push({ name, answers });
  }
  return {
    servers: lists.length,
    tools: lists.reduce((sum, { tools }) => sum + tools.length, 0),
    rows: files.flatMap(({ name, answers }) => [
      ...['spoken', 'terse'].map((kind) =>
        summary(
          `${name}, ${kind}`,
          answers.filter((each) => each.kind === kind),
        ),
      ),
    ]),
    answers: files.flatMap(({ name, answers }) => answers.map((each) => ({ file: name, ...each }))),
    ...(timed
      ? await times(
          ToolSearch,
          lists,
          files.flatMap(({ answers }) => answers),
        )
      : {}),
  };
}

/** Counted from 1; Infinity if none is found. */
function place(paths, expected) {
  const at = paths.findIndex((path) => expected.includes(path));
  return at === -1 ? Infinity : at + 1;
}

/** The tools in a response, in order. */
function shownIn(text) {
  return text.split('\n').flatMap((line) => {
    if (line.startsWith('  ') || line.startsWith('#')) return [];
    if (line.startsWith('Also: ')) return line.slice('Also: '.length).split(', ');
    return [line.split('(')[0]];
  });
}

function summary(name, answers) {
  const share = (key, most) => answers.filter((each) => each[key] <= most).length / answers.length;
  const tokens = answers.map((each) => each.tokens);
  return {
    name,
    queries: answers.length,
    first: share('place', 1),
    five: share('place', 5),
    any: share('place', 1000),
    plainFirst: share('plain', 1),
    plainFive: share('plain', 5),
    tokens: quantile(tokens, 0.5),
    mostTokens: Math.max(...tokens),
  };
}

/** The results of a plain index of the same library: names, descriptions and parameters, boosted and fuzzy. */
function plainIndex(lists) {
  const index = new MiniSearch({ fields: ['name', 'description', 'parameters'] });
  const documents = lists.flatMap(({ name: server, tools }) =>
    tools.map(({ name, description, inputSchema }) => ({
      id: `${server}.${name}`,
      name: `${server} ${name}`,
      description: description ?? '',
      parameters: Object.keys(inputSchema?.properties ?? {}).join(' '),
    })),
  );
  index.addAll(documents);
  return (query) => index.search(query, { boost: { name: 3 }, fuzzy: 0.2, prefix: true }).map(({ id }) => id);
}

/** How long it takes to index and search thousands of tools: those of the real servers, repeated. */
async function times(ToolSearch, lists, answers) {
  const many = [];
  for (let count = 0, round = 0; count < MANY; round++)
    for (const { name, tools } of lists) {
      if (count >= MANY) break;
      many.push(searchedServer({ name: round === 0 ? name : `${name}-${round}`, tools }));
      count += tools.length;
    }
  const search = new ToolSearch();
  const indexMs = await cpuOf(() => search.find(many, 'warm up'));
  const taken = [];
  for (let round = 0; round < 4; round++)
    for (const { query } of answers) {
      const ms = await cpuOf(() => search.find(many, query));
      if (round > 0) taken.push(ms);
    }
  return { many: MANY, indexMs, p50: quantile(taken, 0.5), p99: quantile(taken, 0.99) };
}

/** The CPU time of some work, in milliseconds, so that other programs on a busy machine do not count. */
async function cpuOf(work) {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
