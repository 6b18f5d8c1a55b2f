/**
 * Calls that wait for clients that are gone. One set of clients, as of a host over stdin and stdout, uses sixteen servers of
 * the older era, for each of which at most 64 questions may be open.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { connectTo, IDENTITY } from '../../src/doors/modern/modern.cases.ts';
import { ModernEndpoint } from '../../src/doors/modern/endpoint.ts';
import { flat } from '../../src/exposure/index.ts';
import { Gateway, type CatalogEntry } from '../../src/gateway/index.ts';
import { createChildProcesses } from '../../src/process/index.ts';
import { CATALOG_KINDS } from '../../src/protocol/index.ts';
import { Deadlines } from '../../src/shared/deadline.ts';
import { silentLogger } from '../../src/shared/log.ts';
import { ServerSource } from '../../src/upstream/index.ts';
import { testUpstreamContext } from '../helpers/upstream-context.ts';
import { nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CALLS = 1000;
const SERVERS = 16;
/** The last is suspended within a few seconds; so long after that all must be gone. */
const AGE_MS = 15_000;
const CYCLES = 3;

function open(): { gateway: Gateway; endpoint: ModernEndpoint } {
  const family = createChildProcesses({ log: silentLogger });
  const deadlines = new Deadlines();
  const entry = (name: string): CatalogEntry => {
    const source = new ServerSource(
      {
        name,
        target: {
          kind: 'process',
          ...nodeServer('asking', `--name=${name}`),
          cwd: ROOT,
          env: () => process.env as Record<string, string>,
          shown: { command: 'node', cwd: '.' },
          framing: 'newline',
        },
        timeouts: { childSpawnMs: 60_000, rpcMs: 60_000, callMaxMs: 600_000, idleMs: 'never' },
        limits: { messageBytes: 1 << 24, callsInFlight: 100, callsQueued: 1000 },
      },
      testUpstreamContext(family, {
        identity: () => ({
          clientInfo: { name: 'test', version: '1' },
          capabilities: { elicitation: { form: {} } },
        }),
      }),
      deadlines,
    );
    return {
      source,
      rules: { allows: () => true, overrides: new Map() },
      exposure: flat('prefixed'),
      offers: new Set(CATALOG_KINDS),
      naming: 'prefixed',
    };
  };
  const gateway = new Gateway({ entries: Array.from({ length: SERVERS }, (_, n) => entry(`s${n}`)) });
  const endpoint = new ModernEndpoint({
    gateway,
    identity: IDENTITY,
    log: silentLogger,
    singleUser: true,
    suspended: { ageMs: AGE_MS },
  });
  onTestFinished(async () => {
    endpoint.close();
    await gateway.close();
    await family.stopAll({ term: 0, kill: 500 });
  });
  return { gateway, endpoint };
}

test('1,000 calls wait for clients that vanish: all are given up in time, and nothing of them is left', async () => {
  const { endpoint } = open();
  // The connections are one user, whose requests in flight have different ids.
  let id = 0;
  const ask = async (name: string, args: object): Promise<any> => {
    const connection = connectTo(endpoint);
    const { result } = await connection.ask(++id, 'tools/call', { name, arguments: args });
    connection.vanish();
    return result;
  };
  const read = async (server: string, tool: string): Promise<any> =>
    JSON.parse((await ask(`${server}__${tool}`, {})).content[0].text);
  const names = Array.from({ length: SERVERS }, (_, n) => `s${n}`);
  await until(
    async () => {
      const connection = connectTo(endpoint);
      const { result } = await connection.ask(++id, 'tools/list');
      connection.vanish();
      return names.every((name) => result.tools.some((tool: any) => tool.name === `${name}__ask_form`));
    },
    { deadline: 60_000, what: 'the tools of all servers' },
  );

  const heaps: number[] = [];
  for (let cycle = 1; cycle <= CYCLES; cycle++) {
    const states = new Set<string>();
    // Side by side over the servers, one after the other at each: a question is for the youngest call of its server.
    await Promise.all(
      names.map(async (name, at) => {
        const share = Math.floor(CALLS / SERVERS) + (at < CALLS % SERVERS ? 1 : 0);
        for (let n = 0; n < share; n++) {
          const result = await ask(`${name}__ask_form`, { tag: `${cycle}-${n}` });
          expect(result.resultType).toBe('input_required');
          states.add(result.requestState);
        }
      }),
    );
    expect(states.size).toBe(CALLS);
    expect(endpoint.suspended.size).toBe(CALLS);

    // There is no room for one more: its server is told that nobody answers, and it goes on without.
    const asked = performance.now();
    const refused = await ask('s0__ask_form', { tag: 'one too many' });
    expect(performance.now() - asked).toBeLessThan(AGE_MS / 2);
    expect(JSON.parse(refused.content[0].text)).toHaveProperty('error');

    const since = performance.now();
    await until(() => endpoint.suspended.size === 0, {
      deadline: AGE_MS + 20_000,
      what: 'all to be given up',
    });
    expect(performance.now() - since).toBeLessThan(AGE_MS + 10_000);
    let cancelled = 0;
    await until(
      async () => {
        const all = await Promise.all(names.map((name) => read(name, 'cancellations')));
        cancelled = all.flat().filter(({ known }: any) => known).length;
        return cancelled === cycle * CALLS;
      },
      { what: 'every server to hear of it', seen: () => String(cancelled) },
    );
    const [first] = states;
    const connection = connectTo(endpoint);
    const { error } = await connection.ask(++id, 'tools/call', {
      name: 's0__ask_form',
      arguments: { tag: `${cycle}-0` },
      requestState: first,
    });
    connection.vanish();
    expect(error.code).toBe(-32602);
    heaps.push(heapInMegabytes());
  }
  expect(heaps.at(-1)! - heaps[0]!, heaps.join(' ')).toBeLessThan(8);
});

/** What is in use after a collection. */
function heapInMegabytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
