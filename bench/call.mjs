import { deepStrictEqual } from 'node:assert';
import { RawClient, Requests } from './lib/client.mjs';
import { CHILD, project, RELAY } from './lib/project.mjs';
import { cpuTime, pin, start, stop, within } from './lib/processes.mjs';
import { structuredResult, textResult } from './lib/results.mjs';
import { median, quantile } from './lib/stats.mjs';

const KB = 1000;
const MB = 1000 * KB;

/** What is called, how many at a time, how many in a round, and how much dearer than the bare relay it may be. */
const CELLS = [
  { tool: 'echo', bytes: 100, inFlight: 1, calls: 400, target: 1.5 },
  { tool: 'echo', bytes: 100, inFlight: 16, calls: 1600, target: 2 },
  { tool: 'echo', bytes: 100, inFlight: 64, calls: 1600, target: 2 },
  { tool: 'echo', bytes: 10 * KB, inFlight: 1, calls: 400, target: 2 },
  { tool: 'echo', bytes: 10 * KB, inFlight: 16, calls: 800 },
  { tool: 'echo', bytes: 10 * KB, inFlight: 64, calls: 800 },
  { tool: 'echo', bytes: MB, inFlight: 1, calls: 20, target: 4 },
  { tool: 'echo', bytes: MB, inFlight: 16, calls: 32 },
  { tool: 'echo', bytes: MB, inFlight: 64, calls: 64 },
  { tool: 'structured', bytes: 10 * KB, inFlight: 1, calls: 200 },
  { tool: 'structured', bytes: MB, inFlight: 1, calls: 10 },
];

/**
 * What a call costs: CPU time of the gateway process in microseconds per call, the time a call takes, calls a second.
 * Client, gateway and server share one core, and the subjects take turns round by round, so that all of them see the
 * same machine.
 */
export async function measureCalls({ entry, rounds, warmUp }) {
  const pinned = pin();
  const subjects = [
    await open('direct', [CHILD], undefined, direct),
    await open('relay', [RELAY, process.execPath, CHILD], undefined, direct),
    await open('switchboard', [entry], project(1), throughSuite),
    await openFlat(entry),
  ];
  try {
    for (const subject of subjects) await warm(subject, warmUp);
    const cells = [];
    for (const cell of CELLS) cells.push(await measureCell(cell, subjects, rounds));
    return { core: pinned.core, cells };
  } finally {
    for (const { child } of subjects) await stop(child);
    pinned.release();
  }
}

const direct = (tool, bytes) => ({ name: tool, arguments: { bytes } });
const throughSuite = (tool, bytes) => ({
  name: 'bench_suite',
  arguments: { action: 'call', subtool: tool, args: { bytes } },
});

/** Servers and tools of each that are in the catalog of the flat gateway. */
export const FLAT = { servers: 50, tools: 20 };

/** The same server among many, all of them running, every tool of theirs in the list. */
async function openFlat(entry) {
  const cwd = project(FLAT.servers, 'config', {
    settings: { exposure: 'flat' },
    args: [`--tools=${FLAT.tools}`],
  });
  const subject = await open('flat', [entry], cwd, flat);
  await complete(subject.client, FLAT.servers * FLAT.tools);
  return subject;
}

/** Resolves when the list has so many tools, and nothing more is told about it. */
export async function complete(client, tools) {
  for (let round = 0; ; round++) {
    const { result } = await within(30_000, 'tools/list', client.request(`list ${round}`, 'tools/list', {}));
    if (result?.tools.length === tools) break;
    if (round === 100) throw new Error(`${result?.tools.length} tools are listed instead of ${tools}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
}

const flat = (tool, bytes) => ({ name: `bench__${tool}`, arguments: { bytes } });

async function open(name, args, cwd, params) {
  const child = start(args, cwd);
  const client = new RawClient(child);
  await within(30_000, `starting ${name}`, client.handshake());
  return { name, child, client, params };
}

async function warm({ client, params }, calls) {
  for (const { tool, bytes } of CELLS) {
    const count = bytes < MB ? calls : Math.ceil(calls / 50);
    const answerBytes = expectedAnswer(tool, bytes).length;
    const run = client.run(new Requests(params(tool, bytes)), count, 4, answerBytes);
    await within(120_000, 'warming up', run);
  }
}

/** What the server says to the first of the prepared requests, byte for byte, with or without a gateway between. */
function expectedAnswer(tool, bytes) {
  const result = tool === 'structured' ? structuredResult(bytes) : textResult(bytes);
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1_000_000, result })}\n`);
}

async function measureCell(cell, subjects, rounds) {
  const { tool, bytes, inFlight, calls } = cell;
  const expected = expectedAnswer(tool, bytes);
  const seen = subjects.map(() => ({ cpu: [], p50: [], p99: [], rate: [] }));
  const requests = subjects.map(({ params }) => new Requests(params(tool, bytes)));
  for (let round = -1; round < rounds; round++) {
    for (const [index, { name, child, client }] of subjects.entries()) {
      const before = cpuTime(child.pid);
      const run = client.run(requests[index], calls, inFlight, expected.length);
      const { latencies, elapsed } = await within(120_000, `${calls} calls through ${name}`, run);
      await asleep();
      const after = cpuTime(child.pid);
      if (round < 0) continue;
      const into = seen[index];
      if (before !== undefined && after !== undefined) into.cpu.push((after - before) / 1000 / calls);
      into.p50.push(quantile(latencies, 0.5) * 1000);
      into.p99.push(quantile(latencies, 0.99) * 1000);
      into.rate.push((calls / elapsed) * 1000);
    }
  }
  for (const [index, { client }] of subjects.entries()) {
    deepStrictEqual(await client.exchange(requests[index].bytes(0)), JSON.parse(expected.toString()));
  }
  const figures = Object.fromEntries(subjects.map(({ name }, index) => [name, summary(seen[index])]));
  const [, relay, ...gateways] = subjects.map(({ name }, index) => ({ name, cpu: seen[index].cpu }));
  return {
    ...cell,
    ...figures,
    ratios: Object.fromEntries(gateways.map((each) => [each.name, ratiosOf(each, relay, figures)])),
  };
}

function ratiosOf({ name, cpu }, relay, figures) {
  const pairs = cpu.map((each, round) => each / relay.cpu[round]);
  return {
    ratio: figures[name].cpu / figures.relay.cpu,
    least: figures[name].cpuLeast / figures.relay.cpuLeast,
    spread: [quantile(pairs, 0.25), quantile(pairs, 0.75)],
  };
}

/** A program that has just sent its last answer still has a few steps to do; its time is read when it has done them. */
function asleep() {
  return new Promise((resolve) => {
    setTimeout(resolve, 3);
  });
}

function summary({ cpu, p50, p99, rate }) {
  return {
    cpu: cpu.length > 0 ? median(cpu) : undefined,
    cpuLeast: cpu.length > 0 ? Math.min(...cpu) : undefined,
    p50: median(p50),
    p99: median(p99),
    rate: median(rate),
  };
}
