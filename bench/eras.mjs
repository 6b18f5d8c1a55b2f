import { deepStrictEqual } from 'node:assert';
import { RawClient, Requests } from './lib/client.mjs';
import { CHILD, project, RELAY } from './lib/project.mjs';
import { cpuTime, pin, start, stop, within } from './lib/processes.mjs';
import { ENVELOPE, modernResult, textResult } from './lib/results.mjs';
import { median } from './lib/stats.mjs';

const CELLS = [
  { bytes: 100, inFlight: 1, calls: 400 },
  { bytes: 100, inFlight: 16, calls: 1600 },
  { bytes: 100, inFlight: 64, calls: 1600 },
  { bytes: 10_000, inFlight: 1, calls: 400 },
];

/** How many gateways of each kind are compared. */
const COPIES = 5;

/**
 * What a call costs between a client and a server of the same era: with the handshake, and 2026-07-28. Each is measured
 * beside a bare relay that carries the same bytes; all alternate round by round on one core.
 *
 * Messages of 2026-07-28 are two to three times as long when they carry little else, and everything that reads them
 * pays for that. So the handshake is measured a second time with messages of exactly that length: the difference
 * between the two is the cost of the era itself. Even two identical gateways differ, because each compiles its code a
 * little differently; so there are several of each, and the spread among equal ones is reported beside the difference
 * between the eras.
 *
 * With `beside`, another build is measured in alternation: a build from before there were two eras shows what the
 * handshake pays for the other.
 */
export async function measureEras({ entry, beside, rounds, warmUp }) {
  const pinned = pin();
  const subjects = [
    await open('legacy', 'relay', [RELAY, process.execPath, CHILD]),
    await open('legacy', 'gateway', [entry], serving('legacy')),
    await open('modern', 'relay', [RELAY, process.execPath, CHILD, '--modern']),
  ];
  for (let copy = 0; copy < COPIES; copy++) {
    for (const era of ['stamped', 'modern']) subjects.push(await open(era, 'gateway', [entry], serving(era)));
    if (beside === undefined) continue;
    for (const era of ['legacy', 'stamped']) subjects.push(await open(era, 'beside', [beside], serving(era)));
  }
  try {
    for (const subject of subjects)
      for (const { bytes } of CELLS) await run(subject, { bytes, inFlight: 4, calls: warmUp });
    const cells = [];
    for (const cell of CELLS) cells.push(await measureCell(cell, subjects, rounds));
    return { core: pinned.core, cells };
  } finally {
    for (const { child } of subjects) await stop(child);
    pinned.release();
  }
}

function serving(era) {
  return project(1, 'config', { args: era === 'legacy' ? [] : [`--${era}`] });
}

async function open(era, what, args, cwd) {
  const child = start(args, cwd);
  const client = new RawClient(child);
  const greeted =
    era === 'modern' ? client.request('hello', 'server/discover', { _meta: ENVELOPE }) : client.handshake();
  await within(30_000, `starting ${what}, ${era}`, greeted);
  return { era, what, child, client };
}

function paramsOf({ era, what }, bytes) {
  const call =
    what === 'relay'
      ? { name: 'echo', arguments: { bytes } }
      : { name: 'bench_suite', arguments: { action: 'call', subtool: 'echo', args: { bytes } } };
  return era === 'legacy' ? call : { ...call, _meta: ENVELOPE };
}

/** The server's response to the first of the prepared requests, byte for byte, with or without a gateway in between. */
function expectedAnswer({ era }, bytes) {
  const result = era === 'legacy' ? textResult(bytes) : modernResult(bytes);
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1_000_000, result })}\n`);
}

function run(subject, { bytes, inFlight, calls }) {
  const requests = new Requests(paramsOf(subject, bytes));
  const { length } = expectedAnswer(subject, bytes);
  return within(120_000, 'calls', subject.client.run(requests, calls, inFlight, length));
}

async function measureCell(cell, subjects, rounds) {
  const seen = subjects.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      const before = cpuTime(subject.child.pid);
      await run(subject, cell);
      await new Promise((resolve) => setTimeout(resolve, 3));
      if (round >= 0) seen[index].push((cpuTime(subject.child.pid) - before) / 1000 / cell.calls);
    }
  }
  for (const subject of subjects) {
    const answer = await subject.client.exchange(new Requests(paramsOf(subject, cell.bytes)).bytes(0));
    deepStrictEqual(answer, JSON.parse(expectedAnswer(subject, cell.bytes).toString()));
  }
  const costs = (era, what) =>
    subjects.flatMap((subject, index) =>
      subject.era === era && subject.what === what ? [median(seen[index])] : [],
    );
  const [legacyRelay] = costs('legacy', 'relay');
  const [legacy] = costs('legacy', 'gateway');
  const [modernRelay] = costs('modern', 'relay');
  const equal = costs('stamped', 'gateway');
  const stamped = median(equal);
  const modern = median(costs('modern', 'gateway'));
  const apart = Math.max(...equal) / Math.min(...equal);
  const before = {
    legacy: median(costs('legacy', 'beside')),
    stamped: median(costs('stamped', 'beside')),
  };
  return { ...cell, legacyRelay, legacy, stamped, modernRelay, modern, apart, before };
}
