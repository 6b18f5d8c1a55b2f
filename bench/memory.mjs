import { RawClient } from './lib/client.mjs';
import { project } from './lib/project.mjs';
import { childrenOf, memory, start, stop, within } from './lib/processes.mjs';
import { median } from './lib/stats.mjs';

const MB = 1024 * 1024;
const TARGET = 15 * MB;

/** What an idle gateway holds, in bytes, with few and many servers that nobody has used; and what its reaper holds. */
export async function measureMemory({ entry, rounds, settleMs }) {
  const counts = [1, 50, 200];
  const seen = counts.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, count] of counts.entries()) seen[index].push(await idle(entry, count, settleMs));
  }
  const rows = counts.map((count, index) => ({
    name: `switchboard, ${count} configured, none started`,
    ...middle(seen[index]),
  }));
  for (const row of rows.slice(1)) row.more = row.rss - rows[0].rss;
  rows[1].target = TARGET;
  return [...rows, ...(await withServer(entry, settleMs))];
}

async function idle(entry, count, settleMs) {
  const child = start([entry], project(count));
  await within(30_000, 'starting', new RawClient(child).handshake());
  await pause(settleMs);
  const held = memory(child.pid);
  await stop(child);
  return held;
}

/** One server used once: the gateway, the server and the reaper, each by itself. */
async function withServer(entry, settleMs) {
  const child = start([entry], project(1));
  const client = new RawClient(child);
  await within(30_000, 'starting', client.handshake());
  const params = {
    name: 'bench_suite',
    arguments: { action: 'call', subtool: 'echo', args: { bytes: 100 } },
  };
  await within(30_000, 'a call', client.request(1, 'tools/call', params));
  await pause(settleMs);
  const rows = [{ name: 'switchboard, 1 started', ...memory(child.pid) }];
  for (const { pid, command } of childrenOf(child.pid)) {
    rows.push({ name: command.includes('child.mjs') ? 'that server' : 'the reaper', ...memory(pid) });
  }
  await stop(child);
  return rows;
}

function middle(held) {
  return { rss: median(held.map(({ rss }) => rss)), pss: median(held.map(({ pss }) => pss)) };
}

function pause(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
