import { RawClient } from './lib/client.mjs';
import { CHILD, project, RELAY } from './lib/project.mjs';
import { start, stop, within } from './lib/processes.mjs';
import { median } from './lib/stats.mjs';

/** As a multiple of `node -e 0`, for 200 configured servers. Node 20 cannot cache compiled code. */
const TARGET = process.versions.node.startsWith('20.') ? 3.2 : 2.2;

/**
 * How long until a host has its list of tools: spawn, response to `initialize`, response to `tools/list`, in
 * milliseconds of wall time. In every round, also `node -e 0` from spawn to exit, which is what Node itself takes. As
 * always except on the first day, the program has been used before: Node 22.8 and later cache compiled code when it
 * exits.
 */
export async function measureStartup({ entry, rounds }) {
  const subjects = [
    { name: 'node -e 0 (spawn to exit)', run: bareNode },
    { name: 'server, no gateway', run: () => firstList([CHILD]) },
    { name: 'bare relay', run: () => firstList([RELAY, process.execPath, CHILD]) },
  ];
  for (const as of ['config', 'discovered']) {
    for (const servers of [1, 10, 50, 200]) {
      const cwd = project(servers, as);
      subjects.push({
        name: `switchboard, ${servers} ${as === 'config' ? 'in the configuration' : 'discovered'}`,
        run: () => firstList([entry], cwd, servers),
        target: as === 'config' && servers === 200 ? TARGET : undefined,
      });
    }
  }
  await useOnce(entry);
  const times = subjects.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, { run }] of subjects.entries()) {
      const took = await run();
      // The first round only warms the disk cache.
      if (round >= 0) times[index].push(took);
    }
  }
  const floor = median(times[0]);
  return subjects.map(({ name, target }, index) => {
    const ms = median(times[index]);
    return { name, ms, fastest: Math.min(...times[index]), ratio: ms / floor, target };
  });
}

async function useOnce(entry) {
  const child = start([entry], project(1));
  await within(30_000, `starting ${entry}`, new RawClient(child).handshake());
  await stop(child);
}

async function bareNode() {
  const began = performance.now();
  const child = start(['-e', '0']);
  await within(30_000, 'node -e 0', child.exited);
  return performance.now() - began;
}

async function firstList(args, cwd, servers) {
  const began = performance.now();
  const child = start(args, cwd);
  const { result } = await within(30_000, `starting ${args[0]}`, new RawClient(child).handshake());
  const took = performance.now() - began;
  if (servers !== undefined && result.tools.length !== servers) {
    throw new Error(`${result.tools.length} suites are listed instead of ${servers}. ${child.said}`);
  }
  await stop(child);
  return took;
}
