/**
 * node bench/run.mjs [--quick] [--only startup|scan|call|eras|list|memory|http|yard|language|tokens|search|tasks|trust] [--json] [--out FILE] [--entry FILE] [--beside FILE] [--tools FILE]
 *
 * Measures the built program and prints tables; with --beside, the eras of another build in turns with it. Nothing is written but with --out; nothing is left running.
 * The search installs real servers from npm, once; --tools writes what they say of their tools to a file.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { measureCalls } from './call.mjs';
import { measureEras } from './eras.mjs';
import { measureHttp } from './http.mjs';
import { measureLanguage } from './language.mjs';
import { measureLists } from './list.mjs';
import { measureMemory } from './memory.mjs';
import { measureScan } from './scan.mjs';
import { measureSearch } from './search.mjs';
import { measureStartup } from './startup.mjs';
import { table } from './lib/table.mjs';
import { measureTasks } from './tasks.mjs';
import { measureTokens } from './tokens.mjs';
import { measureTrust } from './trust.mjs';
import { measureYard } from './yard.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
    beside: { type: 'string' },
    tools: { type: 'string' },
    entry: { type: 'string', default: fileURLToPath(new URL('../dist/index.js', import.meta.url)) },
  },
});
const parts = [
  'startup',
  'scan',
  'call',
  'eras',
  'list',
  'memory',
  'http',
  'yard',
  'language',
  'tokens',
  'search',
  'tasks',
  'trust',
];
if (options.only !== undefined && !parts.includes(options.only)) {
  console.error(`--only takes one of ${parts.join(', ')}.`);
  process.exit(2);
}
const wanted = (part) => options.only === undefined || options.only === part;
const { quick } = options;
const entry = resolve(options.entry);
const say = (text) => {
  if (!options.json) console.log(text);
};

const results = { node: process.version, cores: cpus().length, date: new Date().toISOString().slice(0, 10) };
say(`Node ${results.node}, ${results.cores} cores\n`);

if (wanted('startup')) {
  results.startup = await measureStartup({ entry, rounds: quick ? 5 : 30 });
  say(startupTable(results.startup));
}
if (wanted('scan')) {
  results.scan = await measureScan({ rounds: quick ? 5 : 25 });
  say(scanTable(results.scan));
}
if (wanted('call')) {
  results.call = await measureCalls({ entry, rounds: quick ? 5 : 20 });
  say(callTables(results.call));
}
if (wanted('eras')) {
  const beside = options.beside === undefined ? undefined : resolve(options.beside);
  results.eras = await measureEras({ entry, beside, rounds: quick ? 5 : 25, warmUp: quick ? 500 : 3000 });
  say(erasTable(results.eras));
  if (beside !== undefined) say(besideTable(results.eras));
}
if (wanted('list')) {
  results.list = await measureLists({ entry, rounds: quick ? 3 : 15 });
  say(listTable(results.list));
}
if (wanted('memory') && process.platform !== 'linux') say('Memory: read from /proc, so only on Linux.\n');
else if (wanted('memory')) {
  results.memory = await measureMemory({ entry, rounds: quick ? 1 : 5, settleMs: quick ? 500 : 1500 });
  say(memoryTable(results.memory));
}
if (wanted('http')) {
  results.http = await measureHttp({ entry, rounds: quick ? 3 : 12, settleMs: quick ? 500 : 2000 });
  say(httpTable(results.http));
}
if (wanted('yard')) {
  const yard = fileURLToPath(new URL('switchyard.js', pathToFileURL(entry)));
  results.yard = await measureYard({ entry: yard, rounds: quick ? 3 : 15, reads: quick ? 10 : 40 });
  say(yardTable(results.yard));
}
if (wanted('language')) {
  results.language = await measureLanguage({ entry });
  say(languageTable(results.language));
}
if (wanted('tokens')) {
  results.tokens = await measureTokens({ entry });
  say(tokensTable(results.tokens));
}
if (wanted('search')) {
  results.search = await measureSearch({ say, toolsFile: options.tools });
  say(searchTables(results.search));
}
if (wanted('tasks')) {
  results.tasks = await measureTasks({ entry });
  say(tasksTables(results.tasks));
}
if (wanted('trust')) {
  results.trust = await measureTrust({ entry, rounds: quick ? 5 : 20 });
  say(trustTables(results.trust));
}
const json = JSON.stringify(results, undefined, 2);
if (options.json) console.log(json);
if (options.out !== undefined) writeFileSync(options.out, `${json}\n`);
process.exit();

function startupTable(rows) {
  return table(
    'Start-up: spawn to tools/list answered, wall time, unpinned, median',
    ['', 'ms', 'fastest', '× node -e 0', 'target'],
    rows.map(({ name, ms, fastest, ratio, target }) => [
      name,
      ms.toFixed(0),
      fastest.toFixed(0),
      ratio.toFixed(2),
      verdict(ratio, target),
    ]),
  );
}

function scanTable(rows) {
  return table(
    'Checking a message in ms per MB, in this process, median of rounds',
    ['', 'check', 'least round', 'JSON.parse', 'check to that'],
    rows.map(({ name, bytes, scan, scanLeast, parse }) => [
      `${name}, ${sizeOf(bytes)}`,
      scan.toFixed(2),
      scanLeast.toFixed(2),
      parse.toFixed(2),
      times(scan / parse),
    ]),
  );
}

function callTables({ core, cells }) {
  const where = core === undefined ? 'unpinned' : `all on core ${core}`;
  const title = ({ text, bytes, inFlight, what }) =>
    `${sizeOf(bytes)} ${text}, ${inFlight} in flight, ${what}`;
  const cpu = table(
    `stdio: gateway CPU per call in µs, ${where}, median of rounds`,
    ['', 'relay', 'gateway', 'ratio', 'quartiles', 'least rounds', 'target'],
    cells.map((cell) => [title(cell), ...cpuColumns(cell)]),
  );
  const time = table(
    `Latency in µs, p50 / p99, and calls a second, ${where}`,
    ['', 'relay', 'gateway', 'calls/s: relay', 'gateway'],
    cells.map((cell) => [
      title(cell),
      ...[cell.relay, cell.gateway].map(({ p50, p99 }) => `${figure(p50)} / ${figure(p99)}`),
      ...[cell.relay, cell.gateway].map(({ rate }) => figure(rate)),
    ]),
  );
  return `${cpu}\n${time}`;
}

function trustTables({ core, cells }) {
  return cells
    .map(({ inFlight, rows }) =>
      table(
        `Gateway CPU per call in µs by setting, 100 B, ${inFlight} in flight, ${core === undefined ? 'unpinned' : `all on core ${core}`}`,
        ['', 'median', 'least round', 'least to none', 'p50'],
        rows.map(({ name, cpu, cpuLeast, p50 }) => [
          name,
          figure(cpu),
          figure(cpuLeast),
          times(cpuLeast / rows[1].cpuLeast),
          figure(p50),
        ]),
      ),
    )
    .join('\n');
}

function cpuColumns({ relay, gateway, ratio, least, spread, target }) {
  return [
    figure(relay.cpu),
    figure(gateway.cpu),
    times(ratio),
    spread.map(times).join('–'),
    times(least),
    // Both must hold: the fastest round has no interruption in it, but no garbage collection either.
    verdict(Math.max(ratio, least), target),
  ];
}

function erasTable({ core, cells }) {
  return table(
    `Gateway CPU per call in µs between peers of one era, ${core === undefined ? 'unpinned' : `all on core ${core}`}, median of rounds`,
    [
      '',
      'handshake: relay',
      'gateway',
      'ratio',
      '2026-07-28: relay',
      'gateway',
      'ratio',
      'handshake, as many bytes',
      '2026-07-28 to that',
      'equal ones apart',
    ],
    cells.map(({ bytes, inFlight, legacyRelay, legacy, stamped, modernRelay, modern, apart }) => [
      `${sizeOf(bytes)}, ${inFlight} in flight, suite`,
      figure(legacyRelay),
      figure(legacy),
      times(legacy / legacyRelay),
      figure(modernRelay),
      figure(modern),
      times(modern / modernRelay),
      figure(stamped),
      times(modern / stamped),
      times(apart),
    ]),
  );
}

function besideTable({ cells }) {
  return table(
    'The same beside another build, taking turns with it',
    ['', 'handshake: beside', 'to that', 'as many bytes: beside', 'handshake to that', '2026-07-28 to that'],
    cells.map(({ bytes, inFlight, legacy, stamped, modern, before }) => [
      `${sizeOf(bytes)}, ${inFlight} in flight, suite`,
      figure(before.legacy),
      times(legacy / before.legacy),
      figure(before.stamped),
      times(stamped / before.stamped),
      times(modern / before.stamped),
    ]),
  );
}

function listTable({ tools, bytes, rows }) {
  return table(
    `tools/list with ${tools} tools, ${Math.round(bytes / 1000)} kB, median of rounds`,
    ['', 'first list, ms', 'CPU per list, ms', 'answered in, ms', 'target'],
    rows.map(({ name, first, cpu, ms, target }) => [
      name,
      first.toFixed(0),
      cpu === undefined ? '–' : cpu.toFixed(2),
      ms.toFixed(2),
      verdict(cpu, target),
    ]),
  );
}

function yardTable({ services, own, up, added, down, node, git, brief, ratio, bytes }) {
  const ms = (value) => value.toFixed(0);
  return table(
    `Switchyard with ${services} services, in ms, medians`,
    ['', 'ms', 'target'],
    [
      ['the services by themselves, until all listen', ms(own), ''],
      ['switchyard up, until all are ready', ms(up), ''],
      ['what that adds', ms(added), verdict(added, 200)],
      ['switchyard down', ms(down), verdict(down, 1000)],
      ['node -e 0', ms(node), ''],
      ['git config and git status', ms(git), ''],
      ['switchyard brief', ms(brief), ''],
      ['× node -e 0, without git', times(ratio), verdict(ratio, 2)],
      ['bytes of brief --json', String(bytes), verdict(bytes, 4096)],
    ],
  );
}

function languageTable({ requests, flat, suite, wrapper, small }) {
  const row = (name, { definitions, learning, requests: asked, all }) =>
    [name, definitions, learning, asked, all].map(String);
  const host = table(
    `Tokens of the host's model for ${requests} requests to server-memory (o200k)`,
    ['', 'definitions, every conversation', 'learning the tools', 'requests and results', 'all'],
    [row('flat', flat), row('suite', suite), row('natural language', wrapper)],
  );
  const { turns, read, written } = small;
  const behind = `The small model behind natural language, asked ${turns} times: ${read} tokens read, ${written} written.\n`;
  return `${host}\n${behind}`;
}

function tokensTable({ servers, tools, rows }) {
  return table(
    `Tokens that a model reads and writes with ${servers} servers and ${tools} tools (o200k)`,
    ['', 'flat', 'suites', 'saved'],
    rows.map(({ name, flat, suite, savedPercent }) => [
      name,
      String(flat),
      String(suite),
      `${savedPercent}%`,
    ]),
  );
}

function tasksTables({ servers, tools, start, rows, all }) {
  const exposures = Object.keys(start);
  const of = (key) => (by) => exposures.map((exposure) => String(by[exposure][key]));
  const one = (title, key) =>
    table(
      title,
      ['', ...exposures],
      [...rows.map(({ name, by }) => [name, ...of(key)(by)]), ['all', ...of(key)(all)]],
    );
  return [
    `${servers} servers, ${tools} tools. Before the first call: ${exposures.map((each) => `${each} ${start[each]}`).join(', ')} tokens (o200k).\n`,
    one(
      'Tokens of each conversation, everything counted once: definitions, discovery, calls, results',
      'once',
    ),
    one('Tokens that the model reads, with the whole conversation sent in each turn', 'resent'),
    one('Tokens that the model writes, without its answer', 'written'),
    one('Turns of the model, with the one that gives the answer', 'turns'),
    one('Time in the gateway and the servers, in ms', 'ms'),
  ].join('\n');
}

function searchTables({ servers, tools, rows, many, indexMs, p50, p99 }) {
  const percent = (part) => `${(part * 100).toFixed(0)} %`;
  const found = table(
    `find_tool over ${servers} servers and ${tools} tools: how often the right tool comes first, or among the first five`,
    ['queries', '', 'hit@1', 'hit@5', 'at all', 'plain index: hit@1', 'hit@5', 'tokens, p50', 'most'],
    rows.map((row) => [
      row.name,
      String(row.queries),
      ...[row.first, row.five, row.any, row.plainFirst, row.plainFive].map(percent),
      String(row.tokens),
      String(row.mostTokens),
    ]),
  );
  const speed = table(
    `The same over ${many} tools, in ms of CPU time`,
    ['', 'ms', 'target'],
    [
      ['the index, the first time', figure(indexMs), verdict(indexMs, 1000)],
      ['a search, p50', figure(p50), ''],
      ['a search, p99', figure(p99), verdict(p99, 5)],
    ],
  );
  return `${found}\n${speed}`;
}

function memoryTable(rows) {
  const mb = (bytes) => (bytes === undefined ? '' : (bytes / 1024 / 1024).toFixed(1));
  return table(
    'Memory at rest in MB',
    ['', 'RSS', 'PSS', 'target'],
    rows.map(({ name, rss, pss, target }) => [
      name,
      mb(rss),
      mb(pss),
      target === undefined ? '' : `${rss <= target ? '✓' : '✗'} ≤ ${mb(target)}`,
    ]),
  );
}

function httpTable({ cells, idle }) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`;
  const text = table(
    'HTTP in, stdio out: gateway CPU per call in µs beside a bare node:http relay, median of rounds',
    ['', 'relay', 'gateway', 'ratio', 'quartiles', 'least rounds', 'target', 'ms: relay', 'gateway'],
    cells.map((cell) => [
      `${sizeOf(cell.bytes)} ${cell.text}, ${cell.inFlight} clients, ${cell.what}`,
      ...cpuColumns(cell),
      ms(cell.relay),
      ms(cell.gateway),
    ]),
  );
  const each = idle.each === undefined ? '–' : `${(idle.each / 1024).toFixed(0)} kB`;
  return `${text}\nAn idle session: ${each} (mean of ${idle.sessions}, ${idle.servers} servers configured, none started)\n`;
}

function verdict(ratio, target) {
  return target === undefined || Number.isNaN(ratio) ? '' : `${ratio <= target ? '✓' : '✗'} ≤ ${target}`;
}

function times(ratio) {
  return Number.isNaN(ratio) ? '–' : ratio.toFixed(2);
}

function sizeOf(bytes) {
  if (bytes >= 1e6) return `${bytes / 1e6} MB`;
  return bytes >= 1e3 ? `${bytes / 1e3} kB` : `${bytes} B`;
}

function figure(value) {
  if (value === undefined) return '–';
  return value < 100 ? value.toFixed(1) : value.toFixed(0);
}
