import { deepStrictEqual } from 'node:assert';
import { RawClient, Requests } from './lib/client.mjs';
import { CHILD, project, RELAY } from './lib/project.mjs';
import { cpuTime, pin, start, stop, within } from './lib/processes.mjs';
import { median, quantile } from './lib/stats.mjs';
import { TEXT_CLASSES } from './texts.mjs';

const KB = 1000;
const MB = 1000 * KB;

/** The CPU time that a call may cost, as a multiple of the bare relay's, by size and number of calls in flight. */
const TARGETS = {
  100: { 1: 1.25, 16: 1.7, 64: 1.7 },
  [10 * KB]: { 1: 1.4, 16: 2, 64: 2 },
  [MB]: { 1: 2, 16: 2, 64: 2 },
};
/** The same for 1 MB of text that takes longer to check. */
const SLOW_TARGETS = { structured: 2.5, chinese: 2.5 };
/** Calls in a round, by size. A round has at least as many calls as are in flight. */
const CALLS = { 100: 400, [10 * KB]: 400, [MB]: 16 };

const CELLS = Object.keys(TEXT_CLASSES).flatMap((text) =>
  Object.entries(TARGETS).flatMap(([bytes, targets]) =>
    Object.entries(targets).map(([inFlight, target]) => ({
      text,
      bytes: Number(bytes),
      inFlight: Number(inFlight),
      calls: Math.max(CALLS[bytes], Number(inFlight)),
      target: Number(bytes) === MB ? (SLOW_TARGETS[text] ?? target) : target,
    })),
  ),
);
/** Also measured with many servers in the catalog. */
const FLAT_CELLS = CELLS.filter(({ text, bytes }) => text === 'code' && bytes === 100);

/**
 * What a call costs, for every class of text: CPU time of the gateway process in microseconds per call, latency, and
 * calls per second. Each cell has its own gateway and its own bare relay, so what is measured is the first thousands of
 * calls in a gateway's life. Client, gateway and server share one core, and the two alternate round by round, so that
 * both see the same machine.
 */
export async function measureCalls({ entry, rounds }) {
  const pinned = pin();
  try {
    const cells = [];
    for (const cell of CELLS) {
      const subjects = [
        await open('relay', [RELAY, process.execPath, CHILD], undefined, direct),
        await open('gateway', [entry], project(1), throughSuite),
      ];
      cells.push({ ...(await measureCell(cell, subjects, rounds)), what: 'suite, 1 server' });
      for (const { child } of subjects) await stop(child);
    }
    for (const cell of FLAT_CELLS) {
      const subjects = [
        await open('relay', [RELAY, process.execPath, CHILD], undefined, direct),
        await openFlat(entry),
      ];
      const what = `flat, ${FLAT.servers} × ${FLAT.tools} tools`;
      cells.push({ ...(await measureCell(cell, subjects, rounds)), what });
      for (const { child } of subjects) await stop(child);
    }
    return { core: pinned.core, cells };
  } finally {
    pinned.release();
  }
}

const direct = (args) => ({ name: 'echo', arguments: args });
export const throughSuite = (args) => ({
  name: 'bench_suite',
  arguments: { action: 'call', subtool: 'echo', args },
});

/** The number of servers, and of tools of each, in the catalog of the flat gateway. */
export const FLAT = { servers: 50, tools: 20 };

/** The same server among many, all of them running, with every tool in the list. */
async function openFlat(entry) {
  const cwd = project(FLAT.servers, 'config', {
    settings: { exposure: 'flat' },
    args: [`--tools=${FLAT.tools}`],
  });
  const subject = await open('gateway', [entry], cwd, (args) => ({ name: 'bench__echo', arguments: args }));
  await complete(subject.client, FLAT.servers * FLAT.tools);
  return subject;
}

/** Resolves when the list has that many tools and no further change is announced. */
export async function complete(client, tools) {
  for (let round = 0; ; round++) {
    const { result } = await within(30_000, 'tools/list', client.request(`list ${round}`, 'tools/list', {}));
    if (result?.tools.length === tools) break;
    if (round === 100) throw new Error(`${result?.tools.length} tools are listed instead of ${tools}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
}

export async function open(name, args, cwd, params) {
  const child = start(args, cwd);
  const client = new RawClient(child);
  await within(30_000, `starting ${name}`, client.handshake());
  return { name, child, client, params };
}

/** The response to the first of the prepared requests, byte for byte, with or without a gateway in between. */
function expectedAnswer(text, bytes) {
  const result = TEXT_CLASSES[text](bytes);
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1_000_000, result })}\n`);
}

async function measureCell(cell, subjects, rounds) {
  const seen = await measureInTurns(cell, subjects, rounds);
  const [relay, gateway] = seen.map(summary);
  const pairs = seen[1].cpu.map((each, round) => each / seen[0].cpu[round]);
  return {
    ...cell,
    relay,
    gateway,
    ratio: gateway.cpu / relay.cpu,
    least: gateway.cpuLeast / relay.cpuLeast,
    spread: [quantile(pairs, 0.25), quantile(pairs, 0.75)],
  };
}

/** Makes the same calls through each of the subjects, alternating by round; returns the cost of each round. */
export async function measureInTurns(cell, subjects, rounds) {
  const { text, bytes, inFlight, calls } = cell;
  const expected = expectedAnswer(text, bytes);
  const seen = subjects.map(() => ({ cpu: [], p50: [], p99: [], rate: [] }));
  const requests = subjects.map(({ params }) => new Requests(params({ text, bytes })));
  for (let round = -1; round < rounds; round++) {
    for (const [index, { name, child, client }] of subjects.entries()) {
      const before = cpuTime(child.pid);
      const run = client.run(requests[index], calls, inFlight, expected.length);
      const { latencies, elapsed } = await within(120_000, `${calls} calls through ${name}`, run);
      await asleep();
      const after = cpuTime(child.pid);
      // The first round starts the server and compiles the code.
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
  return seen;
}

/** After its last response, a program still has a few steps to do; its CPU time is read when it has done them. */
function asleep() {
  return new Promise((resolve) => {
    setTimeout(resolve, 3);
  });
}

export function summary({ cpu, p50, p99, rate }) {
  return {
    cpu: cpu.length > 0 ? median(cpu) : NaN,
    cpuLeast: cpu.length > 0 ? Math.min(...cpu) : NaN,
    p50: median(p50),
    p99: median(p99),
    rate: median(rate),
  };
}
