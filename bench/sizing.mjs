/**
 * node bench/sizing.mjs [--entry FILE] [--sessions 300] [--seconds 5]
 *
 * What a team needs to size a machine: the memory of an idle session over HTTP and of a server process, and how many
 * calls a second a core relays. Small servers in Node, all on this machine; prints lines for docs/guide/team.md.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    entry: { type: 'string', default: fileURLToPath(new URL('../dist/index.js', import.meta.url)) },
    sessions: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '5' },
  },
});
const TOKEN = 'a-token-for-measuring-only';
const CLIENTS = 32;
const MB = 1024 * 1024;
const SERVER = fileURLToPath(new URL('../test/servers/echo.mjs', import.meta.url));
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });

console.log(`Node ${process.version}, ${cpus().length} cores (${cpus()[0].model}), shared with other work`);
await withGateway('shared', async ({ pid, url }) => {
  await open(url);
  const before = memoryOf(pid);
  const count = Number(options.sessions);
  for (let n = 0; n < count; n++) await open(url);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  console.log(
    `gateway: ${(before / MB).toFixed(0)} MB; idle session: ${((memoryOf(pid) - before) / count / 1024).toFixed(0)} KB`,
  );
});
await withGateway('session', async ({ pid, url }) => {
  for (let n = 0; n < 10; n++) await call(url, await open(url));
  const task = `/proc/${pid}/task/${pid}/children`;
  const commandOf = (child) => readFileSync(`/proc/${child}/cmdline`, 'utf8');
  const servers = readFileSync(task, 'utf8')
    .trim()
    .split(' ')
    .filter((child) => commandOf(child).includes('echo.mjs'));
  const each = servers.map((server) => memoryOf(server)).sort((a, b) => a - b);
  console.log(
    `server process (${servers.length} of a small Node server): ${(each[each.length >> 1] / MB).toFixed(0)} MB`,
  );
});
await withGateway('shared', async ({ pid, url }) => {
  const ids = await Promise.all(Array.from({ length: CLIENTS }, () => open(url)));
  const round = async (seconds) => {
    const [cpu, since] = [cpuOf(pid), performance.now()];
    let calls = 0;
    const client = async (id) => {
      while (performance.now() - since < seconds * 1000) {
        await call(url, id);
        calls++;
      }
    };
    await Promise.all(ids.map(client));
    return { calls, cpu: cpuOf(pid) - cpu, rate: calls / ((performance.now() - since) / 1000) };
  };
  await round(1);
  const { calls, cpu, rate } = await round(Number(options.seconds));
  console.log(
    `${CLIENTS} clients, one shared server: ${rate.toFixed(0)} calls/s here; ` +
      `${((cpu / calls) * 1e6).toFixed(0)} µs of gateway CPU each, so ${(calls / cpu).toFixed(0)} calls/s on a core of its own`,
  );
});
agent.destroy();

/** Runs a gateway for as long as `use` takes. */
async function withGateway(isolation, use) {
  const directory = mkdtempSync(join(tmpdir(), 'sizing-'));
  const config = {
    mcpServers: { echo: { command: process.execPath, args: [SERVER] } },
    ...{ exposure: 'suite', isolation, logLevel: 'warn' },
    http: { token: TOKEN },
  };
  writeFileSync(join(directory, 'switchboard.config.json'), JSON.stringify(config));
  const args = [
    options.entry,
    '--config',
    join(directory, 'switchboard.config.json'),
    '--http',
    '0',
    '--json',
  ];
  const child = spawn(process.execPath, args, {
    cwd: directory,
    env: { ...process.env, SWITCHBOARD_STATE_DIR: join(directory, 'state') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  const url = await new Promise((resolve) => {
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const [, found] = /"url": "([^"]+)"/.exec(text) ?? [];
      if (found) resolve(found);
    });
  });
  try {
    await use({ pid: child.pid, url });
  } finally {
    const ended = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    await ended;
    rmSync(directory, { recursive: true, force: true });
  }
}

function post(url, message, session) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    'content-length': Buffer.byteLength(body),
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers, agent }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ id: response.headers['mcp-session-id'], text }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

async function open(url) {
  const clientInfo = { name: 'sizing', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const { id } = await post(url, { id: 1, method: 'initialize', params });
  await post(url, { method: 'notifications/initialized' }, id);
  return id;
}

async function call(url, session) {
  const args = { action: 'call', subtool: 'echo', args: { text: 'x'.repeat(100) } };
  const { text } = await post(
    url,
    { id: 2, method: 'tools/call', params: { name: 'echo_suite', arguments: args } },
    session,
  );
  if (!text.includes('xxx')) throw new Error(text);
}

/** Resident memory in bytes. */
function memoryOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

/** CPU time in seconds. */
function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
