/**
 * `npm run conformance`: the conformance suite of the protocol, against our own server directly and through the gateway,
 * and against the gateway as a client. What passes directly must pass through the gateway.
 *
 *   node scripts/conformance.mjs [--era 2025-11-25|2026-07-28] [--leg direct,gateway,client] [--only SCENARIO]
 *                                [--child-era legacy|modern|both] [--trace FILE] [--json] [--write]
 *
 * --era        one requirement set; default both. `legacy` and `modern` mean the same
 * --leg        which runs to make; default all three
 * --only       one scenario
 * --child-era  which era the server behind the gateway speaks; default that of the requirement set
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
const CLIENT = join(ROOT, 'test/clients/conformance-client.mjs');
const DATA = join(ROOT, 'docs/data/conformance.json');

const { values: options } = parseArgs({
  options: {
    era: { type: 'string' },
    leg: { type: 'string', default: 'direct,gateway,client' },
    only: { type: 'string' },
    'child-era': { type: 'string' },
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
const legs = options.leg.split(',');
if (!legs.every((leg) => ['direct', 'gateway', 'client'].includes(leg))) {
  console.error('--leg takes direct, gateway and client, with commas between them.');
  process.exit(2);
}
const selection = options.era ?? options.only ?? options['child-era'];
if (options.write && (selection !== undefined || legs.length < 3)) {
  console.error('--write needs a full run: leave out --era, --leg, --only and --child-era.');
  process.exit(2);
}
const say = (text) => console.error(text);
// What was started is ended on exit, which a signal alone does not bring about.
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
// Nothing that ran must not look like nothing that failed.
if (report.runs.length === 0) {
  console.error(`No scenario of these runs is called ${options.only}.`);
  process.exit(2);
}
for (const run of report.runs) run.wrong = run.rows.filter(isWrong).map(({ scenario }) => scenario);
console.log(options.json ? JSON.stringify(report, null, 2) : plain(report));
if (options.write) writeFileSync(DATA, `${JSON.stringify(published(report), null, 2)}\n`);
process.exitCode = report.runs.some(({ wrong }) => wrong.length > 0) ? 1 : 0;

async function serverRun(revision) {
  const rows = wanted(revision, 'server');
  const era = options['child-era'] ?? Object.keys(ERAS).find((each) => ERAS[each] === revision);
  const subjects = { direct: startDirect, gateway: () => startGateway({ era, trace: options.trace }) };
  for (const leg of ['direct', 'gateway']) {
    if (!legs.includes(leg) || rows.length === 0) continue;
    say(`${revision}, server scenarios, ${leg}`);
    const subject = await subjects[leg]();
    try {
      const results = await runServerScenarios({ revision, url: subject.url, only: options.only });
      for (const row of rows) row[leg] = results.get(row.scenario) ?? NOT_RUN;
    } finally {
      await subject.stop();
    }
  }
  return {
    revision,
    side: 'server',
    legs: ['direct', 'gateway'],
    rows: rows.filter((row) => row.direct || row.gateway),
  };
}

async function clientRun(revision) {
  const rows = legs.includes('client') ? wanted(revision, 'client') : [];
  if (rows.length > 0) say(`${revision}, client scenarios`);
  // One after the other: some measure time, and all at once would start forty processes.
  for (const row of rows) {
    const command = `${process.execPath} ${CLIENT}`;
    row.gateway = await runClientScenario({ revision, command, scenario: row.scenario });
  }
  return { revision, side: 'client', legs: ['gateway'], rows };
}

function wanted(revision, side) {
  const rows = requiredScenarios(revision, side);
  return options.only === undefined ? rows : rows.filter(({ scenario }) => scenario === options.only);
}

/** A scored scenario that fails, or one that the gateway loses. */
function isWrong({ scored, direct, gateway }) {
  const lost = direct?.pass === true && gateway?.pass === false;
  return lost || (scored && (direct?.pass === false || gateway?.pass === false));
}

/** Checks that succeed directly and not through the gateway, in scenarios that pass both ways. */
function weaker({ direct, gateway }) {
  if (!direct?.pass || !gateway?.pass) return [];
  const lost = Object.entries(direct.checks).filter(
    ([check, status]) => status === 'SUCCESS' && gateway.checks[check] !== 'SUCCESS',
  );
  return lost.map(([check]) => `${check.split(' ')[0]} is ${gateway.checks[check] ?? 'not reached'}`);
}

function cell(result) {
  if (result === undefined) return '–';
  const of = result.passed + result.failed;
  const warned = result.warnings > 0 ? ` (${result.warnings} warned)` : '';
  return `${result.pass ? 'pass' : 'FAIL'} ${result.passed}/${of}${warned}`;
}

/** What is worth knowing about a row besides its counts: weaker checks, and why it fails. */
function findings(row) {
  const failures = [row.direct, row.gateway]
    .filter((each) => each?.pass === false)
    .flatMap(({ failures }) => failures);
  return [...weaker(row), ...new Set(failures.map((failure) => failure.replace(/\s+/g, ' ')))];
}

function notes(row) {
  return [...(row.scored ? [] : [`not scored: ${row.reason}`]), ...findings(row)].join('; ');
}

/** How many scenarios of each leg passed, by leg; a leg that did not run has none. */
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
    lines.push('', `${run.revision}, ${run.side} scenarios`);
    for (const row of run.rows) {
      const cells = run.legs.map((leg) => cell(row[leg]).padEnd(24)).join('');
      lines.push(`  ${row.scenario.padEnd(48)}${cells}${cut(notes(row), 160)}`.trimEnd());
    }
    lines.push(`  ${sums(run).join('; ')}`);
    if (run.side === 'server') lines.push(`  ${difference(run)}`);
  }
  return lines.join('\n');
}

function difference({ rows }) {
  if (!rows.every(({ direct, gateway }) => direct && gateway))
    return 'The two pass sets were not both taken.';
  const only = (one, other) =>
    rows.filter((row) => row[one].pass && !row[other].pass).map(({ scenario }) => scenario);
  const [lost, won] = [only('direct', 'gateway'), only('gateway', 'direct')];
  if (lost.length + won.length === 0) return 'The two pass sets are equal.';
  return `Only directly: ${lost.join(', ') || 'none'}. Only through the gateway: ${won.join(', ') || 'none'}.`;
}

/** What `docs/data/conformance.json` holds: one short line of text per result, without the single checks. */
function published({ date, versions, runs }) {
  return {
    date,
    versions,
    runs: runs.map((run) => ({
      revision: run.revision,
      side: run.side,
      totals: totals(run),
      rows: run.rows.map((row) => {
        const found = findings(row);
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
