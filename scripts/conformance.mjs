/**
 * `npm run conformance`: the conformance suite of the protocol, against our own server directly and through the gateway,
 * and against the gateway as a client. The server behind the gateway is old, new or both, which is what it speaks: the
 * versions with a handshake, 2026-07-28, or all of them. What passes directly must pass through the gateway, whatever
 * the server speaks and however it is reached.
 *
 *   node scripts/conformance.mjs [--era 2025-11-25|2026-07-28] [--leg direct,gateway,client] [--only SCENARIO]
 *                                [--server old,new,both] [--wire stdio,http] [--url URL] [--trace FILE] [--json]
 *                                [--write]
 *
 * --era        one requirement set; default both. `legacy` and `modern` mean the same
 * --leg        which runs to make; default all three
 * --only       one scenario
 * --server     the servers behind the gateway; default all three
 * --wire       how the gateway reaches them; default both ways
 * --url        the address of a server to use instead of ours, for the direct run and behind the gateway
 * --trace      append the traffic between suite and gateway to a file
 * --json       print the whole report, every check included
 * --write      write the results of a full run to docs/data/conformance.json
 *
 * The exit code is 1 when a scored scenario fails, or one passes directly and not through the gateway.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './lib/bundle.mjs';
import { startDirect, startGateway } from './lib/conformance-subjects.mjs';
import {
  installSuite,
  NOT_RUN,
  requiredScenarios,
  runClientScenario,
  runServerScenarios,
} from './lib/conformance-suite.mjs';

const ERAS = { legacy: '2025-11-25', modern: '2026-07-28' };
/**
 * What a 2026-07-28 client does not get from a server with older versions only: a specific error for a capability that
 * the client lacks, names for the input that is requested, and tasks as defined in that version.
 */
const NOT_FROM_OLD = new Set([
  'server-stateless',
  'input-required-result-basic-elicitation',
  'tasks-lifecycle',
  'tasks-capability-negotiation',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
]);
/** The protocol versions of each server. */
const SERVERS = { old: 'legacy', new: 'modern', both: 'both' };
const CLIENT = join(ROOT, 'test/clients/conformance-client.mjs');
const DATA = join(ROOT, 'docs/data/conformance.json');

const { values: options } = parseArgs({
  options: {
    era: { type: 'string' },
    leg: { type: 'string', default: 'direct,gateway,client' },
    only: { type: 'string' },
    server: { type: 'string', default: 'old,new,both' },
    wire: { type: 'string', default: 'stdio,http' },
    url: { type: 'string' },
    trace: { type: 'string' },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});
const revisions = options.era === undefined ? Object.values(ERAS) : [ERAS[options.era] ?? options.era];
if (!revisions.every((revision) => Object.values(ERAS).includes(revision))) {
  console.error(`--era takes ${Object.entries(ERAS).flat().join(', ')}.`);
  process.exit(2);
}
const legs = several('leg', ['direct', 'gateway', 'client']);
/** The combinations of server and wire, by their name in the report. */
const cells =
  options.url === undefined
    ? several('server', Object.keys(SERVERS)).flatMap((server) =>
        several('wire', ['stdio', 'http']).map((wire) => ({
          name: `${server} over ${wire}`,
          era: SERVERS[server],
          wire,
        })),
      )
    : [{ name: 'gateway', wire: 'http', url: options.url }];
if (options.write && (options.era ?? options.only ?? options.url) !== undefined) partial();
if (options.write && (legs.length < 3 || cells.length < 6)) partial();
const say = (text) => console.error(text);
// Processes are ended on exit, and a signal alone does not trigger that.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const report = {
  date: new Date().toISOString().slice(0, 10),
  versions: {
    switchboard: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version,
    node: process.version,
    ...installSuite(say),
  },
  runs: [],
};
for (const revision of revisions) {
  const server = await serverRun(revision);
  if (server.rows.length > 0) report.runs.push(server);
  const client = await clientRun(revision);
  if (client.rows.length > 0) report.runs.push(client);
}
// No runs must not look like no failures.
if (report.runs.length === 0) {
  console.error(`No scenario of these runs is called ${options.only}.`);
  process.exit(2);
}
for (const run of report.runs)
  run.wrong = run.rows.filter((row) => isWrong(row, run)).map(({ scenario }) => scenario);
console.log(options.json ? JSON.stringify(report, null, 2) : plain(report));
if (options.write) writeFileSync(DATA, `${JSON.stringify(published(report), null, 2)}\n`);
process.exitCode = report.runs.some(({ wrong }) => wrong.length > 0) ? 1 : 0;

/** The values of an option that accepts a comma-separated list. */
function several(name, known) {
  const values = options[name].split(',');
  if (values.every((value) => known.includes(value))) return values;
  console.error(`--${name} takes ${known.join(', ')}, with commas between them.`);
  process.exit(2);
}

function partial() {
  console.error('--write needs a full run: leave out --era, --leg, --only, --server, --wire and --url.');
  process.exit(2);
}

async function serverRun(revision) {
  const rows = wanted(revision, 'server');
  const { url, trace } = options;
  const subjects = [
    ...(legs.includes('direct')
      ? [['direct', () => (url === undefined ? startDirect() : { url, stop: () => undefined })]]
      : []),
    ...(legs.includes('gateway')
      ? cells.map(({ name, ...cell }) => [name, () => startGateway({ ...cell, trace })])
      : []),
  ];
  for (const [leg, start] of rows.length === 0 ? [] : subjects) {
    say(`${revision}, server scenarios, ${leg}`);
    const run = async (only) => {
      const subject = await start();
      try {
        return await runServerScenarios({ revision, url: subject.url, only });
      } finally {
        await subject.stop();
      }
    };
    const results = await run(options.only);
    for (const row of rows) row[leg] = results.get(row.scenario) ?? NOT_RUN;
    if (!isBridgedToOld(revision, leg)) continue;
    // An old server learns the client's capabilities only once, but here every scenario has a client with other ones.
    for (const row of rows.filter(({ scored, [leg]: { pass } }) => scored && !pass))
      row[leg] = (await run(row.scenario)).get(row.scenario) ?? NOT_RUN;
  }
  return {
    revision,
    side: 'server',
    legs: subjects.map(([leg]) => leg),
    rows: subjects.length > 0 ? rows : [],
  };
}

async function clientRun(revision) {
  const rows = legs.includes('client') ? wanted(revision, 'client') : [];
  if (rows.length > 0) say(`${revision}, client scenarios`);
  // One at a time: some measure time, and all at once would start forty processes.
  for (const row of rows) {
    const command = `${process.execPath} ${CLIENT} ${revision}`;
    row.client = await runClientScenario({ revision, command, scenario: row.scenario });
  }
  return { revision, side: 'client', legs: ['client'], rows };
}

function wanted(revision, side) {
  const rows = requiredScenarios(revision, side);
  return options.only === undefined ? rows : rows.filter(({ scenario }) => scenario === options.only);
}

/**
 * A scored scenario that fails, or one that passes only without the gateway. For other people's servers, only the
 * latter counts.
 */
function isWrong(row, { revision, legs: run }) {
  const isExpected = (leg) => isBridgedToOld(revision, leg) && NOT_FROM_OLD.has(row.scenario);
  const fails = run.some((leg) => row[leg].pass === false && !isExpected(leg));
  const lost = row.direct?.pass === true && fails;
  return lost || (row.scored && fails && options.url === undefined);
}

/** Whether a run connects a 2026-07-28 client to a server with older versions only. */
function isBridgedToOld(revision, leg) {
  return revision === ERAS.modern && leg.startsWith('old ');
}

/** Checks that succeed directly but not through the gateway, in scenarios that pass both ways. */
function weaker({ direct, ...row }, leg) {
  if (!direct?.pass || !row[leg]?.pass) return [];
  const { checks } = row[leg];
  return Object.entries(direct.checks)
    .filter(([check, status]) => status === 'SUCCESS' && checks[check] !== 'SUCCESS')
    .map(([check]) => `${check.split(' ')[0]} is ${checks[check] ?? 'not reached'}`);
}

function cell(result) {
  if (result === undefined) return '–';
  const of = result.passed + result.failed;
  const warned = result.warnings > 0 ? ` (${result.warnings} warned)` : '';
  return `${result.pass ? 'pass' : 'FAIL'} ${result.passed}/${of}${warned}`;
}

/**
 * What a row shows besides its counts: weaker checks, and why it fails. What several runs have in common is listed
 * once.
 */
function findings(row, run) {
  const found = new Map();
  for (const leg of run) {
    const failures = row[leg].pass ? [] : row[leg].failures;
    for (const each of [...weaker(row, leg), ...failures.map((failure) => failure.replace(/\s+/g, ' '))])
      found.set(each, [...(found.get(each) ?? []), leg]);
  }
  const others = run.filter((leg) => leg !== 'direct').length;
  return [...found].map(([each, where]) => (where.length >= others ? each : `${where.join(', ')}: ${each}`));
}

function notes(row, run) {
  return [...(row.scored ? [] : [`not scored: ${row.reason}`]), ...findings(row, run)].join('; ');
}

/** How many scenarios of each leg passed; without legs that did not run. */
function totals({ rows, legs: columns }) {
  const counted = columns.map((leg) => {
    const ran = rows.filter((row) => row[leg] !== undefined);
    const count = (list) => ({ passed: list.filter((row) => row[leg].pass).length, of: list.length });
    return [
      leg,
      { scored: count(ran.filter((row) => row.scored)), others: count(ran.filter((row) => !row.scored)) },
    ];
  });
  return Object.fromEntries(counted);
}

function sums(run) {
  return Object.entries(totals(run)).map(([leg, { scored, others }]) => {
    if (scored.of + others.of === 0) return `${leg}: not run`;
    const text = ({ passed, of }) => `${passed} of ${of}`;
    return `${leg}: ${text(scored)} scored, ${text(others)} others`;
  });
}

function plain({ versions, date, runs }) {
  const lines = [
    `Switchboard ${versions.switchboard} on Node ${versions.node}, suite ${versions.suite}, ${date}`,
  ];
  for (const run of runs) {
    lines.push('', `${run.revision}, ${run.side} scenarios: ${run.legs.join(', ')}`);
    for (const row of run.rows) {
      const results = run.legs.map((leg) => cell(row[leg]).padEnd(24)).join('');
      lines.push(`  ${row.scenario.padEnd(48)}${results}${cut(notes(row, run.legs), 160)}`.trimEnd());
    }
    lines.push(`  ${sums(run).join('; ')}`);
    if (run.side === 'server') lines.push(...differences(run).map((line) => `  ${line}`));
  }
  return lines.join('\n');
}

/** How each run through the gateway differs from the direct one. */
function differences({ rows, legs: run }) {
  if (!run.includes('direct')) return ['There is no direct run to compare with.'];
  const only = (one, other) =>
    rows.filter((row) => row[one].pass && !row[other].pass).map(({ scenario }) => scenario);
  return run.slice(1).map((leg) => {
    const [lost, won] = [only('direct', leg), only(leg, 'direct')];
    if (lost.length + won.length === 0) return `${leg}: the pass set is that of the direct run.`;
    return `${leg}: only directly ${lost.join(', ') || 'none'}; only through the gateway ${won.join(', ') || 'none'}.`;
  });
}

/** The content of `docs/data/conformance.json`: one short line of text per result, without the individual checks. */
function published({ date, versions, runs }) {
  return {
    date,
    versions,
    runs: runs.map((run) => ({
      revision: run.revision,
      side: run.side,
      totals: totals(run),
      rows: run.rows.map((row) => {
        const found = findings(row, run.legs);
        return {
          scenario: row.scenario,
          scored: row.scored,
          ...(row.scored ? {} : { reason: row.reason }),
          ...Object.fromEntries(run.legs.map((leg) => [leg, cell(row[leg])])),
          ...(found.length === 0 ? {} : { notes: cut(found.join('; '), 300) }),
        };
      }),
    })),
  };
}

function cut(text, length) {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
