import { complete } from './call.mjs';
import { RawClient } from './lib/client.mjs';
import { CHILD, project, RELAY } from './lib/project.mjs';
import { cpuTime, pin, start, stop, within } from './lib/processes.mjs';
import { median } from './lib/stats.mjs';

const LISTS = 20;
const SERVERS = 50;
const TOOLS = 80;
/** CPU per list, in milliseconds. */
const TARGET_MS = 8;

/**
 * What `tools/list` costs with many servers exposed flat, after the first time: CPU time of the gateway in milliseconds
 * per list, and the time until the response, beside a relay in front of one server with as many tools.
 */
export async function measureLists({ entry, rounds }) {
  const pinned = pin();
  const tools = SERVERS * TOOLS;
  const cwd = project(SERVERS, 'config', { settings: { exposure: 'flat' }, args: [`--tools=${TOOLS}`] });
  const subjects = [
    await open('relay, one server', [RELAY, process.execPath, CHILD, `--tools=${tools}`], undefined, tools),
    await open(`switchboard, ${SERVERS} servers`, [entry], cwd, tools),
  ];
  try {
    const seen = subjects.map(() => ({ cpu: [], ms: [] }));
    let bytes = 0;
    for (let round = -1; round < rounds; round++) {
      for (const [index, { child, client }] of subjects.entries()) {
        const before = cpuTime(child.pid);
        const began = performance.now();
        for (let list = 0; list < LISTS; list++) {
          const answer = await within(30_000, 'tools/list', client.request(list, 'tools/list', {}));
          if (index === 1 && list === 0) bytes = JSON.stringify(answer).length;
        }
        const elapsed = performance.now() - began;
        const after = cpuTime(child.pid);
        if (round < 0) continue;
        if (before !== undefined && after !== undefined) seen[index].cpu.push((after - before) / 1e6 / LISTS);
        seen[index].ms.push(elapsed / LISTS);
      }
    }
    const rows = subjects.map(({ name, first }, index) => ({
      name,
      first,
      cpu: seen[index].cpu.length > 0 ? median(seen[index].cpu) : undefined,
      ms: median(seen[index].ms),
    }));
    rows[1].target = TARGET_MS;
    return { tools, bytes, rows };
  } finally {
    for (const { child } of subjects) await stop(child);
    pinned.release();
  }
}

async function open(name, args, cwd, tools) {
  const began = performance.now();
  const child = start(args, cwd);
  const client = new RawClient(child);
  await within(60_000, `starting ${name}`, client.handshake());
  const first = performance.now() - began;
  await complete(client, tools);
  return { name, child, client, first };
}
