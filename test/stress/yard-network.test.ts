/** The built `switchyard` under load: many commands that want ports at once, and large streams through its daemons. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { request as ask, type IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenersByProc } from '../helpers/port-listeners.ts';
import { ROOT } from '../helpers/temp-project.ts';
import { createShop, type Shop } from '../helpers/yard-shop.ts';
import { visit, type Door } from '../helpers/yard-traffic.ts';
import { SWITCHYARD } from '../helpers/yard.ts';

/** How often, for a shorter run by hand. */
const ROUNDS = Number(process.env.YARD_ROUNDS ?? 50);
const TEN = Array.from({ length: 10 }, (_, n) => n);

/** A copy, because another build may run during this long test. Inside the project, so that its imports resolve. */
function ownProgram(): string {
  const folder = join(ROOT, 'node_modules/.cache', `yard-network-${process.pid}`);
  cpSync(dirname(SWITCHYARD), folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, basename(SWITCHYARD));
}

interface Started {
  readonly branch: string;
  readonly service: string;
  readonly port: number;
}

/** Every branch from a process of its own, all at once. */
async function upAll(shop: Shop, branches: readonly string[]): Promise<Started[]> {
  const ups = await Promise.all(branches.map((branch) => shop.run(['up', branch, '--json'])));
  return ups.flatMap(({ code, stdout, stderr, json }) => {
    if (code !== 0) throw new Error(`up failed: ${stdout}${stderr}`);
    return json.outcomes.map((outcome: { service: string; port: number }) => ({
      branch: json.branch,
      service: outcome.service,
      port: outcome.port,
    }));
  });
}

test(
  `10 branches of 10 services from 10 concurrent processes, ${ROUNDS} times: no port twice`,
  { timeout: 4 * 3_600_000 },
  async () => {
    const branches = TEN.map((n) => `branch-${n}`);
    const shop = await createShop({
      program: ownProgram(),
      services: Object.fromEntries(TEN.map((n) => [`service-${n}`, 'tiny'])),
      // Not many more than there are services, so that most choices are contested.
      ports: [26_000, 26_149],
      branches,
    });
    const times: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const began = performance.now();
      const started = await upAll(shop, branches);
      times.push(performance.now() - began);
      expect(started).toHaveLength(100);
      expect(new Set(started.map(({ port }) => port)).size).toBe(100);
      for (const { branch, service, port } of started) {
        const { text } = await visit({ port, host: 'localhost' }, '/');
        expect(text).toBe(`${service} of ${branch}`);
      }
      await shop.ask('down');
      // So that ten commands at once want a proxy as well.
      if (round % 2 === 0) await shop.ask('proxy', 'stop');
      if (round % 10 === 0) console.log(`${round} rounds done`);
    }
    times.sort((a, b) => a - b);
    const [median, slowest] = [times[Math.floor(times.length / 2)]!, times.at(-1)!];
    console.log(
      `${ROUNDS} rounds of 100 services; up: median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms`,
    );
  },
);

const GIGABYTE = 1024;

function expectedSum(): string {
  const hash = createHash('sha1');
  for (let n = 0; n < GIGABYTE; n++) {
    hash.update(Buffer.alloc(1 << 20, createHash('sha256').update(String(n)).digest()));
  }
  return `${GIGABYTE * (1 << 20)} ${hash.digest('hex')}`;
}

async function sumOf({ port, host }: Door): Promise<string> {
  const request = ask({
    host: '127.0.0.1',
    port,
    headers: { host },
    path: `/bytes?${GIGABYTE}`,
    agent: false,
  }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  const hash = createHash('sha1');
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    hash.update(chunk);
  }
  return `${size} ${hash.digest('hex')}`;
}

function megabytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) / 1024;
}

test('a gigabyte through a name and through a canonical port: complete, in constant memory', async () => {
  const shop = await createShop({ program: ownProgram(), services: { web: 'web' }, ports: [26_200, 26_299] });
  await shop.ask('up', '--checkout');
  const expected = expectedSum();
  for (const [kind, door] of [
    ['proxy', shop.named('web')],
    ['checkout', shop.usual('web')],
  ] as const) {
    const [pid] = listenersByProc(door.port);
    const before = megabytes(pid!, 'VmRSS');
    const began = performance.now();
    expect(await sumOf(door)).toBe(expected);
    const seconds = (performance.now() - began) / 1000;
    const peak = megabytes(pid!, 'VmHWM');
    console.log(
      `${kind}: 1 GB in ${seconds.toFixed(1)} s, ${before.toFixed(0)} MB before, ${peak.toFixed(0)} MB at most`,
    );
    // What Node itself takes is about 50; a daemon that kept what it relays would take more than 1000.
    expect(peak).toBeLessThan(250);
  }
});
