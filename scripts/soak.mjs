/**
 * `npm run test:soak -- --minutes N`: a gateway over HTTP and two over stdio under constant load, while clients of all
 * protocol versions come and go, tokens are revoked, servers are killed and configurations change. Servers are shared,
 * for one client, for one call, or remote. Fails if memory, open files or processes grow. Linux only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { compareGrowth, growthPerHour } from './lib/growth.mjs';
import { MODERN } from './lib/soak-clients.mjs';
import { closeRemotes, HttpSoakGateway, StdioSoakGateway } from './lib/soak-gateway.mjs';
import { SoakLoad } from './lib/soak-load.mjs';

const HELP = `Usage: npm run test:soak -- [--minutes N] [--warm-up N] [--rate N] [--json]

  --minutes N   how long is measured (default 10)
  --warm-up N   minutes before that: V8 takes its time to find the size of its heap (default 15)
  --rate N      clients per second (default 25)
  --json        print the outcome as JSON, and nothing else

Memory may grow by 1 MB per hour. Twice a minute, every gateway collects its garbage; what the
process and V8's heap hold then is measured. Growth is a slope and its standard error: memory
grows if the slope less two errors is above 1 MB per hour, and does not if the slope plus two
errors is below. In between, the run was too short or too noisy to tell.
Open files and processes have to be back where they were, once all clients are gone.

Exit code: 0 nothing grows; 1 something does, or a client was served wrongly; 2 wrong options;
3 the run cannot tell whether memory grows.`;

/** In MB. */
const MOST_PER_HOUR = 1;
/** Calls to a server that was just killed may fail. */
const MOST_UNANSWERED = 0.05;
/** How long the remains of clients may take to end, in milliseconds. */
const REST_MS = 60_000;
const ROW_MS = 30_000;
const COLLECT_MS = 30_000;
/** After a rest, the heap is small for a moment, so nothing is measured for this long, in milliseconds. */
const AFTER_REST_MS = 60_000;
/** What must not grow; the rest is printed to help find the cause of growth. */
const JUDGED = { rss: 'memory', heap: 'the heap' };
const REPORTED = { outside: 'outside the heap', raw: 'with garbage' };

const { minutes, warmUp, rate, json } = readOptions();
const say = (line) => json || console.log(line);

const gateways = {
  http: new HttpSoakGateway(),
  'stdio 2025-11-25': new StdioSoakGateway('2025-11-25'),
  [`stdio ${MODERN}`]: new StdioSoakGateway(MODERN),
};
const each = (work) =>
  Promise.all(
    Object.entries(gateways).map(async ([name, gateway]) => [name, await work(gateway, name)]),
  ).then(Object.fromEntries);
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
await each((gateway) => gateway.ready());

const load = new SoakLoad(gateways, rate);
say(`${minutes} minutes at ${rate} clients per second, after a warm-up of ${warmUp} minutes`);
say('');
const COLUMNS = Object.keys(gateways).flatMap((name) => [`${name}: MB`, 'files', 'processes']);
const row = (cells) => say(`| ${cells.join(' | ')} |`);
row([' elapsed', 'clients', ...COLUMNS]);
row(['-------:', '------:', ...COLUMNS.map((name) => ':'.padStart(name.length, '-'))]);
const began = performance.now();
await load.run(() => sleep(warmUp * 60_000));
const before = await rest();
const leftBefore = await each((gateway) => gateway.collect());
const samples = await load.run(async () => {
  await sleep(AFTER_REST_MS);
  return watch(minutes * 60_000);
});
const after = await rest(before);
const leftAfter = await each((gateway) => gateway.collect());
const commandsAfter = await each((gateway) => gateway.processes().map(({ command }) => command));
const left = await each((gateway) => gateway.stop());
await closeRemotes();

const growth = Object.fromEntries(
  Object.entries(samples).map(([name, series]) => [
    name,
    Object.fromEntries(Object.entries(series).map(([what, points]) => [what, growthPerHour(points)])),
  ]),
);
const verdicts = Object.keys(gateways).flatMap((name) =>
  Object.entries(JUDGED).map(([what, words]) => ({
    verdict: compareGrowth(growth[name][what], MOST_PER_HOUR),
    text: `${name}: ${words}: ${perHour(growth[name][what])}`,
  })),
);
const textsOf = (wanted) => verdicts.filter(({ verdict }) => verdict === wanted).map(({ text }) => text);
const unclear = textsOf('not shown');
const problems = [
  ...load.faults,
  ...(load.unanswered > load.visits * MOST_UNANSWERED ? [`${load.unanswered} calls were not answered`] : []),
  ...textsOf('grows'),
  ...Object.keys(gateways).flatMap((name) => [
    ...Object.keys(after[name])
      .filter((what) => after[name][what] > before[name][what])
      .map((what) => `${name}: ${before[name][what]} ${what} before, ${after[name][what]} after`),
    ...(after[name].processes > before[name].processes
      ? [`${name}: the processes after: ${commandsAfter[name].join('; ')}`]
      : []),
    ...left[name].map((what) => `${name}: left after the end: ${what}`),
  ]),
];
report();

/** Measures memory for this long; returns the samples by gateway and kind of memory. */
async function watch(ms) {
  const seen = await each(() => ({ rss: [], heap: [], outside: [], raw: [] }));
  const until = performance.now() + ms;
  let nextCollection = 0;
  for (let nextRow = 0; performance.now() < until; await sleep(1000)) {
    const at = performance.now();
    const now = await each((gateway) => gateway.sample());
    for (const name of Object.keys(gateways)) seen[name].raw.push({ at, value: now[name].rss });
    if (at >= nextCollection) {
      nextCollection = at + COLLECT_MS;
      const left = await each((gateway) => gateway.collect());
      for (const name of Object.keys(gateways)) {
        for (const [what, value] of Object.entries(left[name])) seen[name][what].push({ at, value });
      }
    }
    if (at < nextRow) continue;
    nextRow = at + ROW_MS;
    const cells = Object.entries(gateways).flatMap(([name, gateway]) => [
      now[name].rss.toFixed(1),
      now[name].files,
      gateway.processes().length,
    ]);
    const elapsed = `${((at - began) / 60_000).toFixed(1)} min`;
    row([
      elapsed.padStart(8),
      String(load.visits).padStart(7),
      ...cells.map((cell, index) => String(cell).padStart(COLUMNS[index].length)),
    ]);
  }
  return seen;
}

/**
 * The open files and processes once all clients have left and every server is running: as soon as they no longer
 * change, or are at most `wanted`.
 */
async function rest(wanted) {
  await load.settle();
  const look = () =>
    each((gateway) => ({ files: gateway.sample().files, processes: gateway.processes().length }));
  const until = performance.now() + REST_MS;
  let seen = await look();
  for (let same = 0; same < 10 && performance.now() < until;) {
    await sleep(1000);
    const now = await look();
    same = JSON.stringify(now) === JSON.stringify(seen) ? same + 1 : 0;
    seen = now;
    const isLess = Object.keys(now).every((name) =>
      Object.keys(now[name]).every((what) => now[name][what] <= wanted?.[name][what]),
    );
    if (isLess) break;
  }
  return seen;
}

function report() {
  const outcome = {
    ...{ minutes, rate, visits: load.visits, unanswered: load.unanswered },
    ...{ growthPerHour: growth, leftBefore, leftAfter, before, after, unclear, problems },
  };
  if (json) console.log(JSON.stringify(outcome, null, 2));
  say(`\n${load.visits} clients, ${load.unanswered} calls without an answer from a killed server`);
  say('MB per hour, with the standard error, after each collection of garbage unless said otherwise:');
  for (const [name, grown] of Object.entries(growth)) {
    const slopes = Object.entries({ ...JUDGED, ...REPORTED }).map(
      ([what, words]) => `${words} ${perHour(grown[what])}`,
    );
    const { files, processes } = after[name];
    const [first, last] = [leftBefore, leftAfter].map((at) => at[name].heap.toFixed(1));
    say(
      `${name}: ${slopes.join(', ')}; at rest ${first}, then ${last} MB of heap, ${files} files, ${processes} processes`,
    );
  }
  for (const text of unclear) say(`NOT SHOWN ${text}: a longer run, or a quieter machine, can tell`);
  for (const problem of problems.slice(0, 20)) say(`FAILED ${problem}`);
  process.exitCode = problems.length > 0 ? 1 : unclear.length > 0 ? 3 : 0;
}

function perHour({ slope, error }) {
  return `${slope.toFixed(2)} ± ${Number.isFinite(error) ? error.toFixed(2) : 'unknown'}`;
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '10' },
      'warm-up': { type: 'string', default: '15' },
      rate: { type: 'string', default: '25' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const [minutes, warmUp, rate] = [values.minutes, values['warm-up'], values.rate].map(Number);
  if (!(minutes > 0 && warmUp >= 0 && rate > 0)) {
    console.error(HELP);
    process.exit(2);
  }
  return { minutes, warmUp, rate, json: values.json };
}
