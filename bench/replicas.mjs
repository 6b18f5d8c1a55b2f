/**
 * node bench/replicas.mjs [--clients 60] [--seconds 10] [--replicas 3] [--pause 0] [--only throughput|faults] [--json] [--entry FILE]
 *
 * Gateways that share a redis-server behind haproxy, round robin, with clients of both eras. First without trouble, one
 * gateway beside several; then while gateways are killed, restarted one after the other, and the store ends and forgets
 * everything. Exits 1 if an answer reached the wrong client, a call ran twice, an answer never came, or something is left.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ReplicaClients } from './lib/replica-clients.mjs';
import { MISSING, ReplicaMachines } from './lib/replica-machines.mjs';
import { quantile } from './lib/stats.mjs';
import { table } from './lib/table.mjs';

const { values: options } = parseArgs({
  options: {
    clients: { type: 'string', default: '60' },
    seconds: { type: 'string', default: '10' },
    replicas: { type: 'string', default: '3' },
    pause: { type: 'string', default: '0' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    entry: { type: 'string', default: fileURLToPath(new URL('../dist/index.js', import.meta.url)) },
  },
});
const [clients, seconds, replicas, pauseMs] = [
  options.clients,
  options.seconds,
  options.replicas,
  options.pause,
].map(Number);
/** The first calls of each client are not counted: servers start, and code is compiled. */
const WARM_CALLS = 50;
/** How long clients have to recover from a fault before the next one, in milliseconds. */
const CALM_MS = 5000;
const STORE_AWAY_MS = 3000;

if (MISSING !== undefined) {
  console.error(`Skipped: ${MISSING}. On Debian: apt-get install redis-server haproxy`);
  process.exit(options.json ? 1 : 0);
}

const results = {
  clients,
  throughput: [],
  faults: [],
};
if (options.only !== 'faults')
  for (const count of [...new Set([1, replicas])]) results.throughput.push(await throughput(count));
if (options.only !== 'throughput') await faults();
if (options.json) console.log(JSON.stringify(results, null, 2));
else print();
process.exit(isSound() ? 0 : 1);

async function throughput(count) {
  const { machines, running } = await open(count, pauseMs);
  running.resetTimes();
  const before = machines.used();
  await sleep(seconds * 1000);
  const { ok } = running.counts;
  const after = machines.used();
  const times = running.times;
  const seen = {
    replicas: count,
    callsPerSecond: ok / seconds,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    cpuMsPerCall: (after.cpu - before.cpu) / 1e6 / ok,
    rss: after.rss,
  };
  const end = await close(machines, running);
  return { ...seen, ...end };
}

async function faults() {
  const { machines, running } = await open(replicas, pauseMs);
  const suffer = async (what, act) => {
    const before = { ...running.counts };
    const moment = performance.now();
    await act();
    await sleep(CALM_MS);
    const works = running.worksAfter(moment);
    const { ok, failed } = running.counts;
    results.faults.push({
      what,
      slowestMs: works.at(-1),
      medianMs: quantile(works, 0.5),
      ok: ok - before.ok,
      failed: failed - before.failed,
    });
  };
  for (let at = 0; at < replicas; at++) {
    const replica = machines.replicas[Math.floor(Math.random() * replicas)];
    await suffer('kill -9', () => machines.endReplica(replica, 'SIGKILL'));
    await machines.startReplica(replica);
  }
  for (const replica of machines.replicas) {
    await suffer('SIGTERM and start', async () => {
      await machines.endReplica(replica, 'SIGTERM');
      await machines.startReplica(replica);
    });
  }
  await suffer('store restarted', async () => {
    await machines.killStore();
    await machines.startStore();
  });
  await suffer(`store away for ${STORE_AWAY_MS / 1000} s`, async () => {
    await machines.killStore();
    await sleep(STORE_AWAY_MS);
    await machines.startStore();
  });
  Object.assign(results, await close(machines, running));
}

async function open(count, pause) {
  const machines = new ReplicaMachines(options.entry);
  await machines.start(count);
  const running = new ReplicaClients({ port: machines.port, count: clients, pauseMs: pause });
  running.start();
  await running.reach(WARM_CALLS);
  return { machines, running };
}

async function close(machines, running) {
  await running.stop();
  await running.leave();
  // Replicas take a moment to end sessions; a session that its client has abandoned cannot be ended by it.
  await sleep(500);
  const sessions = await machines.sessions();
  const ranTwice = repeated(machines.record);
  const left = await machines.stop();
  const failures = Object.fromEntries([...running.failures].sort(([, a], [, b]) => b - a).slice(0, 12));
  return { counts: { ...running.counts, ranTwice }, failures, left: { ...left, sessions } };
}

/** How many values arrived at servers more than once. */
function repeated(file) {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  return lines.length - new Set(lines).size;
}

function isSound() {
  return [results, ...results.throughput]
    .filter(({ counts }) => counts !== undefined)
    .every(
      ({ counts, left }) =>
        counts.crossed + counts.doubled + counts.lost + counts.ranTwice + left.processes === 0,
    );
}

function print() {
  const ms = (value) => value.toFixed(1);
  console.log(
    table(
      `${clients} clients, half of each era, through haproxy`,
      ['replicas', 'calls/s', 'p50 ms', 'p99 ms', 'CPU ms/call', 'MiB each'],
      results.throughput.map(({ replicas: count, callsPerSecond, p50, p99, cpuMsPerCall, rss }) => [
        String(count),
        callsPerSecond.toFixed(0),
        ms(p50),
        ms(p99),
        cpuMsPerCall.toFixed(2),
        rss.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(' '),
      ]),
    ),
  );
  console.log(
    table(
      'Faults under load: until each client works again',
      ['what', 'median ms', 'slowest ms', 'ok', 'failed'],
      results.faults.map(({ what, medianMs, slowestMs, ok, failed }) => [
        what,
        medianMs.toFixed(0),
        slowestMs.toFixed(0),
        String(ok),
        String(failed),
      ]),
    ),
  );
  const { counts, failures, left } = results;
  console.log(JSON.stringify({ counts, failures, left }, null, 2));
}
