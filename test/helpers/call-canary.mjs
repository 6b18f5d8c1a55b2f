/**
 * A client in a process of its own, so that nothing else a test does is measured. Calls the server `canary` of a
 * gateway again and again, alternately in a session and without one, until its stdin ends. Prints one line per call:
 * when it began (in milliseconds since the epoch), how long it took in milliseconds, and how much of that the gateway,
 * its server and this client waited for a processor, which depends on what else the machine does.
 *
 *   node call-canary.mjs URL TOKEN PID
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, token, gateway] = process.argv.slice(2);
const MODERN = '2026-07-28';
const SESSION = '2025-11-25';
const meta = 'io.modelcontextprotocol/';
const clientInfo = { name: 'canary', version: '1' };
const _meta = {
  [`${meta}protocolVersion`]: MODERN,
  [`${meta}clientInfo`]: clientInfo,
  [`${meta}clientCapabilities`]: {},
};

let isOver = false;
process.stdin.resume().once('end', () => (isOver = true));
const initialize = { protocolVersion: SESSION, capabilities: {}, clientInfo };
const begun = await post({ id: 0, method: 'initialize', params: initialize });
const session = { 'mcp-protocol-version': SESSION, 'mcp-session-id': begun.headers.get('mcp-session-id') };
await post({ method: 'notifications/initialized' }, session);

const name = 'canary_suite';
const params = { name, arguments: { action: 'call', subtool: 'tell', args: { value: 'sings' } } };
const modern = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': name };
/** The server of each kind of client. */
const servers = [];
for (let id = 1; !isOver; id++) {
  const processes = ['self', gateway, ...servers];
  const waited = processes.map(waitedFor);
  const began = Date.now();
  const clock = performance.now();
  const call = { id, method: 'tools/call', params };
  const response = await (id % 2 === 0
    ? post(call, session)
    : post({ ...call, params: { ...params, _meta } }, modern));
  const text = await response.text();
  const ms = performance.now() - clock;
  if (!text.includes('sings')) throw new Error(`Call ${id} got no answer.`);
  const waiting = processes.reduce((sum, pid, index) => sum + waitedFor(pid) - waited[index], 0);
  console.log(`${began} ${ms} ${waiting}`);
  servers[id % 2] = /"pid\\*":(\d+)/.exec(text)[1];
  await sleep(1);
}
process.exit(0);

/** How long a process (its main thread) has been ready to run without a processor to run on, in milliseconds. */
function waitedFor(pid) {
  return pid === undefined ? 0 : Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

async function post(message, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response;
}
