import { complete } from './call.mjs';
import { RawClient } from './lib/client.mjs';
import { project } from './lib/project.mjs';
import { childrenOf, memory, start, stop, within } from './lib/processes.mjs';
import { median } from './lib/stats.mjs';

const MB = 1024 * 1024;
const TOOLS = 5;

/** Gateways with few and many servers, with all or none of them started, and the memory each may use. */
const CASES = [
  { servers: 1, running: false },
  { servers: 50, running: false },
  { servers: 200, running: false },
  { servers: 1, running: true, target: 50 * MB },
  { servers: 50, running: true, target: 60 * MB },
];

/** The memory of an idle gateway in bytes, and that of its reaper. */
export async function measureMemory({ entry, rounds, settleMs }) {
  const seen = CASES.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, each] of CASES.entries()) seen[index].push(await idle(entry, each, settleMs));
  }
  const rows = CASES.map(({ servers, running, target }, index) => ({
    name: `switchboard, ${servers} configured, ${running ? 'all' : 'none'} running`,
    rss: median(seen[index].map(({ gateway }) => gateway.rss)),
    pss: median(seen[index].map(({ gateway }) => gateway.pss)),
    target,
  }));
  const { reaper } = seen[3][0];
  return [...rows, { name: 'the reaper', ...reaper }];
}

async function idle(entry, { servers, running }, settleMs) {
  const settings = { exposure: running ? 'flat' : 'suite' };
  const child = start([entry], project(servers, 'config', { settings, args: [`--tools=${TOOLS}`] }));
  const client = new RawClient(child);
  await within(60_000, 'starting', client.handshake());
  if (running) await complete(client, servers * TOOLS);
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const gateway = memory(child.pid);
  const reaper = childrenOf(child.pid).find(({ command }) => !command.includes('child.mjs'));
  const held = { gateway, reaper: reaper && memory(reaper.pid) };
  await stop(child);
  return held;
}
