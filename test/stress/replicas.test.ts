/**
 * Three gateways that share a store behind a load balancer, while they are killed, restarted, and lose the store:
 * `REPLICA_CLIENTS=200` for more clients. `bench/replicas.mjs` measures the same, and how long it takes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { NO_HAPROXY, NO_REDIS } from '../helpers/store-server.ts';
import { ROOT } from '../helpers/temp-project.ts';

const MISSING = NO_REDIS ?? NO_HAPROXY;
const CLIENTS = process.env.REPLICA_CLIENTS ?? '40';

interface Results {
  readonly faults: readonly {
    readonly what: string;
    readonly slowestMs: number | null;
    readonly ok: number;
  }[];
  readonly counts: Readonly<Record<'ok' | 'failed' | 'lost' | 'crossed' | 'doubled' | 'ranTwice', number>>;
  readonly left: { readonly processes: number; readonly keys: readonly string[] };
}

async function run(): Promise<{ code: number; results: Results }> {
  const args = ['--clients', CLIENTS, '--only', 'faults', '--json'];
  const child = spawn(process.execPath, [join(ROOT, 'bench/replicas.mjs'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, results: JSON.parse(stdout) as Results };
}

describe.skipIf(MISSING !== undefined)(`replicas${MISSING ? ` (${MISSING})` : ''}`, () => {
  test('kills, a rolling restart and a lost store: no answer is crossed, doubled or missing, and every client works again', async () => {
    const { code, results } = await run();
    const { counts, faults, left } = results;
    expect(counts).toMatchObject({ lost: 0, crossed: 0, doubled: 0, ranTwice: 0 });
    expect(counts.ok).toBeGreaterThan(1000);
    // JSON has no Infinity: a client that did not work again would be a null here.
    expect(faults.filter(({ slowestMs }) => slowestMs === null)).toEqual([]);
    expect(faults.length).toBe(8);
    expect(left.processes).toBe(0);
    expect(left.keys.filter((key) => key.includes(':replica:'))).toEqual([]);
    expect(code).toBe(0);
  });
});
