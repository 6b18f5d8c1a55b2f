import { HttpClient } from './lib/http-client.mjs';
import { CHILD, project, RELAY_HTTP } from './lib/project.mjs';
import { cpuTime, memory, start, stop, within } from './lib/processes.mjs';
import { textResult } from './lib/results.mjs';
import { median, quantile } from './lib/stats.mjs';

const CLIENTS = 64;
const IDLE_SESSIONS = 200;
const BYTES = 100;
const TOKEN = 'a-token-for-measuring-only';

/**
 * HTTP in, stdio out: 64 clients, each on a connection and in a session of its own, each making one call after the
 * other. Beside it a bare HTTP server that relays to the same server. The subjects take turns round by round.
 */
export async function measureHttp({ entry, rounds, calls, settleMs }) {
  const subjects = [
    await open('relay', [RELAY_HTTP, process.execPath, CHILD], undefined, direct),
    await openGateway('shared', entry),
    await openGateway('session', entry),
  ];
  try {
    for (const subject of subjects) await round(subject, calls);
    const seen = subjects.map(() => ({ cpu: [], p50: [], p99: [], rate: [] }));
    for (let at = 0; at < rounds; at++) {
      for (const [index, subject] of subjects.entries()) {
        const { cpu, p50, p99, rate } = await round(subject, calls);
        const into = seen[index];
        if (cpu !== undefined) into.cpu.push(cpu);
        into.p50.push(p50);
        into.p99.push(p99);
        into.rate.push(rate);
      }
    }
    const rows = subjects.map(({ name }, index) => ({ name, ...summary(seen[index]) }));
    for (const row of rows.slice(1)) {
      row.ratio = row.cpu === undefined ? undefined : row.cpu / rows[0].cpu;
      row.addedP99 = row.p99 - rows[0].p99;
    }
    return { clients: CLIENTS, bytes: BYTES, rows, idle: await idleSessions(entry, settleMs) };
  } finally {
    for (const { child, clients } of subjects) {
      for (const { client } of clients) client.close();
      await end(child);
    }
  }
}

const direct = { name: 'echo', arguments: { bytes: BYTES } };
const throughSuite = {
  name: 'bench_suite',
  arguments: { action: 'call', subtool: 'echo', args: { bytes: BYTES } },
};

function openGateway(isolation, entry) {
  const cwd = project(1, 'config', { settings: { isolation, http: { token: TOKEN } } });
  return open(isolation, [entry, '--http', '0', '--json', '--log-level', 'error'], cwd, throughSuite);
}

async function open(name, args, cwd, params) {
  const child = start(args, cwd);
  const port = await within(30_000, `starting ${name}`, portOf(child));
  const clients = [];
  for (let at = 0; at < CLIENTS; at++) {
    const client = await HttpClient.open(port, TOKEN);
    await within(30_000, 'a handshake', client.handshake());
    const id = 1_000_000 + at;
    clients.push({
      client,
      bytes: client.request({ jsonrpc: '2.0', id, method: 'tools/call', params }),
      // Byte for byte what the server says, under the id of this client.
      expected: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: textResult(BYTES) })),
    });
  }
  return { name, child, clients };
}

/** The port that a program prints first, alone or as part of the address in its JSON. */
function portOf(child) {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const port = /^(\d+)\n/.exec(text)?.[1] ?? /"url": "http:\/\/[^"]*:(\d+)\/mcp"/.exec(text)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
    child.exited.then(() => reject(new Error(`The program has ended. It wrote: ${child.said}`)));
  });
}

async function round({ name, child, clients }, calls) {
  const each = Math.ceil(calls / clients.length);
  const latencies = [];
  const before = cpuTime(child.pid);
  const began = performance.now();
  await within(
    120_000,
    `${calls} calls through ${name}`,
    Promise.all(clients.map(({ client, bytes, expected }) => client.run(bytes, each, expected, latencies))),
  );
  const elapsed = performance.now() - began;
  const after = cpuTime(child.pid);
  const count = each * clients.length;
  return {
    cpu: before === undefined || after === undefined ? undefined : (after - before) / 1000 / count,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    rate: (count / elapsed) * 1000,
  };
}

function summary({ cpu, p50, p99, rate }) {
  return {
    cpu: cpu.length === 0 ? undefined : median(cpu),
    p50: median(p50),
    p99: median(p99),
    rate: median(rate),
  };
}

/** What a session costs that nobody uses, in bytes: greeted, its servers not started. */
async function idleSessions(entry, settleMs) {
  const cwd = project(10, 'config', { settings: { http: { token: TOKEN } } });
  const child = start([entry, '--http', '0', '--json', '--log-level', 'error'], cwd);
  const port = await within(30_000, 'starting', portOf(child));
  const open = async () => {
    const client = await HttpClient.open(port, TOKEN);
    await client.handshake();
    return client;
  };
  const clients = [];
  // What the first ones cost is code being compiled.
  for (let at = 0; at < 50; at++) clients.push(await open());
  await pause(settleMs);
  const before = memory(child.pid)?.rss;
  for (let at = 0; at < IDLE_SESSIONS; at++) clients.push(await open());
  await pause(settleMs);
  const after = memory(child.pid)?.rss;
  for (const client of clients) client.close();
  await end(child);
  return {
    sessions: IDLE_SESSIONS,
    servers: 10,
    each: before === undefined ? undefined : (after - before) / IDLE_SESSIONS,
  };
}

async function end(child) {
  child.kill('SIGTERM');
  await stop(child);
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
