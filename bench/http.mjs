import { HttpClient } from './lib/http-client.mjs';
import { CHILD, project, RELAY_HTTP } from './lib/project.mjs';
import { cpuTime, memory, start, stop, within } from './lib/processes.mjs';
import { median, quantile } from './lib/stats.mjs';
import { TEXT_CLASSES } from './texts.mjs';

const KB = 1000;
const MB = 1000 * KB;
const IDLE_SESSIONS = 200;
const TOKEN = 'a-token-for-measuring-only';

/** The CPU time that a call may cost, as a multiple of the bare relay's; measured with 16 clients. */
const TARGETS = { 100: 1.5, [10 * KB]: 1.7 };
/** Calls in a round, by size. */
const CALLS = { 100: 640, [10 * KB]: 640, [MB]: 64 };

/** Clients that share one server, as they do behind the relay. */
const CELLS = Object.keys(TEXT_CLASSES).flatMap((text) =>
  [100, 10 * KB, MB].flatMap((bytes) =>
    [1, 16, 64].map((inFlight) => ({
      text,
      bytes,
      inFlight,
      isolation: 'shared',
      target: inFlight === 16 ? TARGETS[bytes] : undefined,
    })),
  ),
);
/** The default: a server for each client. */
const OWN_SERVER = { text: 'code', bytes: 100, inFlight: 16, isolation: 'session' };

/**
 * HTTP in, stdio out: clients, each with its own connection and session, each making one call after the other. Beside
 * it, a bare HTTP server that relays to the same server. Each cell has its own gateway and relay, which alternate round
 * by round.
 */
export async function measureHttp({ entry, rounds, settleMs }) {
  const cells = [];
  for (const cell of [...CELLS, OWN_SERVER]) cells.push(await measureCell(cell, entry, rounds));
  return { cells, idle: await idleSessions(entry, settleMs) };
}

async function measureCell(cell, entry, rounds) {
  const subjects = [await openRelay(cell), await openGateway(cell, entry)];
  try {
    const seen = subjects.map(() => ({ cpu: [], p50: [], p99: [], rate: [] }));
    for (let at = -1; at < rounds; at++) {
      for (const [index, subject] of subjects.entries()) {
        const result = await round(subject, CALLS[cell.bytes]);
        // The first round starts the server and compiles the code.
        if (at >= 0) for (const [key, value] of Object.entries(result)) seen[index][key].push(value);
      }
    }
    const [relay, gateway] = seen.map(summary);
    const pairs = seen[1].cpu.map((each, at) => each / seen[0].cpu[at]);
    return {
      ...cell,
      what: cell.isolation === 'shared' ? 'one server' : 'a server each',
      relay,
      gateway,
      ratio: gateway.cpu / relay.cpu,
      least: gateway.cpuLeast / relay.cpuLeast,
      spread: [quantile(pairs, 0.25), quantile(pairs, 0.75)],
    };
  } finally {
    for (const { child, clients } of subjects) {
      for (const { client } of clients) client.close();
      await end(child);
    }
  }
}

function openRelay(cell) {
  const { text, bytes } = cell;
  const params = { name: 'echo', arguments: { text, bytes } };
  return open('relay', [RELAY_HTTP, process.execPath, CHILD], undefined, cell, params);
}

function openGateway(cell, entry) {
  const { text, bytes, isolation } = cell;
  const cwd = project(1, 'config', { settings: { isolation, http: { token: TOKEN } } });
  const args = [entry, '--http', '0', '--json', '--log-level', 'error'];
  const params = {
    name: 'bench_suite',
    arguments: { action: 'call', subtool: 'echo', args: { text, bytes } },
  };
  return open('gateway', args, cwd, cell, params);
}

async function open(name, args, cwd, { text, bytes, inFlight }, params) {
  const child = start(args, cwd);
  const port = await within(30_000, `starting ${name}`, portOf(child));
  const clients = [];
  for (let at = 0; at < inFlight; at++) {
    const client = await HttpClient.open(port, TOKEN);
    await within(30_000, 'a handshake', client.handshake());
    const id = 1_000_000 + at;
    clients.push({
      client,
      bytes: client.request({ jsonrpc: '2.0', id, method: 'tools/call', params }),
      // The exact bytes of the server's response, with the id of this client.
      expected: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: TEXT_CLASSES[text](bytes) })),
    });
  }
  return { name, child, clients };
}

/** The port that a program prints first, alone or in the address in its JSON. */
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
    cpu: before === undefined || after === undefined ? NaN : (after - before) / 1000 / count,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    rate: (count / elapsed) * 1000,
  };
}

function summary({ cpu, p50, p99, rate }) {
  return {
    cpu: median(cpu),
    cpuLeast: Math.min(...cpu),
    p50: median(p50),
    p99: median(p99),
    rate: median(rate),
  };
}

/** The memory of an idle session in bytes: initialized, but without running servers. */
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
  // The first ones pay for compiling code.
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
